//! Which tests failed, read from what the programs that ran them printed: for the list at the end of `cargo xtask test`.
//!
//! The output is the tests' own and may be anything, so nothing here fails: what is not understood is a failure without a
//! test's name, with the output's last lines.

use std::fmt;

/// Lines that are shown of one failure; of more, the first ones and the last ones.
const LINES: usize = 20;
const FIRST: usize = 7;

/// Characters that are shown of one line.
const WIDTH: usize = 400;

/// Failures that are shown of one suite.
const LISTED: usize = 40;

/// Who printed the output.
#[derive(Clone, Copy)]
pub(crate) enum Runner {
    /// `cargo test`, and any other cargo command.
    Cargo,
    /// Node's own, with its spec reporter.
    Node,
    Vitest,
}

/// One test that failed, or a whole command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) name: String,
    /// What it said, cut to what a reader looks at.
    pub(crate) lines: Vec<String>,
}

/// The tests that failed, by the output of a command that failed; never none.
pub(crate) fn read(runner: Runner, command: &str, output: &str) -> Vec<Failure> {
    let plain = without_colours(output);
    let lines: Vec<_> = plain.lines().map(|line| line.trim_end_matches('\r')).collect();
    let found = match runner {
        Runner::Cargo => cargo(&lines),
        Runner::Node => node(&lines),
        Runner::Vitest => vitest(&lines),
    };
    if found.is_empty() { vec![Failure::last_of(command.to_owned(), &lines)] } else { found }
}

/// What failed in one suite.
pub(crate) struct List<'a> {
    pub(crate) suite: &'a str,
    pub(crate) failures: &'a [Failure],
}

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Failure { name, lines } in self.failures.iter().take(LISTED) {
            writeln!(f, "\n{}: {name}", self.suite)?;
            for line in lines {
                writeln!(f, "{}", format!("    {line}").trim_end())?;
            }
        }
        let more = self.failures.len().saturating_sub(LISTED);
        if more == 0 { Ok(()) } else { writeln!(f, "\n{}: and {more} more", self.suite) }
    }
}

impl Failure {
    fn new(name: String, lines: &[&str]) -> Self {
        let lines = without_frames(lines);
        let blank = |line: &&str| line.trim().is_empty();
        let from = lines.iter().position(|line| !blank(line)).unwrap_or(lines.len());
        let to = lines.iter().rposition(|line| !blank(line)).map_or(from, |last| last + 1);
        let lines = &lines[from..to];
        let shown = |lines: &[&str]| lines.iter().map(|line| line.chars().take(WIDTH).collect()).collect::<Vec<_>>();
        let lines = if lines.len() > LINES {
            let (left, last) = (lines.len() - LINES + 1, &lines[lines.len() - (LINES - FIRST - 1)..]);
            [shown(&lines[..FIRST]), vec![format!("... {left} more lines ...")], shown(last)].concat()
        } else {
            shown(lines)
        };
        Self { name, lines }
    }

    /// One that is known by the end of an output alone.
    fn last_of(name: String, lines: &[&str]) -> Self {
        let lines = without_frames(lines);
        let end = lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
        Self::new(name, &lines[end.saturating_sub(LINES)..end])
    }
}

/// Of each test binary: the names in its list of failures, and what was printed under each.
fn cargo(lines: &[&str]) -> Vec<Failure> {
    let begins: Vec<_> = (0..lines.len()).filter(|at| binary(lines[*at]).is_some()).chain([lines.len()]).collect();
    let mut failures = Vec::new();
    for range in begins.windows(2) {
        let section = &lines[range[0]..range[1]];
        let Some(name) = binary(section[0]) else { continue };
        let named = |test: &str| format!("{name}: {test}");
        failures.extend(listed(section).map(|test| Failure::new(named(test), printed_by(test, section))));
        let count = |start: &str| section.iter().filter(|line| line.starts_with(start)).count();
        if count("running ") > count("test result: ") {
            failures.push(Failure::last_of(named("ended before its tests did"), section));
        }
    }
    failures
}

/// The program that cargo says it runs now, without the hash in its name.
fn binary(line: &str) -> Option<String> {
    if let Some(documented) = line.strip_prefix("   Doc-tests ") {
        return Some(format!("documentation of {documented}"));
    }
    let (_, path) = line.strip_prefix("     Running ")?.split_once(" (")?;
    let file = path.strip_suffix(')')?.rsplit(['/', '\\']).next()?;
    let stem = file.strip_suffix(".exe").unwrap_or(file);
    Some(stem.rsplit_once('-').map_or(stem, |(name, _)| name).to_owned())
}

/// The names under the second "failures:", which alone has no empty line behind it.
fn listed<'a>(section: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let lists = (0..section.len()).filter(|at| section[*at] == "failures:");
    lists.flat_map(|at| section[at + 1..].iter().map_while(|line| line.strip_prefix("    ")))
}

/// What stands under the test's own heading; where output was not captured, what stands behind its name.
fn printed_by<'a>(test: &str, section: &'a [&'a str]) -> &'a [&'a str] {
    let heading = format!("---- {test} stdout ----");
    if let Some(at) = section.iter().position(|line| *line == heading) {
        let rest = &section[at + 1..];
        let ends = |line: &&str| *line == "failures:" || (line.starts_with("---- ") && line.ends_with(" stdout ----"));
        return &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    }
    let begins = format!("test {test} ... ");
    let Some(at) = section.iter().position(|line| line.starts_with(&begins)) else { return &[] };
    let rest = &section[at..];
    &rest[..rest.iter().position(|line| *line == "FAILED").unwrap_or(1)]
}

/// Node repeats at the end what failed: where it stands, its name, its error.
fn node(lines: &[&str]) -> Vec<Failure> {
    let Some(start) = lines.iter().rposition(|line| line.ends_with("failing tests:")) else { return Vec::new() };
    let (before, repeated) = lines.split_at(start);
    let begins: Vec<_> =
        (1..repeated.len()).filter(|at| is_place(&repeated[*at - 1..])).chain([repeated.len() + 1]).collect();
    let mut failures = Vec::new();
    for range in begins.windows(2) {
        let (title, said) = (repeated[range[0]], &repeated[range[0] + 1..range[1] - 1]);
        let name = title.trim_start_matches(['✖', ' ']);
        let name = name.rsplit_once(" (").map_or(name, |(name, _)| name).to_owned();
        let file_failed = said.iter().all(|line| ["", "'test failed'"].contains(&line.trim()));
        failures.push(match before.iter().position(|line| *line == title) {
            // A file that failed without a test: what it said stands before its name.
            Some(at) if file_failed => Failure::last_of(name, &before[..at]),
            Some(_) | None => Failure::new(name, said),
        });
    }
    failures
}

/// Where the test stands, and the test's name on the next line.
fn is_place(lines: &[&str]) -> bool {
    matches!(lines, [place, title, ..] if place.starts_with("test at ") && title.starts_with('✖'))
}

/// Vitest repeats at the end what failed, each with a line below, and what nobody caught.
fn vitest(lines: &[&str]) -> Vec<Failure> {
    let mut failures = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut start = 0;
    for (at, line) in lines.iter().enumerate() {
        let rule = line.starts_with('⎯') && line.ends_with('⎯');
        let words = line.trim_matches(['⎯', ' ']);
        if let Some(name) = line.strip_prefix(" FAIL ") {
            // Tests that failed alike stand together over one error.
            if start != at {
                names.clear();
            }
            names.push(name.trim().to_owned());
            start = at + 1;
        } else if rule && words.starts_with("Unhandled ") && words != "Unhandled Errors" {
            names = vec![words.to_owned()];
            start = at + 1;
        } else if rule {
            failures.extend(names.drain(..).map(|name| Failure::new(name, &lines[start..at])));
        }
    }
    failures
}

/// A program's own steps tell more than those of its language below: they go, so that the rest has room.
fn without_frames<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut in_trace = false;
    let mut kept = Vec::new();
    for line in lines {
        let trimmed = line.trim_start();
        if trimmed == "stack backtrace:" {
            in_trace = true;
            continue;
        }
        if in_trace && line.starts_with(' ') {
            continue;
        }
        in_trace = false;
        let of_node = trimmed.starts_with("at ") && (trimmed.contains("(node:") || trimmed.contains(" node:"));
        let of_packages = trimmed.starts_with("❯ ") && trimmed.contains("node_modules/");
        if !of_node && !of_packages && !trimmed.starts_with("note: Some details are omitted, run with ") {
            kept.push(*line);
        }
    }
    kept
}

/// The text without the sequences that colour it: `ESC [ NUMBERS m`, and `ESC ( B`, which ends them on some terminals.
fn without_colours(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let mut rest = piece.chars();
        let in_sequence = match rest.next() {
            Some('[') => |c: &char| c.is_ascii_digit() || *c == ';',
            Some('(') => |_: &char| false,
            Some(_) | None => {
                plain.push_str(piece);
                continue;
            }
        };
        plain.extend(rest.skip_while(in_sequence).skip(1));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(failures: &[Failure]) -> Vec<&str> {
        failures.iter().map(|failure| failure.name.as_str()).collect()
    }

    /// The lines of the failure with this name.
    fn said(failures: &[Failure], name: &str) -> String {
        failures.iter().find(|failure| failure.name == name).unwrap().lines.join("\n")
    }

    #[test]
    fn cargo_names_tests_by_their_program() {
        let found = read(Runner::Cargo, "cargo test", include_str!("../fixtures/cargo-test.txt"));
        let expected = [
            "sample: tests::takes_away",
            "crash: ended before its tests did",
            "outside: result",
            "outside: waits",
            "documentation of sample: src/lib.rs - (line 1)",
        ];
        assert_eq!(names(&found), expected);
        let adds = "\
about to take away

thread 'tests::takes_away' (13759) panicked at src/lib.rs:10:55:
assertion `left == right` failed: two less one
  left: 2
 right: 1";
        assert_eq!(said(&found, expected[0]), adds);
        assert!(said(&found, expected[1]).ends_with("(signal: 6, SIGABRT: process abort signal)"));
        assert_eq!(said(&found, expected[2]), "Error: \"it broke\"");
        assert!(said(&found, expected[4]).contains("left: 2"));
    }

    #[test]
    fn output_that_was_not_captured_is_found_behind_the_name() {
        let found = read(Runner::Cargo, "cargo test", include_str!("../fixtures/cargo-test-nocapture.txt"));
        assert_eq!(names(&found), ["outside: result", "outside: waits"]);
        assert!(said(&found, "outside: result").ends_with("Error: \"it broke\""));
        assert!(said(&found, "outside: waits").ends_with("nothing came"));
    }

    #[test]
    fn what_colours_a_text_is_no_part_of_it() {
        let coloured = "\u{1b}[1;31merror\u{1b}(B\u{1b}[m: \u{1b}[38;5;9mä[0]\u{1b}[0m (B)\u{1b}";
        assert_eq!(without_colours(coloured), "error: ä[0] (B)");
    }

    #[test]
    fn what_does_not_compile_is_told_by_its_last_lines() {
        let output =
            "   Compiling sample v0.1.0\nerror[E0425]: cannot find value `x`\n\nerror: could not compile `sample`\n";
        let found = read(Runner::Cargo, "cargo test", output);
        assert_eq!(names(&found), ["cargo test"]);
        assert!(said(&found, "cargo test").ends_with("error: could not compile `sample`"));
    }

    #[test]
    fn node_names_tests_and_files() {
        let found = read(Runner::Node, "node run.mjs", include_str!("../fixtures/node-test.txt"));
        let expected =
            ["compares", "waits too long", "inner fails", "child", "says much", "with cause", "/home/someone/n/b.mjs"];
        assert_eq!(names(&found), expected);
        assert!(said(&found, "compares").contains("+     2"));
        assert_eq!(said(&found, "waits too long"), "  'test timed out after 50ms'");
        assert!(said(&found, "with cause").contains("[cause]: Error: inner"));
        assert!(said(&found, "/home/someone/n/b.mjs").contains("Error: does not load"));
        assert!(found.iter().flat_map(|failure| &failure.lines).all(|line| !line.contains("node:internal")));
    }

    #[test]
    fn vitest_names_tests_files_and_what_nobody_caught() {
        let found = read(Runner::Vitest, "npm test", include_str!("../fixtures/vitest.txt"));
        let expected = [
            "tests/b.test.ts [ tests/b.test.ts ]",
            "tests/a.test.ts > a group > compares",
            "tests/a.test.ts > waits too long",
            "Unhandled Rejection",
        ];
        assert_eq!(names(&found), expected);
        assert!(said(&found, expected[1]).contains("-   \"b\": 3,"));
        assert!(said(&found, expected[2]).starts_with("Error: Test timed out in 50ms."));
        assert!(said(&found, expected[3]).contains("nobody caught it"));
    }

    #[test]
    fn tests_that_failed_alike_each_have_the_error() {
        let output = " FAIL  a.test.ts > one\n FAIL  a.test.ts > two\nError: both\n\n⎯⎯⎯[1/2]⎯\n";
        let found = read(Runner::Vitest, "npm test", output);
        assert_eq!(names(&found), ["a.test.ts > one", "a.test.ts > two"]);
        assert!(found.iter().all(|failure| failure.lines == ["Error: both"]));
    }

    #[test]
    fn a_long_output_is_cut_in_its_middle_and_a_long_line_at_its_end() {
        let lines: Vec<_> = (1..=30).map(|line| line.to_string()).collect();
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        let failure = Failure::new("it".into(), &lines);
        assert_eq!(failure.lines.len(), LINES);
        assert_eq!(failure.lines[6..9], ["7", "... 11 more lines ...", "19"]);
        assert_eq!(failure.lines.last().unwrap(), "30");
        assert_eq!(Failure::new("it".into(), &[&"ä".repeat(1_000)]).lines, ["ä".repeat(WIDTH)]);
    }

    #[test]
    fn nothing_said_and_anything_said_is_a_failure_all_the_same() {
        for runner in [Runner::Cargo, Runner::Node, Runner::Vitest] {
            for output in
                ["", "\n", "\u{1b}[", "failures:", "✖ failing tests:\ntest at \n✖", " FAIL ", "⎯", "     Running x (y)"]
            {
                assert!(!read(runner, "it", output).is_empty(), "{output:?}");
            }
        }
    }

    #[test]
    fn the_list_names_suite_and_test_and_is_bounded() {
        let failure =
            |number: usize| Failure { name: format!("test {number}"), lines: vec!["said".into(), String::new()] };
        let failures: Vec<_> = (0..LISTED + 2).map(failure).collect();
        let list = List { suite: "ui", failures: &failures }.to_string();
        assert!(list.starts_with("\nui: test 0\n    said\n\n\nui: test 1\n"), "{list}");
        assert!(list.ends_with("\nui: and 2 more\n"), "{list}");
    }
}
