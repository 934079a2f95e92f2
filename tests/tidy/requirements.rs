//! The requirement gate: each row of `tests/requirements.toml` is a promise with a source; tests cite it by id.
//!
//! A citation is a comment line `holds: id, other-id` directly above a test, with only comments and attributes between.
//! A promise that no test holds fails, and so does a citation of nothing.

use std::collections::{HashMap, HashSet};

use super::File;

const LIST: &str = "tests/requirements.toml";
const FOLDERS: [&str; 7] = ["tests/", "bridge/", "sdk/", "xtask/", "examples/", "src-tauri/", "ui/"];

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Requirements {
    requirement: Vec<Row>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    text: String,
    source: String,
}

/// One line for each promise, citation or source that does not hold.
pub(super) fn faults(files: &[File]) -> Vec<String> {
    let Some(list) = files.iter().find(|file| file.path == LIST) else { return vec![format!("{LIST} is missing")] };
    let rows = match toml::from_str::<Requirements>(&list.text) {
        Ok(Requirements { requirement }) => requirement,
        Err(fault) => return vec![format!("{LIST}: {fault}")],
    };
    let headings = headings(files);
    let citations: Vec<_> = files.iter().flat_map(citations).collect();
    let known: HashSet<_> = rows.iter().map(|row| row.id.as_str()).collect();
    let held: HashSet<_> =
        citations.iter().filter(|citation| citation.fault.is_none()).flat_map(Citation::ids).collect();

    let mut faults: Vec<_> = repeated(&rows).map(|id| format!("{LIST}: {id}: the id stands there twice")).collect();
    for row in &rows {
        let fault = row.fault(&headings).or((!held.contains(row.id.as_str())).then(|| "no test cites it".into()));
        faults.extend(fault.map(|fault| format!("{LIST}: {}: {fault}", row.id)));
    }
    for citation in &citations {
        let unknown = citation.ids().filter(|id| !known.contains(id)).map(|id| format!("{id:?} is no requirement"));
        let all = citation.fault.map(String::from).into_iter().chain(unknown);
        faults.extend(all.map(|fault| format!("{}:{}: {fault}", citation.path, citation.line)));
    }
    faults
}

fn repeated(rows: &[Row]) -> impl Iterator<Item = &str> {
    let mut seen = HashSet::new();
    rows.iter().map(|row| row.id.as_str()).filter(move |id| !seen.insert(*id))
}

impl Row {
    fn fault(&self, headings: &HashMap<&str, HashSet<&str>>) -> Option<String> {
        if self.id.is_empty() || !self.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
            return Some("an id is made of a-z, 0-9 and -".into());
        }
        if self.text.trim().is_empty() {
            return Some("it promises nothing".into());
        }
        source_fault(&self.source, headings)
    }
}

/// A source that a stranger can open: a page of ours and its heading, a page of MCP, an RFC.
fn source_fault(source: &str, headings: &HashMap<&str, HashSet<&str>>) -> Option<String> {
    let (work, place) = source.split_once(", ").unwrap_or((source, ""));
    let number = work.strip_prefix("RFC ").is_some_and(|number| number.parse::<u16>().is_ok());
    if (number || work == "MCP 2026-07-28") && !place.trim().is_empty() {
        return None;
    }
    let Some(page) = headings.get(work) else {
        return Some(format!(
            "{source:?} is no source: `docs/protocol.md, \"<heading>\"`, `MCP 2026-07-28, <page>`, `RFC <n>, <section>`"
        ));
    };
    let heading = place.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
    (!page.contains(heading)).then(|| format!("{work} has no heading {place}"))
}

/// The headings of the pages that may be cited.
fn headings(files: &[File]) -> HashMap<&str, HashSet<&str>> {
    let citable = |file: &&File| {
        let page = file.path.ends_with("README.md") || file.path.starts_with("docs/");
        page && file.has_extension(&["md"])
    };
    files.iter().filter(citable).map(|file| (file.path.as_str(), page_headings(&file.text).collect())).collect()
}

fn page_headings(page: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    page.lines().filter_map(move |line| {
        in_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#').strip_prefix(' ')?.trim();
        (!in_code && line.starts_with('#')).then_some(heading)
    })
}

struct Citation<'a> {
    path: &'a str,
    line: usize,
    list: &'a str,
    fault: Option<&'static str>,
}

impl<'a> Citation<'a> {
    fn ids(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.list.split(',').map(str::trim)
    }
}

fn citations(file: &File) -> Vec<Citation<'_>> {
    let Some(language) = Language::of(file) else { return Vec::new() };
    let lines: Vec<_> = file.text.lines().map(str::trim).collect();
    let cited = lines.iter().enumerate().filter_map(|(at, line)| Some((at, language.cited(line)?)));
    cited
        .map(|(at, list)| {
            let fault = language.fault(lines.get(at + 1..).unwrap_or_default());
            Citation { path: &file.path, line: at + 1, list, fault }
        })
        .collect()
}

#[derive(Clone, Copy)]
enum Language {
    Rust,
    /// JavaScript and TypeScript.
    Script,
    Python,
}

impl Language {
    fn of(file: &File) -> Option<Self> {
        let ours = FOLDERS.iter().any(|folder| file.path.starts_with(folder));
        let of = |extensions| ours && file.has_extension(extensions);
        if of(&["rs"]) {
            Some(Self::Rust)
        } else if of(&["ts", "mjs"]) {
            Some(Self::Script)
        } else if of(&["py"]) {
            Some(Self::Python)
        } else {
            None
        }
    }

    fn cited(self, line: &str) -> Option<&str> {
        let comment = match self {
            Self::Rust => line.strip_prefix("///").or(line.strip_prefix("//")),
            Self::Script => line.strip_prefix("//"),
            Self::Python => line.strip_prefix('#'),
        };
        comment?.strip_prefix(" holds:")
    }

    /// Why what stands below a citation is no test that runs.
    fn fault(self, below: &[&str]) -> Option<&'static str> {
        let passed_over = |line: &str| match self {
            Self::Rust => line.starts_with("//") || line.starts_with("#["),
            Self::Script => line.starts_with("//"),
            Self::Python => line.starts_with('#') || line.starts_with('@'),
        };
        let end = below.iter().position(|line| !passed_over(line)).unwrap_or(below.len());
        let (above, item) = (&below[..end], below.get(end).copied().unwrap_or_default());
        let is_test = match self {
            Self::Rust => item.starts_with("proptest!") || above.iter().any(|line| attribute(line).ends_with("test")),
            Self::Script => ["test(", "it(", "test.each", "it.each"].iter().any(|start| item.starts_with(start)),
            Self::Python => item.starts_with("def test") || item.starts_with("async def test"),
        };
        let ignored = above.iter().any(|line| is_left_out(line) || line.starts_with("@pytest.mark.skip"));
        match (is_test, ignored) {
            (false, _) => Some("a citation stands above no test"),
            (true, true) => Some("a test that does not run holds nothing"),
            (true, false) => None,
        }
    }
}

/// Whether a Rust attribute keeps a test from being run, by anybody: the reason may name the suite that runs it.
fn is_left_out(line: &str) -> bool {
    attribute(line) == "ignore" && !line.contains(": cargo xtask test ")
}

/// The path of a Rust attribute: `tokio::test` of `#[tokio::test(start_paused = true)]`.
fn attribute(line: &str) -> &str {
    let inside = line.strip_prefix("#[").unwrap_or_default();
    inside.split(['(', ']', ' ', '=']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "[[requirement]]\nid = 'a-1'\ntext = 'Promised.'\nsource = 'docs/protocol.md, \"Limits\"'\n";
    const PAGE: &str = "# Protocol\n## Limits\n```\n# No heading\n```\n";
    const TEST: &str = "// holds: a-1\n#[test]\nfn a() {}\n";

    fn gate(list: &str, tests: &[(&str, &str)]) -> Vec<String> {
        let all = [(LIST, list), ("docs/protocol.md", PAGE)];
        let file = |(path, text): &(&str, &str)| File { path: (*path).into(), text: (*text).into() };
        faults(&all.iter().chain(tests).map(file).collect::<Vec<_>>())
    }

    fn rust(text: &str) -> Vec<String> {
        gate(ROW, &[("tests/a.rs", TEST), ("bridge/src/b.rs", text)])
    }

    #[test]
    fn a_cited_row_with_a_source_passes() {
        assert_eq!(gate(ROW, &[("tests/a.rs", TEST)]), [""; 0]);
    }

    #[test]
    fn an_uncited_row_fails() {
        assert_eq!(gate(ROW, &[]), ["tests/requirements.toml: a-1: no test cites it"]);
        assert_eq!(gate(ROW, &[("elsewhere/a.rs", TEST)]).len(), 1);
        assert_eq!(gate(ROW, &[("tests/a.txt", TEST)]).len(), 1);
    }

    #[test]
    fn a_citation_of_nothing_fails() {
        assert_eq!(rust("/// holds: a-1, b\n#[test]"), ["bridge/src/b.rs:1: \"b\" is no requirement"]);
        assert_eq!(rust("\n// holds:\n#[test]"), ["bridge/src/b.rs:2: \"\" is no requirement"]);
    }

    #[test]
    fn a_repeated_id_fails() {
        let faults = gate(&ROW.repeat(2), &[("tests/a.rs", TEST)]);
        assert_eq!(faults, ["tests/requirements.toml: a-1: the id stands there twice"]);
    }

    #[test]
    fn a_list_that_is_missing_or_no_list_fails() {
        assert_eq!(faults(&[]), ["tests/requirements.toml is missing"]);
        for text in ["", "[[requirement]]\nid = 'a'", "requirement = 1", &format!("{ROW}note = 'x'"), "["] {
            assert_eq!(gate(text, &[]).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_row_needs_an_id_and_a_text() {
        for (from, to) in [("a-1", "A 1"), ("a-1", ""), ("Promised.", " ")] {
            assert!(!gate(&ROW.replace(from, to), &[("tests/a.rs", TEST)]).is_empty(), "{to}");
        }
    }

    #[test]
    fn a_source_is_a_page_with_that_heading_or_a_public_standard() {
        let files = [("README.md", "# Us"), ("bridge/README.md", "## In `code`, and more"), ("docs/a/b.md", "# B")];
        let passes = |source: &str| {
            let row = ROW.replace("docs/protocol.md, \"Limits\"", source);
            gate(&row, &[files.as_slice(), &[("tests/a.rs", TEST), ("SECURITY.md", "# S")]].concat()).is_empty()
        };
        for source in [
            "MCP 2026-07-28, Streamable HTTP",
            "RFC 9110, section 7.2",
            "README.md, \"Us\"",
            "bridge/README.md, \"In `code`, and more\"",
            "docs/a/b.md, \"B\"",
            "docs/protocol.md, \"Protocol\"",
        ] {
            assert!(passes(source), "{source}");
        }
        for source in [
            "",
            "docs/protocol.md",
            "docs/protocol.md, Limits",
            "docs/protocol.md, \"limits\"",
            "docs/protocol.md, \"No heading\"",
            "docs/other.md, \"Limits\"",
            "SECURITY.md, \"S\"",
            "MCP 2026-07-28",
            "MCP 2026-07-28, ",
            "MCP, Tools",
            "RFC, 9110",
            "RFC nine, section 1",
            "RFC 9110",
            "common sense, \"Us\"",
        ] {
            assert!(!passes(source), "{source}");
        }
    }

    #[test]
    fn in_rust_a_citation_stands_above_a_test() {
        for above in [
            "#[test]\nfn x() {}",
            "// why\n/// more\n#[cfg(unix)]\n#[tokio::test(start_paused = true)]\nasync fn x() {}",
            "proptest! {",
            "#[rstest]\n#[case(1)]\nfn x() {}",
        ] {
            assert_eq!(rust(&format!("    // holds: a-1\n{above}")), [""; 0], "{above}");
        }
        for above in
            ["", "fn x() {}", "\n#[test]\nfn x() {}", "#[cfg(test)]\nmod tests {", "let test = 1;\n#[test]", "}"]
        {
            let faults = rust(&format!("// holds: a-1\n{above}"));
            assert_eq!(faults, ["bridge/src/b.rs:1: a citation stands above no test"], "{above}");
        }
        assert_eq!(rust("// holds: a-1\n#[test]\n#[ignore = \"slow\"]\nfn x() {}").len(), 1);
        let elsewhere = "// holds: a-1\n#[test]\n#[ignore = \"needs a display: cargo xtask test desktop\"]\nfn x() {}";
        assert!(rust(elsewhere).is_empty());
    }

    #[test]
    fn in_other_languages_too() {
        let ok = |path, text: &str| gate(ROW, &[(path, text)]).is_empty();
        assert!(ok("sdk/js/a.ts", "// holds: a-1\ntest(\"x\", () => {"));
        assert!(ok("tests/a.mjs", "  // holds: a-1\n  // why\n  it('x', async () => {"));
        assert!(ok("tests/a.py", "# holds: a-1\n@mark\nasync def test_x():"));
        assert!(!ok("ui/a.ts", "// holds: a-1\ntest.skip(\"x\", () => {"));
        assert!(!ok("ui/a.ts", "// holds: a-1\nconst test = 1;"));
        assert!(!ok("tests/a.py", "# holds: a-1\n@pytest.mark.skip\ndef test_x():"));
        assert!(!ok("tests/a.py", "# holds: a-1\ndef helper():"));
    }
}
