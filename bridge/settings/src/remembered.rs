//! What is remembered: the content of the file, and what may be in it.
//!
//! Members that another version of the app wrote are kept, at each level. What would let a call through and has an end
//! is not: nothing that was granted for a while comes back after a restart, whatever the clock says.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    hash::Hash,
};

use clientmcp_protocol::origin;
use clientmcp_protocol::{
    control::{
        BlockedAgent, Floor, Generation, Issued, Memory, Millis, Mode, ModeOf, Pair, Pin, Rule, Seen, Until, Verdict,
    },
    ids::{ClientId, Fingerprint, Label, Role, ToolName},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Settings, SettingsId};

/// The version of the file. It rises when a file must not be used by who does not know what is new in it: so with
/// each new member that narrows what a rule or mode allows, and each new value of a known member.
pub const VERSION: u64 = 2;

/// What the desktop remembers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    version: u64,
    /// Which secrets it goes with.
    pub id: SettingsId,
    /// What the person set.
    #[serde(default)]
    pub settings: Settings,
    #[serde(default)]
    memory: KeptMemory,
    #[serde(default)]
    applications: Vec<Kept<KnownApplication>>,
    #[serde(default)]
    labels: Vec<Kept<KnownLabel>>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// An application that has connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownApplication {
    /// Which.
    pub application: ClientId,
    /// When it connected first.
    pub first_seen: Millis,
    /// When it was connected last.
    pub last_seen: Millis,
}

/// A label that tokens were made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownLabel {
    /// Whose tokens.
    pub application: ClientId,
    /// Of which role.
    pub role: Role,
    /// The label; none for tokens without one.
    pub label: Option<Label>,
    /// When a token with it was used last.
    pub last_use: Option<Millis>,
    /// When the last of its tokens ends; none when one never does.
    pub end: Option<Millis>,
}

/// What must not be in the file, although it is JSON of the right shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Older than the first version.
    Version,
    /// The time for a call or a question.
    Seconds,
    /// Empty, `null`, or not in the characters of a serialized origin.
    Origin,
    /// Two entries about the same thing: which one counts is unclear.
    Repeated,
    /// What the bridge would not take, in words.
    Memory(&'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Version => "there is no such version",
            Self::Seconds => "a time is outside its limits",
            Self::Origin => "an origin is none",
            Self::Repeated => "two entries are about the same thing",
            Self::Memory(words) => words,
        })
    }
}

impl Remembered {
    /// The strictest state: default settings, no rules, every mode `ask`, nothing known.
    pub fn strictest(id: SettingsId) -> Self {
        Self {
            version: VERSION,
            id,
            settings: Settings::default(),
            memory: KeptMemory::default(),
            applications: Vec::new(),
            labels: Vec::new(),
            other: Map::new(),
        }
    }

    /// What the bridge is given at its start.
    pub fn memory(&self) -> Memory {
        self.memory.known()
    }

    /// Takes what the bridge wants written down, as far as it outlives this run: nothing that ends when the app quits,
    /// and no grant with an end.
    ///
    /// Whatever it is given can be saved, but for its size: no application may keep a revocation from being written.
    pub fn set_memory(&mut self, memory: Memory) {
        self.memory.set(memory);
    }

    /// Applications that have connected.
    pub fn applications(&self) -> Vec<KnownApplication> {
        known(&self.applications)
    }

    /// Replaces the applications that have connected.
    pub fn set_applications(&mut self, applications: Vec<KnownApplication>) {
        set(&mut self.applications, applications);
    }

    /// Labels that tokens were made for.
    pub fn labels(&self) -> Vec<KnownLabel> {
        known(&self.labels)
    }

    /// Replaces the labels that tokens were made for.
    pub fn set_labels(&mut self, labels: Vec<KnownLabel>) {
        set(&mut self.labels, labels);
    }

    /// Drops what does not outlive a run: a file may have been edited. An older file is one of this version from now on.
    pub(crate) fn forget_grants_with_an_end(&mut self) {
        self.version = VERSION;
        self.memory.drop_passing();
        self.memory.drop_no_origins();
        self.memory.seen.retain(|row| row.known.origin.is_some());
        let labels = self.labels().into_iter();
        self.set_labels(
            labels.map(|row| KnownLabel { label: row.label.map(|label| label.harmless()), ..row }).collect(),
        );
    }

    /// What is wrong with it, although it is JSON of the right shape.
    pub(crate) fn fault(&self) -> Option<Fault> {
        if !(1..=VERSION).contains(&self.version) {
            return Some(Fault::Version);
        }
        // What version 1 held applications to is looked at when it is taken over.
        let origins = self.settings.allow_origins.iter().all(|origin| origin::check(origin).is_ok())
            && (self.version < VERSION || self.memory.pins_are_origins());
        let unique = self.memory.is_unique() && is_unique(&self.applications) && is_unique(&self.labels);
        if !self.settings.in_range() {
            Some(Fault::Seconds)
        } else if !origins {
            Some(Fault::Origin)
        } else if !unique {
            Some(Fault::Repeated)
        } else {
            self.memory().fault().filter(|_| self.version == VERSION).map(Fault::Memory)
        }
    }
}

/// What an application may be held to.
fn is_pinnable(text: &str) -> bool {
    origin::check_pin(text).is_ok()
}

/// Something of ours with the members that another version added to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Kept<T> {
    #[serde(flatten)]
    known: T,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// [`Memory`], with what another version added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct KeptMemory {
    modes: Vec<Kept<ModeOf>>,
    rules: Vec<Kept<Rule>>,
    blocked: Vec<Kept<BlockedAgent>>,
    pins: Vec<Kept<Pin>>,
    generations: Vec<Kept<Generation>>,
    floors: Vec<Kept<Floor>>,
    issued: Vec<Kept<Issued>>,
    seen: Vec<Kept<SeenRow>>,
    pairs: Vec<Kept<Pair>>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// [`Seen`] as it is in the file: version 1 did not say from where the application came. Such a row says nothing, and goes
/// when the file is taken over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SeenRow {
    application: ClientId,
    tool: ToolName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    fingerprint: Fingerprint,
}

impl SeenRow {
    fn seen(self) -> Option<Seen> {
        let Self { application, tool, origin, fingerprint } = self;
        Some(Seen { application, tool, origin: origin?, fingerprint })
    }
}

impl From<Seen> for SeenRow {
    fn from(Seen { application, tool, origin, fingerprint }: Seen) -> Self {
        Self { application, tool, origin: Some(origin), fingerprint }
    }
}

impl KeptMemory {
    fn known(&self) -> Memory {
        Memory {
            modes: known(&self.modes),
            rules: known(&self.rules),
            blocked: known(&self.blocked),
            pins: known(&self.pins),
            generations: known(&self.generations),
            floors: known(&self.floors),
            issued: known(&self.issued),
            seen: known(&self.seen).into_iter().filter_map(SeenRow::seen).collect(),
            pairs: known(&self.pairs),
        }
    }

    fn set(&mut self, memory: Memory) {
        // Named one by one, so that a new member cannot be forgotten here.
        let Memory { modes, rules, blocked, pins, generations, floors, issued, seen, pairs } = memory;
        set(&mut self.modes, modes);
        set(&mut self.rules, rules);
        set(&mut self.blocked, blocked);
        set(&mut self.pins, pins);
        set(&mut self.generations, generations);
        set(&mut self.floors, floors);
        set(&mut self.issued, issued);
        set(&mut self.seen, seen.into_iter().map(SeenRow::from).collect());
        set(&mut self.pairs, pairs);
        self.drop_passing();
        self.drop_no_origins();
    }

    fn drop_no_origins(&mut self) {
        self.pins.iter_mut().for_each(|pin| pin.known.origins.retain(|origin| is_pinnable(origin)));
        self.pins.retain(|pin| !pin.known.origins.is_empty());
    }

    fn pins_are_origins(&self) -> bool {
        self.pins.iter().all(|pin| pin.known.origins.iter().all(|origin| is_pinnable(origin)))
            && self.pins.iter().all(|pin| !pin.known.origins.is_empty())
    }

    fn drop_passing(&mut self) {
        self.modes.retain(|mode| mode_lasts(&mode.known));
        self.rules.retain(|rule| match rule.known.verdict {
            Verdict::Allow => rule.known.until == Until::Always,
            Verdict::Deny => rule.known.until != Until::Quit,
        });
        self.blocked.retain(|agent| agent.known.until != Until::Quit);
    }

    fn is_unique(&self) -> bool {
        is_unique(&self.modes)
            && is_unique(&self.rules)
            && is_unique(&self.blocked)
            && is_unique(&self.pins)
            && is_unique(&self.generations)
            && is_unique(&self.floors)
            && is_unique(&self.issued)
            && is_unique(&self.seen)
            && is_unique(&self.pairs)
    }
}

/// "Allow all" always has an end, so it never lasts.
fn mode_lasts(mode: &ModeOf) -> bool {
    match mode.mode {
        Mode::Ask | Mode::AskExceptReadOnly => mode.until == Until::Always,
        Mode::AllowAll => false,
        Mode::Block => mode.until != Until::Quit,
    }
}

/// What tells entries of one list apart.
trait Entry {
    type Key: Eq + Hash;

    fn key(&self) -> Self::Key;
}

fn known<T: Clone>(list: &[Kept<T>]) -> Vec<T> {
    list.iter().map(|entry| entry.known.clone()).collect()
}

/// Replaces a list. An entry about the same thing keeps what another version added to it. Of two about the same thing
/// the later counts.
fn set<T: Entry>(list: &mut Vec<Kept<T>>, new: Vec<T>) {
    let old = std::mem::take(list).into_iter();
    let mut others: HashMap<_, _> = old.map(|entry| (entry.known.key(), entry.other)).collect();
    let mut seen = HashSet::new();
    for known in new.into_iter().rev().filter(|known| seen.insert(known.key())) {
        let other = others.remove(&known.key()).unwrap_or_default();
        list.push(Kept { known, other });
    }
    list.reverse();
}

fn is_unique<T: Entry>(list: &[Kept<T>]) -> bool {
    let mut seen = HashSet::new();
    list.iter().all(|entry| seen.insert(entry.known.key()))
}

macro_rules! entry {
    ($type:ident by $($part:ident: $key:ty),+) => {
        impl Entry for $type {
            type Key = ($($key,)+);

            fn key(&self) -> Self::Key {
                ($(self.$part.clone(),)+)
            }
        }
    };
}

entry!(ModeOf by application: ClientId);
entry!(Rule by id: String);
entry!(BlockedAgent by application: ClientId, label: Option<Label>);
entry!(Pin by application: ClientId);
entry!(Generation by application: ClientId, role: Role);
entry!(Floor by application: ClientId, role: Role, label: Option<Label>);
entry!(Issued by application: ClientId, role: Role, label: Option<Label>);
entry!(SeenRow by application: ClientId, tool: ToolName, origin: Option<String>);
entry!(Pair by host: Label, application: Option<ClientId>);
entry!(KnownApplication by application: ClientId);
entry!(KnownLabel by application: ClientId, role: Role, label: Option<Label>);

#[cfg(test)]
pub(crate) mod tests;
