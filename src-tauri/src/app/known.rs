//! Who has connected and which tokens were made, with last uses and ends: what the person is shown of them later.
//!
//! Transitions without clock or file.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clientmcp_protocol::{
    control::{ApplicationHead, Count, Millis, Which},
    ids::{ClientId, Label, Role},
};
use clientmcp_settings::{KnownApplication, KnownLabel};

use super::until::DAY;
use crate::wire;

/// Days before its end that a token is spoken of.
const WARN: u64 = 7 * DAY;

/// What a snapshot showed of an application that is news.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// It connected for the first time: its origin.
    First(ClientId, String),
    /// A newer connection took its place: its origin.
    Replaced(ClientId, String),
}

/// Applications and labels.
#[derive(Debug, Default)]
pub(super) struct KnownOnes {
    applications: BTreeMap<ClientId, KnownApplication>,
    labels: Vec<KnownLabel>,
    /// Those connected now.
    connected: HashMap<ClientId, Connected>,
    /// Ends of tokens that were spoken of.
    warned: BTreeSet<(ClientId, Option<Label>, Millis)>,
}

/// A connection, and the label of the token that it was made with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Connected {
    connection: Count,
    label: Option<Label>,
}

impl KnownOnes {
    /// Those that were written down.
    pub(super) fn new(applications: Vec<KnownApplication>, labels: Vec<KnownLabel>) -> Self {
        let applications = applications.into_iter().map(|known| (known.application.clone(), known)).collect();
        Self { applications, labels, ..Self::default() }
    }

    /// For writing them down.
    pub(super) fn applications(&self) -> Vec<KnownApplication> {
        self.applications.values().cloned().collect()
    }

    /// For writing them down.
    pub(super) fn labels(&self) -> Vec<KnownLabel> {
        self.labels.clone()
    }

    /// These are connected now. Gives what is news.
    pub(super) fn see(&mut self, heads: &[ApplicationHead], now: Millis) -> Vec<News> {
        let mut news = Vec::new();
        let before = std::mem::take(&mut self.connected);
        for head in heads {
            match before.get(&head.id) {
                Some(one) if one.connection == head.connection => {}
                Some(_) => news.push(News::Replaced(head.id.clone(), head.origin.clone())),
                None if !self.applications.contains_key(&head.id) => {
                    news.push(News::First(head.id.clone(), head.origin.clone()));
                }
                None => {}
            }
            let one = Connected { connection: head.connection, label: head.label.clone() };
            self.seen(&head.id, one.label.as_ref(), now);
            self.connected.insert(head.id.clone(), one);
        }
        // Who is gone, and whose place was taken, was there until now.
        for (application, one) in &before {
            if self.connected.get(application) != Some(one) {
                self.seen(application, one.label.as_ref(), now);
            }
        }
        news
    }

    /// The bridge is gone, and all connections with it. Whether there were any.
    pub(super) fn all_gone(&mut self, now: Millis) -> bool {
        let gone = std::mem::take(&mut self.connected);
        for (application, one) in &gone {
            self.seen(application, one.label.as_ref(), now);
        }
        !gone.is_empty()
    }

    fn seen(&mut self, application: &ClientId, label: Option<&Label>, now: Millis) {
        let known = KnownApplication { application: application.clone(), first_seen: now, last_seen: now };
        self.applications.entry(application.clone()).or_insert(known).last_seen = now;
        self.used(application, Role::Client, label, now);
    }

    /// An agent called. Whether that is worth writing down.
    pub(super) fn called(&mut self, application: &ClientId, agent: Option<&Label>, at: Millis) -> bool {
        self.used(application, Role::Agent, agent, at)
    }

    fn used(&mut self, application: &ClientId, role: Role, label: Option<&Label>, at: Millis) -> bool {
        let used = self
            .labels
            .iter_mut()
            .find(|known| known.role == role && known.application == *application && known.label.as_ref() == label);
        let older = used.filter(|known| known.last_use.is_none_or(|last| last < at));
        older.map(|known| known.last_use = Some(at)).is_some()
    }

    /// A token was made, which ends then.
    pub(super) fn minted(&mut self, application: &ClientId, role: Role, label: Option<Label>, end: Option<Millis>) {
        // As the bridge calls it from now on.
        let label = label.map(|label| label.harmless());
        let same =
            |known: &&mut KnownLabel| known.application == *application && known.role == role && known.label == label;
        if let Some(known) = self.labels.iter_mut().find(same) {
            // `None` is never, and later than every end.
            known.end = known.end.and_then(|before| end.map(|end| end.max(before)));
        } else {
            let application = application.clone();
            self.labels.push(KnownLabel { application, role, label, last_use: None, end });
        }
    }

    /// Tokens were revoked, and what is known of them is no more.
    pub(super) fn revoked(&mut self, application: &ClientId, role: Role, which: &Which) {
        self.labels.retain(|known| {
            let meant = match which {
                Which::All => true,
                Which::Label(label) => known.label == *label,
            };
            known.application != *application || known.role != role || !meant
        });
    }

    /// All tokens ended.
    pub(super) fn all_revoked(&mut self) {
        self.labels.clear();
    }

    /// Tokens that end soon and were not spoken of yet.
    pub(super) fn ending(&mut self, now: Millis) -> Vec<(ClientId, Option<Label>)> {
        let soon = |end: &Millis| *end > now && end.0.saturating_sub(now.0) <= WARN;
        let mut ending = Vec::new();
        for known in &self.labels {
            let Some(end) = known.end.filter(soon) else { continue };
            if self.warned.insert((known.application.clone(), known.label.clone(), end)) {
                ending.push((known.application.clone(), known.label.clone()));
            }
        }
        ending
    }

    /// How they are shown: by client ID, those that never connected too.
    pub(super) fn shown(&self) -> Vec<wire::Known> {
        let mut shown: BTreeMap<&ClientId, wire::Known> = BTreeMap::new();
        for known in self.applications.values() {
            shown.insert(&known.application, listed(&known.application, Some(known.last_seen)));
        }
        for known in &self.labels {
            let of = shown.entry(&known.application).or_insert_with(|| listed(&known.application, None));
            let wire_label = wire::KnownLabel {
                role: known.role,
                label: known.label.clone(),
                last_use: known.last_use,
                end: known.end,
            };
            of.labels.push(wire_label);
        }
        shown.into_values().collect()
    }
}

fn listed(application: &ClientId, last_seen: Option<Millis>) -> wire::Known {
    wire::Known { application: application.clone(), last_seen, labels: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> ClientId {
        ClientId::new(text).unwrap()
    }

    fn label(text: &str) -> Option<Label> {
        Label::new(text).ok()
    }

    pub(crate) fn head(application: &str, connection: u64) -> ApplicationHead {
        ApplicationHead {
            id: id(application),
            connection: Count(connection),
            label: None,
            origin: "https://a.example".to_owned(),
            since: Millis(1),
            registered: true,
            tools: Count(1),
            tools_bytes: Count(1),
            instructions_bytes: Count(0),
            declaration: None,
            in_flight: Count(0),
            unresponsive: false,
        }
    }

    // holds: desktop-notices
    #[test]
    fn a_first_connection_and_a_replaced_one_are_news() {
        let mut known = KnownOnes::default();
        let origin = || "https://a.example".to_owned();
        assert_eq!(known.see(&[head("a", 1)], Millis(5)), [News::First(id("a"), origin())]);
        assert_eq!(known.see(&[head("a", 1)], Millis(6)), []);
        assert_eq!(known.see(&[head("a", 2)], Millis(7)), [News::Replaced(id("a"), origin())]);
        assert_eq!(known.see(&[], Millis(8)), []);
        assert_eq!(known.see(&[head("a", 3)], Millis(9)), [], "it was gone in between");
        known.all_gone(Millis(10));
        let kept = &known.applications()[0];
        assert_eq!((kept.first_seen, kept.last_seen), (Millis(5), Millis(10)));
    }

    // holds: desktop-last-use
    #[test]
    fn a_client_label_is_used_as_long_as_somebody_is_connected_with_it() {
        let mut known = KnownOnes::default();
        for name in ["Old", "New", "Other"] {
            known.minted(&id("a"), Role::Client, label(name), None);
        }
        known.minted(&id("a"), Role::Agent, label("Old"), None);
        let with = |name, connection| ApplicationHead { label: label(name), ..head("a", connection) };
        let uses = |known: &KnownOnes| -> Vec<_> {
            known.labels().iter().map(|known| known.last_use.map(|at| at.0)).collect()
        };
        known.see(&[with("Old", 1)], Millis(5));
        assert_eq!(uses(&known), [Some(5), None, None, None]);
        known.see(&[with("Old", 1)], Millis(6));
        assert_eq!(uses(&known), [Some(6), None, None, None]);
        known.see(&[with("New", 2)], Millis(7));
        assert_eq!(uses(&known), [Some(7), Some(7), None, None]);
        known.see(&[], Millis(8));
        assert_eq!(uses(&known), [Some(7), Some(8), None, None]);
        assert!(!known.all_gone(Millis(9)), "nobody was there");
        known.see(&[with("New", 3)], Millis(10));
        assert!(known.all_gone(Millis(11)));
        assert_eq!(uses(&known), [Some(7), Some(11), None, None]);
    }

    // holds: desktop-token-ends
    #[test]
    fn a_token_is_spoken_of_once_within_its_last_7_days() {
        let mut known = KnownOnes::default();
        let now = Millis(1_000 * DAY);
        known.minted(&id("a"), Role::Agent, label("Editor"), Some(Millis(now.0 + WARN)));
        known.minted(&id("a"), Role::Agent, label("Later"), Some(Millis(now.0 + WARN + 1)));
        known.minted(&id("a"), Role::Agent, label("Gone"), Some(now));
        known.minted(&id("a"), Role::Agent, label("Never"), None);
        assert_eq!(known.ending(now), [(id("a"), label("Editor"))]);
        assert_eq!(known.ending(now), []);
        assert_eq!(known.ending(Millis(now.0 + 1)), [(id("a"), label("Later"))]);
    }

    #[test]
    fn of_two_tokens_with_a_label_the_later_end_counts_and_never_is_the_latest() {
        let mut known = KnownOnes::default();
        for (end, expected) in
            [(Some(5), Some(5)), (Some(3), Some(5)), (Some(9), Some(9)), (None, None), (Some(9), None)]
        {
            known.minted(&id("a"), Role::Client, None, end.map(Millis));
            assert_eq!(known.labels()[0].end, expected.map(Millis));
        }
        known.minted(&id("b"), Role::Client, None, None);
        known.revoked(&id("a"), Role::Client, &Which::Label(None));
        assert_eq!(
            known.shown(),
            [wire::Known {
                application: id("b"),
                last_seen: None,
                labels: vec![wire::KnownLabel { role: Role::Client, label: None, last_use: None, end: None }],
            }]
        );
    }
}
