//! When the newest token of each label says that it was issued. A clock that was ahead is known to have been only later, so
//! a revocation looks here too.

use std::collections::BTreeMap;

use clientmcp_protocol::{
    control::{Issued as Entry, Millis},
    ids::{ClientId, Label, Role},
    limits::ISSUED,
};

/// A label of an application and role; none for the unlabelled tokens.
type Key = (ClientId, Role, Option<Label>);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Issued(BTreeMap<Key, Millis>);

impl Issued {
    /// What was remembered.
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let mut issued = Self::default();
        for Entry { application, role, label, newest } in entries {
            issued.note(application, role, label, newest);
        }
        issued
    }

    /// There is a token of this label that says so; whether that is news.
    pub(super) fn note(&mut self, application: ClientId, role: Role, label: Option<Label>, at: Millis) -> bool {
        if at <= self.newest(&application, role, label.as_ref()) {
            return false;
        }
        self.0.insert((application, role, label), at);
        if self.0.len() > ISSUED
            && let Some(oldest) = self.0.iter().min_by_key(|(_, newest)| **newest).map(|(key, _)| key.clone())
        {
            self.0.remove(&oldest);
        }
        true
    }

    /// No token of this label that is known of says that it was issued later. Of one that had no place any more it is known
    /// that every other was newer.
    pub(super) fn newest(&self, application: &ClientId, role: Role, label: Option<&Label>) -> Millis {
        let known = self.0.get(&(application.clone(), role, label.cloned())).copied();
        let full = self.0.len() >= ISSUED;
        known.or_else(|| self.0.values().min().copied().filter(|_| full)).unwrap_or_default()
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        let entry = |((application, role, label), newest): (&Key, &Millis)| Entry {
            application: application.clone(),
            role: *role,
            label: label.clone(),
            newest: *newest,
        };
        self.0.iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(issued: &mut Issued, label: &str, at: u64) -> bool {
        issued.note(ClientId::new("a").unwrap(), Role::Agent, Some(Label::new(label).unwrap()), Millis(at))
    }

    fn newest(issued: &Issued, label: &str) -> u64 {
        issued.newest(&ClientId::new("a").unwrap(), Role::Agent, Some(&Label::new(label).unwrap())).0
    }

    // holds: revoke-clock-ahead
    #[test]
    fn the_newest_of_each_label_is_known_and_of_those_without_a_place_a_bound() {
        let mut issued = Issued::default();
        assert_eq!(newest(&issued, "x"), 0);
        assert!(note(&mut issued, "x", 7) && !note(&mut issued, "x", 7) && !note(&mut issued, "x", 6));
        assert_eq!((newest(&issued, "x"), newest(&issued, "y")), (7, 0));
        for number in 0..2 * ISSUED {
            note(&mut issued, &format!("{number}"), 10 + number as u64);
        }
        assert_eq!(issued.entries().len(), ISSUED);
        for number in 0..2 * ISSUED {
            assert!(newest(&issued, &format!("{number}")) >= 10 + number as u64);
        }
        assert!(newest(&issued, "x") >= 7);
        assert_eq!(newest(&issued, &format!("{}", 2 * ISSUED - 1)), 9 + 2 * ISSUED as u64);
        let again = Issued::new(issued.entries());
        assert_eq!(again.entries(), issued.entries());
    }
}
