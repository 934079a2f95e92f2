//! `clientmcp secret` and `clientmcp token`, as a person or a script runs them. Tokens are read here without the bridge's
//! own code.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};

const SECRET: &str = "correct horse battery staple, and more";
const OTHER: &str = " spaces before and behind count too  ";
const DAY: f64 = 86_400.0;

/// A folder of one test, gone after it.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-tokens-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A file that would do as a secret file, but for what stands in it.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        #[cfg(unix)]
        set_mode(&path, 0o600);
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn clientmcp(arguments: &[&OsStr]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clientmcp"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn secret(file: &Path) -> Output {
    clientmcp(&["secret".as_ref(), file.as_ref()]).output().unwrap()
}

fn token(file: &Path, arguments: &[&str]) -> Output {
    let mut command = clientmcp(&["token".as_ref(), "--secret-file".as_ref(), file.as_ref()]);
    command.args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

/// The token, when it stands on stdout alone, and all went well.
fn printed(output: &Output) -> &str {
    assert_eq!(code(output), Some(0), "{output:?}");
    let token = text(&output.stdout).strip_suffix('\n').unwrap();
    assert!(!token.contains(char::is_whitespace), "{token:?}");
    token
}

/// The sentence on stderr of a command that failed with this code.
fn refused(output: &Output, expected: i32) -> &str {
    assert_eq!(code(output), Some(expected), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let stderr = text(&output.stderr);
    let sentence = stderr.strip_prefix("clientmcp: ").and_then(|rest| rest.strip_suffix('\n'));
    let sentence = sentence.unwrap_or_else(|| panic!("{stderr:?}"));
    assert!(!sentence.contains('\n') && !sentence.contains("panicked"), "{sentence}");
    sentence
}

fn is_signed_with(token: &str, key: &[u8]) -> bool {
    let (message, signature) = token.rsplit_once('.').unwrap();
    let hmac = Hmac::<sha2::Sha256>::new_from_slice(key).unwrap().chain_update(message);
    hmac.verify_slice(&URL_SAFE_NO_PAD.decode(signature).unwrap()).is_ok()
}

/// Header and claims of a token that is signed with the key.
fn decoded(token: &str, key: &[u8]) -> (Value, Value) {
    assert!(is_signed_with(token, key), "{token}");
    let part = |index| URL_SAFE_NO_PAD.decode(token.split('.').nth(index).unwrap()).unwrap();
    (serde_json::from_slice(&part(0)).unwrap(), serde_json::from_slice(&part(1)).unwrap())
}

fn claims(output: &Output) -> Value {
    decoded(printed(output), SECRET.as_bytes()).1
}

// holds: cli-secret
#[test]
fn a_new_secret_file_has_32_random_bytes_as_one_line() {
    let folder = Folder::new("new");
    let files = [folder.path("one"), folder.path("other")];
    let secrets = files.each_ref().map(|file| {
        let output = secret(file);
        assert_eq!((code(&output), output.stdout.len()), (Some(0), 0), "{output:?}");
        let content = fs::read_to_string(file).unwrap();
        let line = content.strip_suffix('\n').unwrap().to_owned();
        assert!(!text(&output.stderr).contains(&line));
        assert_eq!(URL_SAFE_NO_PAD.decode(&line).unwrap().len(), 32);
        line
    });
    assert_ne!(secrets[0], secrets[1]);
    let output = token(&files[0], &["notes", "--role=agent"]);
    decoded(printed(&output), secrets[0].as_bytes());
}

// holds: cli-secret
#[cfg(unix)]
#[test]
fn a_new_secret_file_is_for_its_owner_alone_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("mode");
    let file = folder.path("secret");
    let script = "umask 000; exec \"$0\" secret \"$1\"";
    let program = env!("CARGO_BIN_EXE_clientmcp");
    let output = Command::new("sh").args(["-c", script, program]).arg(&file).output().unwrap();
    assert_eq!(code(&output), Some(0), "{output:?}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
}

// holds: cli-secret
#[test]
fn a_file_that_exists_is_kept() {
    let folder = Folder::new("kept");
    let file = folder.file("secret", SECRET);
    assert!(refused(&secret(&file), 1).contains("exists already"));
    assert_eq!(fs::read_to_string(&file).unwrap(), SECRET);
}

// holds: cli-secret
#[cfg(unix)]
#[test]
fn a_link_is_not_written_through() {
    let folder = Folder::new("link");
    let (link, target) = (folder.path("link"), folder.path("target"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    refused(&secret(&link), 1);
    assert!(!target.exists());
}

// holds: cli-failure
#[test]
fn a_secret_file_needs_its_folder() {
    let folder = Folder::new("folder");
    assert!(refused(&secret(&folder.path("none/secret")), 1).contains("not written"));
}

// holds: cli-token-claims, token-secret-bytes
#[test]
fn a_token_says_who_it_is_for_and_is_signed() {
    let folder = Folder::new("claims");
    let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    let output = token(&folder.file("secret", SECRET), &["notes", "--role", "agent"]);
    let (header, claims) = decoded(printed(&output), SECRET.as_bytes());
    assert_eq!(header["alg"], "HS256");
    let issued = claims["iat"].as_f64().unwrap();
    assert!((before - 0.01..before + 60.0).contains(&issued), "{claims}");
    assert_eq!(claims, json!({"sub": "notes", "role": "agent", "iat": claims["iat"], "exp": claims["exp"]}));
}

// holds: cli-token
#[test]
fn the_token_stands_alone_on_stdout_and_its_end_on_stderr() {
    let folder = Folder::new("stdout");
    let file = folder.file("secret", SECRET);
    let output = token(&file, &["notes", "--role=agent"]);
    let (token_text, stderr) = (printed(&output), text(&output.stderr));
    assert!(stderr.starts_with("valid until 2") && stderr.ends_with(" UTC\n"), "{stderr}");
    assert!(!stderr.contains(token_text) && !stderr.contains(SECRET), "{stderr}");
    let stderr = token(&file, &["notes", "--role=agent", "--ttl=never"]).stderr;
    assert!(text(&stderr).starts_with("valid for ever"));
    for (generation, said) in [("--gen=0", false), ("--gen=1", true)] {
        let output = token(&file, &["notes", "--role=agent", generation]);
        printed(&output);
        assert_eq!(text(&output.stderr).contains("generation 0 alone"), said, "{output:?}");
    }
}

// holds: cli-token-claims, cli-token-usage
#[test]
fn a_token_lasts_as_long_as_was_asked() {
    let folder = Folder::new("ttl");
    let file = folder.file("secret", SECRET);
    for (arguments, lifetime) in [
        (["--role=agent", "--gen=0"], 90.0 * DAY),
        (["--role=client", "--gen=0"], 365.0 * DAY),
        (["--role=agent", "--ttl=2d"], 2.0 * DAY),
        (["--role=client", "--ttl=12h"], DAY / 2.0),
        (["--role=client", "--ttl=30m"], 1_800.0),
        (["--role=client", "--ttl=45s"], 45.0),
    ] {
        let claims = claims(&token(&file, &["notes", arguments[0], arguments[1]]));
        let lasts = claims["exp"].as_f64().unwrap() - claims["iat"].as_f64().unwrap();
        assert!((lifetime - 1.0..=lifetime).contains(&lasts), "{arguments:?}: {claims}");
    }
    let never = claims(&token(&file, &["notes", "--role=agent", "--ttl=never"]));
    assert_eq!(never.get("exp"), None);
}

// holds: cli-token-claims
#[test]
fn label_and_generation_are_carried() {
    let folder = Folder::new("label");
    let file = folder.file("secret", SECRET);
    for label in ["Claude Code", "エージェント 🦀", "\"quoted\\", &"ü".repeat(64)] {
        let claims = claims(&token(&file, &["a.b_c-9", "--role=client", "--gen=7", "--label", label]));
        assert_eq!((&claims["sub"], &claims["role"]), (&json!("a.b_c-9"), &json!("client")));
        assert_eq!((&claims["label"], &claims["gen"]), (&json!(label), &json!(7)));
    }
    let most = claims(&token(&file, &["a", "--role=client", "--gen=18446744073709551615"]));
    assert_eq!(most["gen"], u64::MAX);
}

// holds: cli-usage
#[test]
fn bad_usage_is_refused_before_a_file_is_opened() {
    let (none, long) = (Path::new("no-such-file"), "x".repeat(129));
    for arguments in [
        &["notes"] as &[&str],
        &["--role=agent"],
        &["a b", "--role=agent"],
        &["", "--role=agent"],
        &[&long, "--role=agent"],
        &["notes", "--role=admin"],
        &["notes", "--role=Agent"],
        &["notes", "--role=agent", "--ttl=90"],
        &["notes", "--role=agent", "--ttl=0d"],
        &["notes", "--role=agent", "--ttl=-1d"],
        &["notes", "--role=agent", "--gen=-1"],
        &["notes", "--role=agent", "--gen=1.0"],
        &["notes", "--role=agent", "--label="],
        &["notes", "--role=agent", "--label=a\nb"],
        &["notes", "--role=agent", "--label", &long],
        &["notes", "--role=agent", "--nonsense"],
    ] {
        let output = token(none, arguments);
        assert_eq!((code(&output), output.stdout.len()), (Some(2), 0), "{arguments:?}: {output:?}");
        assert!(!output.stderr.is_empty());
    }
    let folder = Folder::new("usage");
    let file = folder.file("secret", SECRET);
    assert!(refused(&token(&file, &["notes", "--role=agent", "--ttl=9999999d"]), 2).contains("9999"));
}

// holds: cli-usage
#[test]
fn help_and_version_are_no_failure() {
    for argument in ["--help", "--version"] {
        let output = clientmcp(&[argument.as_ref()]).output().unwrap();
        assert_eq!(code(&output), Some(0));
        assert!(text(&output.stdout).contains("clientmcp"));
    }
    assert_eq!(code(&clientmcp(&[]).output().unwrap()), Some(2));
}

// holds: cli-token-usage
#[test]
fn without_a_secret_file_the_command_says_what_to_name() {
    let folder = Folder::new("no-door");
    // Where no app has opened its door.
    #[cfg(unix)]
    set_mode(&folder.0, 0o700);
    let mut command = clientmcp(&["token", "notes", "--role=agent"].map(OsStr::new));
    let output = command.env("XDG_RUNTIME_DIR", &folder.0).output().unwrap();
    assert!(refused(&output, 4).contains("--secret-file"));
}

// holds: token-rotation, cli-secret-lines, token-secret-bytes
#[test]
fn the_first_line_signs_as_it_stands() {
    let folder = Folder::new("lines");
    for (first, content) in [
        (SECRET, format!("{SECRET}\n{OTHER}\n")),
        (OTHER, format!("{OTHER}\n{SECRET}\n")),
        (OTHER, format!("{OTHER}\r\n{SECRET}\r\n")),
        (SECRET, format!("\u{feff}{SECRET}")),
        (OTHER, format!("\u{feff}\r\n \t\n\n{OTHER}\n")),
    ] {
        let output = token(&folder.file("secret", &content), &["notes", "--role=agent"]);
        decoded(printed(&output), first.as_bytes());
    }
}

// holds: cli-no-secret, cli-failure
#[test]
fn a_file_that_is_no_secret_file_is_refused() {
    let folder = Folder::new("refused");
    let short = "hunter2, but a little longer";
    let utf_16: Vec<u8> = format!("\u{feff}{SECRET}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases = [
        (folder.path("missing"), "no such file"),
        (folder.file("empty", ""), "holds no secret"),
        (folder.file("blank", "\u{feff}\n \t\r\n"), "holds no secret"),
        (folder.file("short", short), "line 1 is shorter than 32 bytes"),
        (folder.file("second-short", format!("{SECRET}\n\n{short}\n")), "line 3 is shorter than 32 bytes"),
        (folder.file("carriage-return", format!("{SECRET}\r{short}\n")), "line 1 has a carriage return"),
        (folder.file("latin-1", [SECRET.as_bytes(), b"\xfc\n"].concat()), "not UTF-8"),
        (folder.file("utf-16", &utf_16), "not UTF-8"),
        (folder.file("large", format!("{SECRET}\n").repeat(2_000)), "larger than 65536 bytes"),
    ];
    for (file, reason) in cases {
        let output = token(&file, &["notes", "--role=agent"]);
        let sentence = refused(&output, 4);
        assert!(sentence.starts_with(file.to_str().unwrap()) && sentence.contains(reason), "{sentence}");
        assert!(!sentence.contains("hunter2") && !sentence.contains(SECRET), "{sentence}");
    }
}

// holds: cli-no-secret
#[cfg(unix)]
#[test]
fn a_file_that_others_may_touch_is_refused() {
    let folder = Folder::new("access");
    let file = folder.file("secret", SECRET);
    for mode in [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o644, 0o666, 0o777] {
        set_mode(&file, mode);
        let output = token(&file, &["notes", "--role=agent"]);
        let advice = format!("run `chmod 600 {}`", file.display());
        assert!(refused(&output, 4).contains(&advice), "{mode:o}");
    }
    for mode in [0o600, 0o400] {
        set_mode(&file, mode);
        printed(&token(&file, &["notes", "--role=agent"]));
    }
    let link = folder.path("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    printed(&token(&link, &["notes", "--role=agent"]));
}

// holds: cli-no-secret
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_without_waiting() {
    let folder = Folder::new("irregular");
    let fifo = folder.path("fifo");
    assert!(Command::new("mkfifo").args(["-m", "600"]).arg(&fifo).status().unwrap().success());
    for path in [fifo, folder.0.clone(), "/dev/zero".into()] {
        let output = token(&path, &["notes", "--role=agent"]);
        assert!(refused(&output, 4).contains("not a regular file"), "{}", path.display());
    }
}

// holds: cli-no-secret
#[cfg(unix)]
#[test]
fn a_file_of_another_user_is_refused() {
    let folder = Folder::new("owner");
    let file = folder.file("secret", SECRET);
    if std::os::unix::fs::chown(&file, Some(65_534), None).is_err() {
        // Only root can give a file away; everybody else cannot even open a file of another user with mode 0600.
        eprintln!("skipped: needs root");
        return;
    }
    assert!(refused(&token(&file, &["notes", "--role=agent"]), 4).contains("another user owns it"));
}

// holds: cli-stdout-closed
#[test]
fn a_closed_stdout_is_a_failure_and_no_crash() {
    let folder = Folder::new("closed");
    let file = folder.file("secret", SECRET);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = clientmcp(&["token", "notes", "--role=agent", "--secret-file"].map(OsStr::new));
    let output = command.arg(&file).stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert!(refused(&output, 1).contains("could not be printed"));
}
