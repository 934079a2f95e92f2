//! Words that mix alphabets: letters of different ones look alike, so a word of several may be a copy of another word.

use unicode_properties::{GeneralCategoryGroup as Group, UnicodeGeneralCategory as _};
use unicode_script::{Script, ScriptExtension, UnicodeScript as _};

/// What is written with several scripts at once.
const TOGETHER: [&[Script]; 3] = [
    &[Script::Latin, Script::Han, Script::Hiragana, Script::Katakana],
    &[Script::Latin, Script::Han, Script::Bopomofo],
    &[Script::Latin, Script::Han, Script::Hangul],
];

/// Scripts that are named of one word.
const MOST: usize = 3;

/// The scripts of the first word that mixes them, by their names and in their order there; none when every word keeps to
/// one alphabet.
///
/// The rule is the "highly restrictive" level of UTS 39 for each word: letters of one script, or those that Japanese, Korean
/// and Chinese are written with together, Latin among them. A word of another alphabet beside it is none of this, and a
/// word all of look-alikes is not found. It decides nothing.
pub fn mixed(text: &str) -> Vec<String> {
    if text.is_ascii() {
        return Vec::new();
    }
    let word = text.split(|letter: char| !is_in_word(letter)).map(letters).find(|word| !is_one_alphabet(word));
    word.map(|word| named(&word)).unwrap_or_default()
}

fn is_in_word(letter: char) -> bool {
    matches!(letter, '-' | '_' | '\'' | '\u{2019}')
        || matches!(letter.general_category_group(), Group::Letter | Group::Mark | Group::Number)
}

/// The scripts of each letter, but for those that belong to all or to none that is known.
fn letters(word: &str) -> Vec<ScriptExtension> {
    let scripts = word.chars().map(|letter| letter.script_extension());
    scripts.filter(|scripts| !scripts.is_common() && !scripts.is_inherited() && !scripts.is_empty()).collect()
}

fn is_one_alphabet(letters: &[ScriptExtension]) -> bool {
    let Some(common) = letters.iter().copied().reduce(ScriptExtension::intersection) else { return true };
    let fits = |together: &&[Script]| {
        letters.iter().all(|scripts| together.iter().any(|script| scripts.contains_script(*script)))
    };
    !common.is_empty() || TOGETHER.iter().any(fits)
}

/// A letter of several scripts is named only where no other letter names one of them.
fn named(letters: &[ScriptExtension]) -> Vec<String> {
    let names = |scripts: ScriptExtension| {
        let mut names: Vec<_> = scripts.iter().map(Script::full_name).collect();
        names.sort_unstable();
        names
    };
    let single = letters.iter().filter(|scripts| scripts.len() == 1);
    let mut sure: Vec<_> = single.flat_map(|scripts| names(*scripts)).collect();
    let mut all: Vec<&str> = Vec::new();
    for scripts in letters {
        let names = names(*scripts);
        let known = names.iter().find(|name| sure.contains(name)).or_else(|| names.first());
        let Some(name) = known.copied().filter(|name| !all.contains(name)) else { continue };
        sure.push(name);
        all.push(name);
    }
    all.into_iter().take(MOST).map(|name| name.replace('_', " ")).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde::Deserialize;

    use super::*;

    /// Cases that the user interface's own version is held to as well.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Golden {
        mixed: Vec<Case>,
        /// All that the user interface knows.
        scripts: Vec<String>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Case {
        why: String,
        input: String,
        output: Vec<String>,
    }

    fn golden() -> Golden {
        serde_json::from_str(include_str!("../../fixtures/scripts.json")).unwrap()
    }

    // holds: shown-mixed
    #[test]
    fn words_that_mix_alphabets_are_found_as_the_table_says() {
        for case in golden().mixed {
            assert_eq!(mixed(&case.input), case.output, "{}", case.why);
        }
    }

    // holds: shown-mixed
    #[test]
    fn the_windows_know_the_same_scripts() {
        for name in golden().scripts {
            let script = Script::from_full_name(&name);
            assert!(script.is_some_and(|script| !matches!(script, Script::Common | Script::Inherited)), "{name}");
        }
    }

    // holds: shown-mixed
    #[test]
    fn no_word_of_one_script_is_found_and_every_pair_that_is_not_written_together_is() {
        let mut samples = HashMap::new();
        for letter in ('\u{80}'..='\u{1ffff}').filter(|letter| letter.script_extension().len() == 1) {
            samples.entry(letter.script()).or_insert(letter);
        }
        let known = golden().scripts;
        let scripts: Vec<_> = known.iter().filter_map(|name| Script::from_full_name(name)).collect();
        for script in scripts {
            let Some(&letter) = samples.get(&script) else { continue };
            assert!(mixed(&format!("{letter}{letter}")).is_empty(), "{script:?}");
            if !TOGETHER.iter().any(|together| together.contains(&script)) && is_in_word(letter) {
                assert!(mixed(&format!("\u{e9}{letter}")).contains(&"Latin".to_owned()), "{script:?}");
            }
        }
    }
}
