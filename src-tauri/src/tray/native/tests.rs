use super::*;
use crate::wire::Page;

fn pick(text: &str, action: Action) -> Entry {
    Entry::Pick { text: text.into(), action, enabled: true, checked: None }
}

fn copies(applications: &[&str]) -> Entry {
    let pick = |id: &&str| pick(id, Action::CopyAgentToken(id.parse().unwrap()));
    Entry::Menu { text: "Copy".into(), entries: applications.iter().map(pick).collect() }
}

// holds: desktop-tray-in-place
#[test]
fn a_menu_is_changed_in_place_only_where_each_entry_goes_on_doing_the_same() {
    let menu =
        |line: &str, applications: &[&str]| vec![Entry::Line(line.into()), Entry::Separator, copies(applications)];
    assert!(alike(&menu("idle", &["a", "b"]), &menu("active", &["a", "b"])));
    for (applications, why) in [(&["b", "a"] as &[_], "moved"), (&["a"], "fewer"), (&["a", "b", "c"], "more")] {
        assert!(!alike(&menu("idle", &["a", "b"]), &menu("idle", applications)), "{why}");
    }
    assert!(!alike(&[pick("Pause", Action::Pause)], &[pick("Pause", Action::Resume)]));
    let ticked = Entry::Pick { text: "x".into(), action: Action::Pause, enabled: true, checked: Some(false) };
    assert!(!alike(&[ticked], &[pick("x", Action::Pause)]));
}

// holds: desktop-tray-in-place
#[test]
fn an_entry_is_known_by_what_it_does() {
    let (wallet, notes) = ("wallet".parse().unwrap(), "notes".parse().unwrap());
    let actions = [
        Action::Open(Page::Calls),
        Action::Open(Page::Approvals),
        Action::CopyAgentToken(wallet),
        Action::CopyAgentToken(notes),
        Action::CopyClientToken("wallet".parse().unwrap()),
        Action::StartAtLogin(true),
        Action::StartAtLogin(false),
    ];
    let ids: std::collections::HashSet<_> = actions.iter().map(action_id).collect();
    assert_eq!(ids.len(), actions.len());
}

// holds: desktop-tray-in-place
#[test]
fn entries_are_counted_each_before_those_of_its_own_menu() {
    let menu = [copies(&["a", "b"]), Entry::Separator];
    let texts: Vec<_> = flat(&menu)
        .into_iter()
        .map(|entry| match entry {
            Entry::Menu { text, .. } | Entry::Pick { text, .. } | Entry::Line(text) => text.as_str(),
            Entry::Separator => "-",
        })
        .collect();
    assert_eq!(texts, ["Copy", "a", "b", "-"]);
}
