//! Words that must not stand in the project: how its work was organised, the machine it was made on, loose ends.
//!
//! The forbidden words are written here in pieces, so that this file is no finding of its own.

use super::File;

/// In lower case, as the lines are compared.
const FORBIDDEN: [(&str, &str); 11] = [
    (concat!("design", ".md"), "cite docs/protocol.md, which states our own rules"),
    (concat!("style", ".md"), "say the rule itself"),
    (concat!("desktop-", "facts"), "say the fact itself"),
    (concat!("hosts-and-", "browsers"), "say the fact itself"),
    (concat!("../sha", "red/"), "a stranger has no such folder"),
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("/tmp/", "wt"), "a path of one machine"),
    (concat!("index.cra", "tes.io"), "a registry's host: package managers know it"),
    (concat!("static.cra", "tes.io"), "a registry's host: package managers know it"),
    (concat!("registry.npm", "js."), "a registry's host: package managers know it"),
    (concat!("registry.ya", "rnpkg."), "a registry's host: package managers know it"),
];

const LEFTOVERS: [&str; 4] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];

/// One line for each finding.
pub(super) fn faults(files: &[File]) -> Vec<String> {
    let lines = files.iter().flat_map(|file| file.text.lines().enumerate().map(move |(at, line)| (file, at + 1, line)));
    lines
        .flat_map(|(file, at, line)| findings(line).into_iter().map(move |why| format!("{}:{at}: {why}", file.path)))
        .collect()
}

fn findings(line: &str) -> Vec<String> {
    let lower = line.to_lowercase();
    let words = FORBIDDEN.iter().filter(|(word, _)| lower.contains(word)).map(|(word, why)| format!("{word}: {why}"));
    let issue = names_an_issue(&lower).then(|| "an issue's number: say the reason itself".to_owned());
    let leftover =
        leftover(line).map(|word| format!("{word} without a reason: finish it, or write {word}(why it waits)"));
    words.chain(issue).chain(leftover).collect()
}

fn names_an_issue(lower: &str) -> bool {
    lower.split(concat!("issue", " #")).skip(1).any(|rest| rest.starts_with(|next: char| next.is_ascii_digit()))
}

/// A marker of unfinished work that does not say, in parentheses right behind it, why it waits.
fn leftover(line: &str) -> Option<&'static str> {
    LEFTOVERS.into_iter().find(|word| {
        line.match_indices(word).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + word.len()..]);
            let whole = !before.ends_with(in_word) && !after.starts_with(in_word);
            let reason = after.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(reason, _)| reason.trim());
            whole && reason.is_none_or(str::is_empty)
        })
    })
}

fn in_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(line: &str) -> bool {
        let files = [File { path: "a.md".into(), text: format!("fine\n{line}\n") }];
        let faults = faults(&files);
        assert!(faults.iter().all(|fault| fault.starts_with("a.md:2: ")), "{faults:?}");
        !faults.is_empty()
    }

    #[test]
    fn each_forbidden_word_is_found_in_any_case() {
        for (word, _) in FORBIDDEN {
            assert!(finds(&format!("see `{word}` there")), "{word}");
            assert!(finds(&word.to_uppercase()), "{word}");
        }
    }

    #[test]
    fn an_issue_is_found_by_its_number() {
        assert!(finds(&["see Issue", "#12"].join(" ")));
        assert!(!finds("an issue of its own, # 12"));
    }

    #[test]
    fn unfinished_work_needs_a_reason() {
        for word in LEFTOVERS {
            for loose in [format!("// {word}: later"), word.to_owned(), format!("{word}() x"), format!("{word}(open")] {
                assert!(finds(&loose), "{loose}");
            }
            assert!(!finds(&format!("// {word}(the next hyper has it): use it")));
            assert!(!finds(&format!("A{word} {word}S {}", word.to_lowercase())));
        }
    }

    #[test]
    fn what_cargo_itself_writes_is_allowed() {
        assert!(!finds("source = \"registry+https://github.com/rust-lang/crates.io-index\""));
    }
}
