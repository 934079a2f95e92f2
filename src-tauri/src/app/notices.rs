//! What happened that the person should know. The newest first, and never many about one thing.

use clientmcp_protocol::{
    control::{Count, Millis},
    ids::ClientId,
};

use crate::wire::{Notice, NoticeKind};

/// Notices that are kept.
const MOST: usize = 50;

/// The notices.
#[derive(Debug, Default)]
pub(super) struct Notices {
    last: u64,
    kept: Vec<Notice>,
}

impl Notices {
    /// Something happened.
    pub(super) fn add(&mut self, at: Millis, kind: NoticeKind, application: Option<ClientId>, detail: Option<String>) {
        // The same once more is no news: it moves to the front.
        let same = |notice: &Notice| {
            notice.kind == kind
                && notice.application == application
                && (kind == NoticeKind::OriginRefused || notice.detail == detail)
        };
        self.kept.retain(|notice| !same(notice));
        self.last += 1;
        self.kept.insert(0, Notice { number: Count(self.last), at, kind, application, detail });
        self.kept.truncate(MOST);
    }

    /// The person has read one.
    pub(super) fn dismiss(&mut self, number: Count) {
        self.kept.retain(|notice| notice.number != number);
    }

    /// What no longer holds.
    pub(super) fn withdraw(&mut self, kind: NoticeKind) {
        self.kept.retain(|notice| notice.kind != kind);
    }

    /// All of them are forgotten: they name applications and tokens that are, too.
    pub(super) fn clear(&mut self) {
        self.kept.clear();
    }

    /// All of them, the newest first.
    pub(super) fn all(&self) -> Vec<Notice> {
        self.kept.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // holds: desktop-notices
    #[test]
    fn fifty_are_kept_and_the_same_twice_is_one() {
        let mut notices = Notices::default();
        for number in 0..60 {
            notices.add(Millis(number), NoticeKind::Trouble, None, Some(number.to_string()));
        }
        notices.add(Millis(60), NoticeKind::Trouble, None, Some("59".to_owned()));
        notices.add(Millis(61), NoticeKind::OriginRefused, None, Some("1".to_owned()));
        notices.add(Millis(62), NoticeKind::OriginRefused, None, Some("2".to_owned()));
        let all = notices.all();
        let details: Vec<_> = all.iter().take(3).filter_map(|notice| notice.detail.as_deref()).collect();
        assert_eq!((all.len(), details), (50, vec!["2", "59", "58"]));
        notices.dismiss(all[0].number);
        assert_eq!(notices.all()[..], all[1..]);
    }
}
