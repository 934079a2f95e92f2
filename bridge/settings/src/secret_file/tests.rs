use super::*;

const A: &str = "0123456789abcdef0123456789abcdef";
const B: &str = " a secret with spaces, they count ";

fn parsed(text: &str) -> Vec<String> {
    parse(text).unwrap_or_else(|problem| panic!("{text:?}: {problem:?}"))
}

#[test]
fn one_secret_a_line_in_order() {
    for text in [
        format!("{A}\n{B}\n"),
        format!("{A}\r\n{B}"),
        format!("\u{feff}{A}\n{B}\n"),
        format!("\n\n{A}\r\n  \n\r\n{B}\n\n"),
    ] {
        assert_eq!(parsed(&text), [A, B], "{text:?}");
    }
    assert_eq!(parsed(A), [A]);
}

fn complaint(text: &str) -> String {
    let error = SecretFileError { path: "F".into(), problem: parse(text).unwrap_err() };
    assert!(!format!("{error:?}").contains("hunter2"));
    error.to_string()
}

#[test]
fn what_is_no_secret_is_named_by_its_line_and_never_shown() {
    assert!(complaint(&format!("{A}\n\nhunter2\n")).starts_with("F: line 3 is shorter than 32 bytes"));
    assert!(complaint(&format!("{A}\rhunter2\n")).starts_with("F: line 1 has a carriage return"));
    assert!(!complaint("hunter2").contains("hunter2"));
}

#[test]
fn a_file_without_a_secret_is_refused() {
    for empty in ["", "\n", "\u{feff}", " \r\n\t\n"] {
        assert!(complaint(empty).starts_with("F: holds no secret"), "{empty:?}");
    }
}

/// A folder for one test, gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("clientmcp-secret-file-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("secret")
    }

    /// The names in it.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn secrets(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

// holds: desktop-secret-file
#[test]
fn what_was_written_is_read_again_and_removed() {
    let folder = Folder::new("kept");
    assert!(read(&folder.file()).unwrap_err().missing());
    remove(&folder.file()).unwrap();
    for kept in [secrets(&[A]), secrets(&[B, A])] {
        replace(&folder.file(), &kept).unwrap();
        assert_eq!(read(&folder.file()).unwrap(), kept);
        assert_eq!(folder.names(), ["secret"]);
    }
    remove(&folder.file()).unwrap();
    assert!(folder.names().is_empty());
}

// holds: desktop-secret-file
#[test]
fn what_is_no_secret_file_is_neither_replaced_nor_removed() {
    let folder = Folder::new("other");
    for text in ["", "export PATH=/bin\n", "dear diary, this is a line of its own, and a long one\nand a short one\n"] {
        drop(fs::remove_file(folder.file()));
        private::new_file(&folder.file()).unwrap().write_all(text.as_bytes()).unwrap();
        assert!(replace(&folder.file(), &secrets(&[A])).is_err(), "{text}");
        assert!(remove(&folder.file()).is_err(), "{text}");
        assert_eq!(fs::read_to_string(folder.file()).unwrap(), text);
    }
}

// holds: desktop-secret-file
#[test]
fn what_would_be_read_back_as_something_else_is_not_written() {
    let folder = Folder::new("unlike");
    let (spaces, mark) = (" ".repeat(40), format!("\u{feff}{A}"));
    for bad in [
        &[] as &[&str],
        &["hunter2"],
        &[A, "two\nlines, and both of them are of a good length"],
        &[&spaces, A],
        &[&mark],
    ] {
        let error = replace(&folder.file(), &secrets(bad)).unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
    let many = vec![A.to_owned(); 2_000];
    assert!(replace(&folder.file(), &many).unwrap_err().to_string().contains("larger than 65536 bytes"));
    assert!(folder.names().is_empty());
}

#[cfg(unix)]
mod access {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

    use super::*;

    // holds: desktop-secret-file
    #[test]
    fn a_written_file_is_for_us_alone_whatever_lay_there() {
        let folder = Folder::new("alone");
        fs::write(folder.0.join("secret.clientmcp-new"), "left by a crash").unwrap();
        replace(&folder.file(), &secrets(&[A])).unwrap();
        assert_eq!(fs::metadata(folder.file()).unwrap().mode() & 0o777, 0o600);
        assert_eq!(folder.names(), ["secret"]);
        fs::set_permissions(folder.file(), fs::Permissions::from_mode(0o644)).unwrap();
        for refused in [replace(&folder.file(), &secrets(&[B])), remove(&folder.file())] {
            assert!(refused.unwrap_err().to_string().contains("other users have access (mode 644)"));
        }
    }

    // holds: desktop-secret-file
    #[test]
    fn a_file_of_another_user_is_not_used() {
        if rustix::process::geteuid().is_root() {
            let folder = Folder::new("foreign");
            replace(&folder.file(), &secrets(&[A])).unwrap();
            chown(folder.file(), Some(65_534), None).unwrap();
            for refused in
                [read(&folder.file()).map(drop), replace(&folder.file(), &secrets(&[B])), remove(&folder.file())]
            {
                assert!(refused.unwrap_err().to_string().contains("another user owns it"));
            }
        } else {
            // Only root gives files away, but it has some that everybody can open.
            assert!(read(Path::new("/etc/passwd")).unwrap_err().to_string().contains("another user owns it"));
        }
    }

    // holds: desktop-secret-file
    #[test]
    fn a_link_stays_and_what_it_points_at_is_replaced() {
        let folder = Folder::new("link");
        symlink("kept/real", folder.file()).unwrap();
        replace(&folder.file(), &secrets(&[A])).unwrap();
        assert!(fs::symlink_metadata(folder.file()).unwrap().is_symlink());
        assert_eq!(read(&folder.0.join("kept/real")).unwrap(), secrets(&[A]));
        remove(&folder.file()).unwrap();
        assert_eq!(folder.names(), ["kept"]);
    }
}
