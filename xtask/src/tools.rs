//! Looks for the programs that a command needs, and installs what is missing.
//!
//! Three ways: a rustup component, Debian packages (Debian, Ubuntu and what derives from them), `cargo install`. Where
//! none is open it says what to type. It never updates or removes anything, and never touches what it did not miss.

use std::{
    env, fs,
    path::PathBuf,
    process::{Command, Stdio},
};

/// A program, or several that belong together, that some command needs beside cargo itself.
pub(crate) struct Tool {
    name: &'static str,
    /// Other systems do without it.
    linux_only: bool,
    /// A command that succeeds where it is there; `cargo` stands for the cargo that runs us, `npm` for what npm is
    /// called here, `chromium` for the one that is named in the environment.
    probe: &'static [&'static str],
    /// The first that is open on this machine is taken.
    ways: &'static [Way],
    /// What a person types, on each system, where no way is open or none worked.
    by_hand: &'static str,
    /// For a tool that is often there and too old.
    older: Option<Older>,
}

/// A version that is too old. No way is tried against it: what the system packs is most likely the one that is there.
struct Older {
    /// Asked where the tool's own probe failed: it succeeds when a version is the reason.
    probe: &'static [&'static str],
    /// What a person does about it.
    by_hand: &'static str,
}

/// How a tool can be had.
enum Way {
    /// A component of a Rust that rustup installed.
    Component(&'static str),
    /// Packages of Debian and Ubuntu.
    Debian(&'static [&'static str]),
    /// A crate for `cargo install`, which is open everywhere.
    Crate(&'static str),
}

/// `cargo fmt`. The package is for a Rust that came from the distribution.
pub(crate) const RUSTFMT: Tool = Tool {
    name: "rustfmt",
    linux_only: false,
    probe: &["cargo", "fmt", "--version"],
    ways: &[Way::Component("rustfmt"), Way::Debian(&["rustfmt"])],
    by_hand: "`rustup component add rustfmt`; where Rust is the system's own, `apt-get install rustfmt` or `dnf install rustfmt`",
    older: None,
};

/// `cargo clippy`.
pub(crate) const CLIPPY: Tool = Tool {
    name: "clippy",
    linux_only: false,
    probe: &["cargo", "clippy", "--version"],
    ways: &[Way::Component("clippy"), Way::Debian(&["rust-clippy"])],
    by_hand: "`rustup component add clippy`; where Rust is the system's own, `apt-get install rust-clippy` or `dnf install clippy`",
    older: None,
};

/// `curl`.
pub(crate) const CURL: Tool = Tool {
    name: "curl",
    linux_only: false,
    probe: &["curl", "--version"],
    ways: &[Way::Debian(&["curl"])],
    by_hand: "the package `curl` of your system; Windows and macOS bring it",
    older: None,
};

/// `cargo deny`.
pub(crate) const CARGO_DENY: Tool = Tool {
    name: "cargo-deny",
    linux_only: false,
    probe: &["cargo", "deny", "--version"],
    ways: &[Way::Crate("cargo-deny")],
    by_hand: "`cargo install --locked cargo-deny`",
    older: None,
};

/// Node, which a person brings along as Rust itself: the Node that a distribution packs is often too old.
pub(crate) const NODE: Tool = Tool {
    name: "Node 20.19 or newer",
    linux_only: false,
    probe: &[
        "node",
        "--eval",
        "const [major, minor] = process.versions.node.split('.').map(Number);
        process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)",
    ],
    ways: &[],
    by_hand: "from nodejs.org, or with a version manager, `nvm install 22`; `node --version` shows which one is found",
    older: Some(Older {
        probe: &["node", "--version"],
        by_hand: "a newer one is at nodejs.org, or comes with a version manager, `nvm install 22`",
    }),
};

/// `npm`, which comes with Node.
pub(crate) const NPM: Tool = Tool {
    name: "npm",
    linux_only: false,
    probe: &["npm", "--version"],
    ways: &[],
    by_hand: "it comes with Node from nodejs.org; where the system packs it alone, `apt-get install npm`",
    older: None,
};

/// Python with what its virtual environments need, which Debian packs apart.
pub(crate) const PYTHON: Tool = Tool {
    name: "Python 3.11 or newer, with venv",
    linux_only: false,
    probe: &["python3", "-c", "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))"],
    ways: &[Way::Debian(&["python3-venv"])],
    by_hand: "`apt-get install python3-venv`, `dnf install python3`, `brew install python`",
    older: Some(Older {
        probe: &["python3", "-c", "import sys; sys.exit(sys.version_info >= (3, 11))"],
        by_hand: "a newer one is at python.org, or comes with a version manager, `pyenv install 3.12`; it must be found as \
                  `python3`",
    }),
};

/// Chromium, or a browser that is driven alike.
pub(crate) const CHROMIUM: Tool = Tool {
    name: "Chromium",
    linux_only: false,
    probe: &["chromium", "--version"],
    ways: &[Way::Debian(&["chromium"])],
    by_hand: "`apt-get install chromium`, `dnf install chromium`; or have the environment variable CHROMIUM name the \
              program of any Chromium, Chrome or Edge",
    older: None,
};

/// What the desktop app is compiled against; other systems bring their web view along. The tray's library is loaded as the
/// app runs, and comes with its headers.
pub(crate) const WEB_VIEW: Tool = Tool {
    name: "the system's web view to build with",
    linux_only: true,
    probe: &["pkg-config", "--exists", "webkit2gtk-4.1", "ayatana-appindicator3-0.1", "dbus-1"],
    ways: &[Way::Debian(&["pkg-config", "libwebkit2gtk-4.1-dev", "libayatana-appindicator3-dev", "libdbus-1-dev"])],
    by_hand: "`apt-get install pkg-config libwebkit2gtk-4.1-dev libayatana-appindicator3-dev libdbus-1-dev`, \
              `dnf install webkit2gtk4.1-devel libayatana-appindicator-gtk3-devel dbus-devel`",
    older: None,
};

/// What stands around the desktop app in its end-to-end tests: a display, windows, a tray, a keychain, hands and eyes.
pub(crate) const STAGE: Tool = Tool {
    name: "a display with a desktop on it for tests",
    linux_only: true,
    probe: &[
        "sh",
        "-c",
        "for program in Xvfb openbox xfwm4 WebKitWebDriver gnome-keyring-daemon secret-tool xfce4-panel xfconf-query \
         dbus-daemon dbus-run-session xdotool wmctrl xclip xev import gdbus; do command -v $program || exit 1; done",
    ],
    ways: &[Way::Debian(&[
        "xvfb",
        "openbox",
        "xfwm4",
        "webkit2gtk-driver",
        "gnome-keyring",
        "libsecret-tools",
        "xfce4-panel",
        "xfconf",
        "dbus",
        "libglib2.0-bin",
        "xdotool",
        "wmctrl",
        "xclip",
        "x11-utils",
        "imagemagick",
    ])],
    by_hand: "the packages xvfb, openbox, xfwm4, webkit2gtk-driver, gnome-keyring, libsecret-tools, xfce4-panel, xfconf, \
              dbus, libglib2.0-bin, xdotool, wmctrl, xclip, x11-utils and imagemagick, as Debian calls them",
    older: None,
};

/// Installs those of the tools that are missing, all of a kind at once.
///
/// # Errors
/// Names each that is missing still, with what to type.
pub(crate) fn provide(tools: &[&Tool]) -> Result<(), String> {
    let missing: Vec<_> = tools.iter().filter(|tool| !tool.is_there()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let machine = Machine::here();
    let absent = missing.iter().filter(|tool| !tool.is_too_old());
    for mut command in Plan::of(absent.map(|tool| tool.ways), &machine).commands(&machine) {
        if let Err(fault) = finish(&mut command) {
            eprintln!("xtask: {} failed: {fault}", shown(&command));
            break;
        }
    }
    let lacks: Vec<_> = missing.iter().filter_map(|tool| tool.lacking()).collect();
    if lacks.is_empty() { Ok(()) } else { Err(lacks.join("\n")) }
}

impl Tool {
    fn is_there(&self) -> bool {
        (self.linux_only && !cfg!(target_os = "linux")) || answers(self.probe)
    }

    /// Of one that is not there as it is needed.
    fn is_too_old(&self) -> bool {
        self.older.as_ref().is_some_and(|older| answers(older.probe))
    }

    /// What to type, when the tool is not there.
    pub(crate) fn lacking(&self) -> Option<String> {
        if self.is_there() {
            return None;
        }
        Some(match &self.older {
            Some(older) if answers(older.probe) => {
                format!("{} is needed, and the version that is installed is too old: {}", self.name, older.by_hand)
            }
            Some(_) | None => format!("{} is missing, please install it: {}", self.name, self.by_hand),
        })
    }
}

fn answers(probe: &[&str]) -> bool {
    let Some((program, arguments)) = probe.split_first() else { return false };
    let mut command = match *program {
        "cargo" => cargo(),
        "npm" => npm(),
        "chromium" => Command::new(env::var_os("CHROMIUM").unwrap_or_else(|| "chromium".into())),
        _ => Command::new(program),
    };
    succeeds(command.args(arguments))
}

/// What decides which ways are open.
struct Machine {
    rustup: bool,
    /// Debian, Ubuntu or a derivative of them.
    debian: bool,
    /// Not root, and sudo is there.
    sudo: bool,
}

impl Machine {
    fn here() -> Self {
        Self {
            rustup: succeeds(Command::new("rustup").arg("--version")),
            debian: cfg!(target_os = "linux") && is_debian(&fs::read_to_string("/etc/os-release").unwrap_or_default()),
            sudo: !is_root() && succeeds(Command::new("sudo").arg("--version")),
        }
    }
}

/// By the `ID` and `ID_LIKE` lines of an os-release file.
fn is_debian(os_release: &str) -> bool {
    os_release
        .lines()
        .filter_map(|line| line.split_once('='))
        .filter(|(name, _)| ["ID", "ID_LIKE"].contains(name))
        .flat_map(|(_, value)| value.trim_matches(['"', '\'']).split_whitespace())
        .any(|id| ["debian", "ubuntu"].contains(&id))
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// What is to be installed, by kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Plan {
    components: Vec<&'static str>,
    packages: Vec<&'static str>,
    crates: Vec<&'static str>,
}

impl Plan {
    fn of(missing: impl Iterator<Item = &'static [Way]>, machine: &Machine) -> Self {
        let mut plan = Self::default();
        for ways in missing {
            let open = ways.iter().find(|way| match way {
                Way::Component(_) => machine.rustup,
                Way::Debian(_) => machine.debian,
                Way::Crate(_) => true,
            });
            match open {
                Some(Way::Component(name)) => plan.components.push(name),
                Some(Way::Debian(names)) => plan.packages.extend(*names),
                Some(Way::Crate(name)) => plan.crates.push(name),
                None => {}
            }
        }
        plan
    }

    fn commands(&self, machine: &Machine) -> Vec<Command> {
        let mut commands = Vec::new();
        if !self.components.is_empty() {
            let mut add = Command::new("rustup");
            add.args(["component", "add"]).args(&self.components);
            commands.push(add);
        }
        if !self.packages.is_empty() {
            let mut install = apt_get(machine);
            install.args(["install", "--yes", "--no-install-recommends"]).args(&self.packages);
            let mut update = apt_get(machine);
            update.arg("update");
            commands.extend([update, install]);
        }
        if !self.crates.is_empty() {
            let mut install = cargo();
            install.args(["install", "--locked"]).args(&self.crates);
            commands.push(install);
        }
        commands
    }
}

/// Neither root nor sudo: apt-get itself says what it lacks.
fn apt_get(machine: &Machine) -> Command {
    let mut command = Command::new(if machine.sudo { "sudo" } else { "env" });
    if machine.sudo {
        // sudo hands no variable on, so env stands behind it.
        command.arg("env");
    }
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    command
}

/// The cargo that runs us, which is not always the first one on the path.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// npm, which on Windows is a script that only its whole name starts.
pub(crate) fn npm() -> Command {
    Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
}

/// The project's folder.
pub(crate) fn root() -> PathBuf {
    // Cargo names the folder that this crate stands in now; the compiled-in one serves who starts the program directly.
    let here = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().map(PathBuf::from).unwrap_or(here)
}

/// The folder of the programs that cargo builds: this one stands in it, too.
pub(crate) fn built() -> PathBuf {
    let here = env::current_exe().unwrap_or_default();
    here.parent().map(PathBuf::from).unwrap_or_default()
}

/// Shows the command, runs it in this terminal and waits for it.
///
/// # Errors
/// Says how it ended, or why it did not start.
pub(crate) fn finish(command: &mut Command) -> Result<(), String> {
    println!("$ {}", shown(command));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(fault) => Err(format!("it does not start: {fault}")),
    }
}

/// The command as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
    std::iter::once(name).chain(words).collect::<Vec<_>>().join(" ")
}

fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: Machine = Machine { rustup: false, debian: false, sudo: false };

    fn plan(machine: &Machine) -> Plan {
        Plan::of([RUSTFMT.ways, CLIPPY.ways, CARGO_DENY.ways].into_iter(), machine)
    }

    #[test]
    fn a_system_is_known_by_its_own_id_or_by_what_it_is_like() {
        for (text, debian) in [
            ("NAME=\"Debian GNU/Linux\"\nID=debian\n", true),
            ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", true),
            ("ID=\"fedora\"", false),
            ("ID=arch\nVARIANT_ID=debian\n", false),
            ("", false),
        ] {
            assert_eq!(is_debian(text), debian, "{text}");
        }
    }

    #[test]
    fn rustup_is_asked_before_the_distribution() {
        let all = plan(&Machine { rustup: true, debian: true, ..BARE });
        assert_eq!(
            all,
            Plan { components: vec!["rustfmt", "clippy"], packages: Vec::new(), crates: vec!["cargo-deny"] }
        );
    }

    #[test]
    fn a_distributions_rust_takes_packages_after_one_update() {
        let commands = |sudo| {
            let machine = Machine { debian: true, sudo, ..BARE };
            plan(&machine).commands(&machine).iter().map(shown).collect::<Vec<_>>()
        };
        let install =
            "env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends rustfmt rust-clippy";
        assert_eq!(commands(false)[..2], ["env DEBIAN_FRONTEND=noninteractive apt-get update", install]);
        assert_eq!(commands(true)[1], format!("sudo {install}"));
    }

    #[test]
    fn a_version_that_is_too_old_is_told_from_a_tool_that_is_missing() {
        const NO: &[&str] = &["cargo", "no-such-command"];
        const YES: &[&str] = &["cargo", "--version"];
        const fn tool(probe: &'static [&'static str], old: &'static [&'static str]) -> Tool {
            Tool {
                name: "it",
                linux_only: false,
                probe,
                ways: &[],
                by_hand: "get it",
                older: Some(Older { probe: old, by_hand: "renew it" }),
            }
        }
        let lacking = |tool: Tool| tool.lacking();
        assert_eq!(lacking(tool(YES, YES)), None);
        assert_eq!(lacking(tool(NO, NO)).as_deref(), Some("it is missing, please install it: get it"));
        let old = "it is needed, and the version that is installed is too old: renew it";
        assert_eq!(lacking(tool(NO, YES)).as_deref(), Some(old));
    }

    #[test]
    fn a_tool_may_be_several_packages() {
        let debian = Machine { debian: true, ..BARE };
        let plan = Plan::of([CURL.ways, WEB_VIEW.ways].into_iter(), &debian);
        assert_eq!(plan.packages[..3], ["curl", "pkg-config", "libwebkit2gtk-4.1-dev"]);
    }

    #[test]
    fn where_no_way_is_open_nothing_is_tried() {
        assert_eq!(plan(&BARE), Plan { crates: vec!["cargo-deny"], ..Plan::default() });
    }
}
