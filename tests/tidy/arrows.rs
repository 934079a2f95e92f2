//! Import arrows: which module of the bridge may use which, so that a reader of one knows what cannot reach it; and that
//! the desktop app and the bridge share wire types alone.
//!
//! Reads paths in the text, not what the compiler makes of them: `super::` must therefore not leave a module.

use std::collections::BTreeSet;

use super::File;

const SOURCE: &str = "bridge/src/";

/// A module and what it may import; what those may import, it may too. `main` alone sees only what stands here.
const ARROWS: [(&str, &[&str]); 31] = [
    ("main", &["commands"]),
    ("commands", &["presence", "runtime", "secret_file", "server", "shim", "stop", "token"]),
    ("server", &["agent", "client", "control", "door", "guard", "port", "presence", "room", "token"]),
    ("agent", &["guard", "mcp", "pieces", "respond", "token"]),
    ("door", &["lines", "local", "mcp", "token"]),
    ("shim", &["lines", "local", "mcp"]),
    ("client", &["guard", "hub", "respond", "token"]),
    ("control", &["hub", "lines", "port", "room", "token"]),
    ("mcp", &["flow", "lines", "respond", "token"]),
    ("flow", &["hub"]),
    ("hub", &["approvals", "origin", "steps", "token"]),
    ("approvals", &["call"]),
    ("call", &["declaration", "presence", "refusal", "token"]),
    ("guard", &["refusal"]),
    ("respond", &["pieces", "refusal", "revision"]),
    ("refusal", &["text"]),
    ("secret_file", &["token"]),
    ("token", &["text"]),
    ("port", &["text"]),
    ("declaration", &["revision", "text"]),
    ("lines", &[]),
    ("local", &["presence"]),
    ("origin", &[]),
    ("pieces", &[]),
    ("presence", &[]),
    ("revision", &[]),
    ("room", &[]),
    ("runtime", &[]),
    ("steps", &[]),
    ("stop", &[]),
    ("text", &[]),
];

/// One line for each import against the arrows.
pub(super) fn faults(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| file.has_extension(&["rs"])) {
        let Some(inside) = file.path.strip_prefix(SOURCE) else { continue };
        let module = inside.split(['/', '.']).next().unwrap_or_default();
        // lib.rs declares the modules and imports none.
        if module != "lib" {
            let code = code(&file.text);
            let found = [imports(module, &code), foreign(module, &code), climbs(inside, &code)];
            faults.extend(found.concat().into_iter().map(|(line, fault)| format!("{}:{line}: {fault}", file.path)));
        }
    }
    faults.extend(files.iter().flat_map(across));
    faults
}

/// The desktop app talks to the bridge over the control channel: what it could import, it could also do without asking.
fn across(file: &File) -> Vec<String> {
    if !file.path.starts_with("src-tauri/") {
        return Vec::new();
    }
    // A log's target may have the bridge's name: what is imported has a path behind it.
    let lines: Vec<usize> = if file.has_extension(&["rs"]) {
        segments(&code(&file.text), "clientmcp_bridge").into_iter().map(|(line, _)| line).collect()
    } else if file.path.ends_with("Cargo.toml") {
        word_lines(&file.text, "clientmcp-bridge").collect()
    } else {
        Vec::new()
    };
    lines.into_iter().map(|line| format!("{}:{line}: the desktop app must not import bridge", file.path)).collect()
}

/// A line and what is wrong there.
type Fault = (usize, String);

fn imports(module: &str, code: &str) -> Vec<Fault> {
    let Some((_, direct)) = ARROWS.iter().find(|(name, _)| *name == module) else {
        return vec![(1, format!("{module} has no place among the arrows in tests/tidy/arrows.rs"))];
    };
    let allowed = if module == "main" { direct.iter().copied().collect() } else { below(module) };
    let used = ["crate", "clientmcp_bridge"].iter().flat_map(|root| segments(code, root));
    // A name that is no module is an item of main.rs; a module without a place is reported where it stands.
    let is_module = |used: &str| used == "*" || ARROWS.iter().any(|(name, _)| *name == used);
    used.filter(|(_, name)| is_module(name) && *name != module && !allowed.contains(name))
        .map(|(line, name)| (line, format!("{module} must not import {name}")))
        .collect()
}

/// All that a module may import.
fn below(module: &str) -> BTreeSet<&'static str> {
    let direct = ARROWS.iter().filter(|(name, _)| *name == module).flat_map(|(_, direct)| direct.iter().copied());
    direct.flat_map(|name| below(name).into_iter().chain([name])).collect()
}

/// What only some modules may use of other crates.
fn foreign(module: &str, code: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    if module == "mcp" || below("mcp").contains(module) {
        let words = ["axum", "hyper", "hyper_util", "http_body_util"].iter().flat_map(|name| word_lines(code, name));
        let http = segments(code, "http").into_iter().map(|(line, _)| line);
        faults.extend(words.chain(http).map(|line| (line, format!("{module} knows no HTTP"))));
    }
    if module == "hub" {
        let files = ["std", "tokio"].iter().flat_map(|root| segments(code, root)).filter(|(_, name)| *name == "fs");
        faults.extend(files.map(|(line, _)| (line, "the hub touches no file".into())));
    }
    if module != "token" {
        faults.extend(word_lines(code, "jsonwebtoken").map(|line| (line, "only token uses jsonwebtoken".into())));
    }
    faults
}

/// `super::` where it would name another module of the crate without saying so.
fn climbs(inside: &str, code: &str) -> Vec<Fault> {
    let top = !inside.contains('/') || inside.split('/').nth(1) == Some("mod.rs");
    let tests =
        code.lines().position(|line| line.contains("mod ") && line.trim_end().ends_with('{')).unwrap_or(usize::MAX);
    let climbing =
        |at: usize, line: &str| line.contains("super::super") || (top && at < tests && line.contains("super::"));
    let lines = code.lines().enumerate().filter(|(at, line)| climbing(*at, line));
    lines.map(|(at, _)| (at + 1, "write crate:: for what stands outside the module".into())).collect()
}

/// The text without line comments, whose links may point anywhere.
fn code(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The names right below `root::`, one or a group of them, each with its line.
fn segments<'a>(code: &'a str, root: &str) -> Vec<(usize, &'a str)> {
    let starts = words(code, root).filter_map(|at| {
        let rest = code.get(at + root.len()..)?.strip_prefix("::")?.trim_start();
        Some((at, rest))
    });
    starts
        .flat_map(|(at, rest)| {
            let names = rest.strip_prefix('{').map_or_else(|| vec![name(rest)], group);
            names.into_iter().map(move |name| (line_of(code, at), name))
        })
        .collect()
}

/// The first name of each member of a group, up to its closing brace.
fn group(inside: &str) -> Vec<&str> {
    let (mut names, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, letter) in inside.char_indices() {
        match letter {
            '{' => depth += 1,
            ',' if depth == 0 => {
                names.push(&inside[start..at]);
                start = at + 1;
            }
            '}' if depth == 0 => {
                names.push(&inside[start..at]);
                break;
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names.into_iter().map(|member| name(member.trim_start())).filter(|name| !name.is_empty()).collect()
}

/// The name at the start; `*`, which names everything, counts as one.
fn name(text: &str) -> &str {
    let end = if text.starts_with('*') { 1 } else { text.find(|c| !in_name(c)).unwrap_or(text.len()) };
    &text[..end]
}

/// Where the word stands, not as a part of a longer one.
fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> {
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| !code[..*at].ends_with(in_name) && !code[*at + word.len()..].starts_with(in_name))
}

fn word_lines<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> {
    words(code, word).map(|at| line_of(code, at))
}

fn in_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_desktop_app_imports_wire_types_alone() {
        let finds = |path: &str, text: &str| !faults(&[File { path: path.into(), text: text.into() }]).is_empty();
        assert!(finds("src-tauri/src/app/mod.rs", "use clientmcp_bridge::token;"));
        assert!(finds("src-tauri/Cargo.toml", "clientmcp-bridge = { path = '../bridge' }"));
        assert!(!finds("src-tauri/src/app/mod.rs", "use clientmcp_protocol::ids::ClientId;"));
        assert!(!finds("src-tauri/README.md", "never clientmcp-bridge"));
    }

    fn check(path: &str, text: &str) -> Vec<String> {
        faults(&[File { path: format!("{SOURCE}{path}"), text: text.into() }])
    }

    fn allowed(path: &str, text: &str) -> bool {
        check(path, text).is_empty()
    }

    #[test]
    fn imports_go_down_the_road() {
        for (from, to) in [
            ("main.rs", "commands"),
            ("commands/serve.rs", "server"),
            ("server.rs", "guard"),
            ("agent/mod.rs", "mcp"),
            ("agent/http.rs", "call"),
            ("client/socket.rs", "hub"),
            ("control/view.rs", "token"),
            ("door/mod.rs", "respond"),
            ("flow.rs", "hub"),
            ("hub/state.rs", "declaration"),
            ("mcp/modern.rs", "text"),
            ("token/mod.rs", "text"),
            ("commands/token.rs", "{Exit, secret_file}"),
        ] {
            assert!(allowed(from, &format!("use crate::{to};")), "{from} -> {to}");
        }
    }

    #[test]
    fn imports_against_the_road_are_found() {
        for (from, to) in [
            ("main.rs", "hub"),
            ("mcp/mod.rs", "agent"),
            ("flow.rs", "mcp"),
            ("hub/mod.rs", "flow"),
            ("hub/state.rs", "client"),
            ("call.rs", "approvals"),
            ("text.rs", "declaration"),
            ("mcp/legacy.rs", "port"),
            ("shim/mod.rs", "server"),
            ("respond.rs", "hub"),
            ("respond.rs", "mcp"),
            ("guard.rs", "agent"),
            ("flow.rs", "*"),
        ] {
            let fault = check(from, &format!("\nuse crate::{to};"));
            let module = from.split(['/', '.']).next().unwrap();
            assert_eq!(fault, [format!("{SOURCE}{from}:2: {module} must not import {to}")]);
        }
    }

    #[test]
    fn the_four_doors_never_import_each_other() {
        let doors = ["agent", "client", "door", "control"];
        for (from, to) in doors.iter().flat_map(|from| doors.map(|to| (from, to))).filter(|(from, to)| *from != to) {
            assert!(!allowed(&format!("{from}/mod.rs"), &format!("use crate::{to}::X;")), "{from} -> {to}");
        }
    }

    #[test]
    fn every_form_of_a_path_is_read() {
        for text in [
            "use crate::{text::Text, client};",
            "use crate::{\n    call::{Call, Routed},\n    client::{self, X},\n};",
            "fn f() { crate::client::x() }",
            "pub(in crate::client) fn x() {}",
            "use clientmcp_bridge::client;",
            "use crate::{hub::{self, {a, b}}, client}",
        ] {
            assert_eq!(check("flow.rs", text).len(), 1, "{text}");
        }
        for text in
            ["/// See [`crate::client`].", "// crate::client", "mycrate::client::x()", "use crate::{call::{client}};"]
        {
            assert!(allowed("flow.rs", text), "{text}");
        }
    }

    #[test]
    fn what_climbs_out_of_a_module_is_found() {
        assert!(!allowed("flow.rs", "use super::client;"));
        assert!(!allowed("agent/mod.rs", "use super::client;"));
        assert!(!allowed("agent/http.rs", "use super::super::client;"));
        assert!(allowed("agent/http.rs", "use super::headers;"));
        assert!(allowed("flow.rs", "pub(super) fn x() {}\nmod tests {\n    use super::*;\n}"));
    }

    #[test]
    fn below_mcp_there_is_no_http() {
        for text in [
            "use axum::Router;",
            "hyper::body::Body",
            "use hyper_util::rt;",
            "http::StatusCode::OK",
            "use http::{Method};",
        ] {
            for path in ["mcp/modern.rs", "flow.rs", "hub/mod.rs", "approvals.rs", "call.rs", "refusal.rs", "text.rs"] {
                assert!(!allowed(path, text), "{path}: {text}");
            }
            assert!(allowed("agent/mod.rs", text), "{text}");
        }
        assert!(allowed("mcp/mod.rs", "let url = \"http://127.0.0.1\"; // http::\nuse std::hyperbole;"));
    }

    #[test]
    fn the_hub_touches_no_file_and_only_token_knows_jwt() {
        assert!(!allowed("hub/state.rs", "use std::{collections::HashMap, fs};"));
        assert!(!allowed("hub/mod.rs", "tokio::fs::read(p)"));
        assert!(allowed("hub/mod.rs", "use std::{collections::HashMap, time::Instant};"));
        assert!(allowed("token/crypto.rs", "use std::fs; use jsonwebtoken::Header;"));
        assert!(!allowed("agent/mod.rs", "use jsonwebtoken::Header;"));
    }

    #[test]
    fn a_new_module_needs_a_place() {
        assert!(!allowed("helper.rs", ""));
        assert!(allowed("lib.rs", "pub mod helper;"));
        assert!(faults(&[File { path: "xtask/src/main.rs".into(), text: "use crate::hub;".into() }]).is_empty());
    }
}
