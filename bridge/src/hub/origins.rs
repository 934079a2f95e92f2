//! From where applications may connect: any origin, or those that are pinned.

use clientmcp_protocol::{
    control::{ClientOrigins, ErrorCode, Reply},
    ids::ClientId,
};

use super::{NO_ORIGIN, desktop::refused, state::State};

impl State {
    /// The origin to be shown; nothing where it may not connect.
    pub(super) fn admit_origin(&self, id: &ClientId, origin: Option<&str>) -> Option<String> {
        if self.settings.borrow().client_origins == ClientOrigins::Any {
            return Some(origin.unwrap_or(NO_ORIGIN).to_owned());
        }
        let origin = origin.filter(|origin| *origin != NO_ORIGIN)?;
        let pinned = self.pins.get(id);
        pinned.is_none_or(|pinned| pinned.iter().any(|pin| pin == origin)).then(|| origin.to_owned())
    }

    /// The first origin that comes in is remembered.
    pub(super) fn pin(&mut self, id: &ClientId, origin: &str) {
        let pinning = self.settings.borrow().client_origins == ClientOrigins::Pinned;
        if pinning && !self.pins.contains_key(id) {
            self.pins.insert(id.clone(), vec![origin.to_owned()]);
            self.remember();
        }
    }

    pub(super) fn add_origin(&mut self, application: ClientId, origin: &str) -> Reply {
        if origin == "null" || origin.is_empty() {
            return refused(ErrorCode::Value, "`null` stands for any page at all and is never allowed");
        }
        let origins = self.pins.entry(application).or_default();
        if !origins.iter().any(|pinned| pinned == origin) {
            origins.push(origin.to_owned());
        }
        self.remember();
        Reply::Done
    }
}
