//! Files that another program changed, and those from before there were seals.

use super::*;

// holds: settings-seal
#[test]
fn a_file_that_another_program_changed_or_wrote_is_set_aside() {
    let (sealed, other) = (String::from_utf8(example_text()).unwrap(), SealKey::of(&"another key ".repeat(3)).unwrap());
    let laxer = EXAMPLE.replacen("\"mode\": \"block\"", "\"mode\": \"ask\"", 1);
    let cases = [
        // Without a seal, and with that of what was there before.
        EXAMPLE.as_bytes().to_vec(),
        laxer.as_bytes().to_vec(),
        sealed.replacen("\"mode\": \"block\"", "\"mode\": \"ask\"", 1).into_bytes(),
        // The same content, written in another way.
        sealed.replacen("27183", " 27183", 1).into_bytes(),
        format!("{sealed}\n").into_bytes(),
        // Sealed with what somebody else has.
        seal::sealed(laxer.trim_end().as_bytes(), &other).unwrap(),
    ];
    for text in cases {
        let folder = Folder::with(&text);
        let sentence = assert_set_aside(&folder, &folder.open(), &text);
        assert!(sentence.contains("another program changed it or put it there"), "{sentence}");
    }
}

// holds: settings-seal
#[test]
fn a_file_from_before_there_were_seals_is_used_while_no_key_was_made() {
    for text in [EXAMPLE.as_bytes(), &example_text()] {
        let folder = Folder::with(text);
        let opened = folder.open_sealed(Sealed::NotYet);
        assert!(opened.trouble.is_none() && opened.reseal && !opened.new_secret);
        assert_eq!(opened.remembered, example());
        opened.file.save(&opened.remembered, &key()).unwrap();
        assert!(!folder.open().reseal);
    }
}

// holds: settings-seal
#[test]
fn an_older_key_is_taken_and_the_newest_is_to_seal_next() {
    let newer = SealKey::of("a newer one, which is long enough as well").unwrap();
    let folder = Folder::with(&example_text());
    let opened = folder.open_sealed(Sealed::With(&[newer.clone(), key()]));
    assert!(opened.trouble.is_none() && opened.reseal);
    opened.file.save(&opened.remembered, &newer).unwrap();
    assert!(folder.open_sealed(Sealed::With(&[newer])).trouble.is_none());
    assert!(folder.open().trouble.is_some());
}
