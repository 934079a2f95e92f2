//! What is in force: modes, rules, blocks, and what the person has seen. Everything timed ends by the monotonic or the wall
//! clock, whichever is first, and a wall clock that jumps back ends every timed grant.

use std::{collections::HashMap, time::Duration};

use clientmcp_protocol::{
    control::{BlockedAgent, Memory, Millis, Mode, ModeOf, Rule, Seen, Until, Verdict},
    ids::{ClientId, Fingerprint, ToolName},
    limits::{ALLOW_ALL_TIME, SEEN},
    origin::NOBODY,
};
use tokio::time::Instant;

use crate::call::Agent;

/// How far back the wall clock may go before it counts as a jump: clocks are corrected by less.
const JUMP: Duration = Duration::from_secs(5);

/// One moment by both clocks. The policy reads neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Runs on, whatever somebody sets.
    pub mono: Instant,
    /// What people mean.
    pub wall: Millis,
}

/// Who answers where asking is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// Nothing is asked.
    Off,
    /// Nobody: what needs an answer is refused.
    Nobody,
    /// A person, at a desktop.
    Person,
}

/// Where a person meets a tool: the same words from another origin are somebody else's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Whose tool.
    pub application: ClientId,
    /// Which tool.
    pub tool: ToolName,
    /// Where the application came from.
    pub origin: String,
}

/// A value with an end.
#[derive(Clone, Debug)]
struct Timed<T> {
    value: T,
    until: Until,
    /// The end by the wall clock, for one that is timed.
    wall: Option<Millis>,
    /// The end by the monotonic clock.
    mono: Option<Instant>,
}

impl<T> Timed<T> {
    fn new(value: T, until: Until, now: Now) -> Self {
        let wall = match until {
            Until::Always | Until::Quit => None,
            Until::At(end) => Some(end),
        };
        Self::ending(value, until, wall, now)
    }

    /// The same, with an end of its own beside `until`.
    fn ending(value: T, until: Until, wall: Option<Millis>, now: Now) -> Self {
        let length = |end: Millis| Duration::from_millis(end.0.saturating_sub(now.wall.0));
        let mono = wall.and_then(|end| now.mono.checked_add(length(end)));
        Self { value, until, wall, mono }
    }

    fn is_timed(&self) -> bool {
        self.wall.is_some()
    }

    fn has_ended(&self, now: Now) -> bool {
        self.wall.is_some_and(|end| end <= now.wall) || self.mono.is_some_and(|end| end <= now.mono)
    }

    fn ends(&self) -> (Option<Instant>, Option<Millis>) {
        (self.mono, self.wall)
    }
}

/// See the module.
#[derive(Debug)]
pub struct Policy {
    asking: Asking,
    paused: bool,
    modes: HashMap<ClientId, Timed<Mode>>,
    rules: Vec<Timed<Rule>>,
    rules_revision: u64,
    blocked: HashMap<Agent, Timed<()>>,
    seen: HashMap<Place, Fingerprint>,
    last_wall: Millis,
    /// Nothing ends before these, by either clock.
    quiet_until: (Option<Instant>, Option<Millis>),
}

impl Policy {
    /// Nothing remembered.
    pub fn new(asking: Asking) -> Self {
        Self {
            asking,
            paused: false,
            modes: HashMap::new(),
            rules: Vec::new(),
            rules_revision: 0,
            blocked: HashMap::new(),
            seen: HashMap::new(),
            last_wall: Millis(0),
            quiet_until: (None, None),
        }
    }

    /// Takes over what was written down and has not ended. An `allow_all` without an end, or with one that is further away
    /// than it can be, is none.
    pub fn remember(&mut self, memory: &Memory, now: Now) {
        for mode in &memory.modes {
            if (mode.mode, mode.until, mode.ends) != (Mode::AllowAll, Until::Quit, None) {
                self.put_mode(mode.clone(), now);
            }
        }
        for agent in &memory.blocked {
            let (application, label) = (agent.application.clone(), agent.label.clone());
            self.blocked.insert(Agent { application, label }, Timed::new((), agent.until, now));
        }
        for Seen { application, tool, origin, fingerprint } in memory.seen.clone() {
            self.mark_seen(Place { application, tool, origin }, fingerprint);
        }
        self.set_rules(memory.rules.clone(), now);
        self.tick(now);
    }

    /// What is to be written down, as far as it is this policy's.
    pub fn write_down(&self, memory: &mut Memory) {
        memory.modes = self.modes();
        memory.rules = self.rules().cloned().collect();
        memory.blocked = self.blocked();
        let mut seen: Vec<_> = self.seen.iter().collect();
        seen.sort();
        memory.seen = seen
            .into_iter()
            .map(|(Place { application, tool, origin }, fingerprint)| Seen {
                application: application.clone(),
                tool: tool.clone(),
                origin: origin.clone(),
                fingerprint: *fingerprint,
            })
            .collect();
    }

    /// Ends what is over; a wall clock that jumped back ends every timed grant. Says whether anything changed.
    pub fn tick(&mut self, now: Now) -> bool {
        let jumped = now.wall.0.saturating_add(millis(JUMP)) < self.last_wall.0;
        self.last_wall = now.wall;
        let (mono, wall) = self.quiet_until;
        if !jumped && mono.is_none_or(|end| now.mono < end) && wall.is_none_or(|end| now.wall < end) {
            return false;
        }
        let (rules_before, others) = (self.rules.len(), (self.modes.len(), self.blocked.len()));
        self.modes.retain(|_, mode| {
            let grants = mode.value != Mode::Block;
            !(mode.has_ended(now) || (jumped && grants && mode.is_timed()))
        });
        self.rules.retain(|rule| {
            let grants = rule.value.verdict == Verdict::Allow;
            !(rule.has_ended(now) || (jumped && grants && rule.is_timed()))
        });
        self.blocked.retain(|_, block| !block.has_ended(now));
        let rules_ended = rules_before != self.rules.len();
        if rules_ended {
            self.rules_revision += 1;
        }
        self.look_ahead();
        rules_ended || others != (self.modes.len(), self.blocked.len())
    }

    /// Something timed came or went.
    fn look_ahead(&mut self) {
        let (modes, rules) = (self.modes.values().map(Timed::ends), self.rules.iter().map(Timed::ends));
        let ends: Vec<_> = modes.chain(rules).chain(self.blocked.values().map(Timed::ends)).collect();
        let (mono, wall) = (ends.iter().filter_map(|ends| ends.0).min(), ends.iter().filter_map(|ends| ends.1).min());
        self.quiet_until = (mono, wall);
    }

    /// The next moment at which [`Policy::tick`] ends something.
    pub fn next_end(&self) -> Option<Instant> {
        self.quiet_until.0
    }

    /// Who answers.
    pub fn asking(&self) -> Asking {
        self.asking
    }

    /// Whether everything is paused.
    pub fn paused(&self) -> bool {
        self.paused
    }

    /// Pauses or resumes.
    pub fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
    }

    /// The mode of an application: `ask` unless another one was set and has not ended.
    pub fn mode(&self, application: &ClientId, now: Now) -> Mode {
        let mode = self.modes.get(application).filter(|mode| !mode.has_ended(now));
        mode.map_or(Mode::Ask, |mode| mode.value)
    }

    /// Sets a mode. `allow_all` must have an end, within a day: without one nothing is set.
    pub fn set_mode(&mut self, application: ClientId, mode: Mode, until: Until, now: Now) -> bool {
        let set = self.put_mode(ModeOf { application, mode, until, ends: None }, now);
        self.look_ahead();
        set
    }

    fn put_mode(&mut self, ModeOf { application, mode, until, ends }: ModeOf, now: Now) -> bool {
        let timed = match mode {
            Mode::Ask => {
                self.modes.remove(&application);
                return true;
            }
            Mode::AllowAll => {
                let latest = Millis(now.wall.0.saturating_add(millis(ALLOW_ALL_TIME)));
                let end = match until {
                    Until::Always => return false,
                    Until::At(end) => end,
                    Until::Quit => ends.unwrap_or(latest),
                };
                // One that was set before is further away when the clock went back meanwhile.
                if end > latest {
                    return false;
                }
                Timed::ending(mode, until, Some(end), now)
            }
            Mode::AskExceptReadOnly | Mode::Block => Timed::new(mode, until, now),
        };
        self.modes.insert(application, timed);
        true
    }

    /// Modes other than `ask`, by client ID.
    pub fn modes(&self) -> Vec<ModeOf> {
        let mode = |(application, mode): (&ClientId, &Timed<Mode>)| ModeOf {
            application: application.clone(),
            mode: mode.value,
            until: mode.until,
            ends: mode.wall.filter(|_| mode.until == Until::Quit),
        };
        let mut modes: Vec<_> = self.modes.iter().map(mode).collect();
        modes.sort_by(|one, other| one.application.cmp(&other.application));
        modes
    }

    /// All rules.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|rule| &rule.value)
    }

    /// Counts up with each change of the rules.
    pub fn rules_revision(&self) -> u64 {
        self.rules_revision
    }

    /// Rules that have not ended.
    pub(super) fn rules_in_force(&self, now: Now) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| !rule.has_ended(now)).map(|rule| &rule.value)
    }

    /// Replaces all rules.
    pub fn set_rules(&mut self, rules: Vec<Rule>, now: Now) {
        self.rules_revision += 1;
        self.rules = rules.into_iter().map(|rule| Timed::new(rule.clone(), rule.until, now)).collect();
        self.look_ahead();
    }

    /// Adds a rule.
    pub fn add_rule(&mut self, rule: Rule, now: Now) {
        self.rules_revision += 1;
        let until = rule.until;
        self.rules.push(Timed::new(rule, until, now));
        self.look_ahead();
    }

    /// Whether an agent is blocked.
    pub fn is_blocked(&self, agent: &Agent, now: Now) -> bool {
        self.blocked.get(agent).is_some_and(|block| !block.has_ended(now))
    }

    /// Blocks an agent.
    pub fn block(&mut self, agent: Agent, until: Until, now: Now) {
        self.blocked.insert(agent, Timed::new((), until, now));
        self.look_ahead();
    }

    /// Lifts a block. Says whether there was one.
    pub fn unblock(&mut self, agent: &Agent) -> bool {
        let lifted = self.blocked.remove(agent).is_some();
        self.look_ahead();
        lifted
    }

    /// Agents that are blocked, in order.
    pub fn blocked(&self) -> Vec<BlockedAgent> {
        let blocked = |(agent, block): (&Agent, &Timed<()>)| BlockedAgent {
            application: agent.application.clone(),
            label: agent.label.clone(),
            until: block.until,
        };
        let mut blocked: Vec<_> = self.blocked.iter().map(blocked).collect();
        blocked.sort_by(|one, other| (&one.application, &one.label).cmp(&(&other.application, &other.label)));
        blocked
    }

    /// The definition of a tool that the person has seen last, from this origin.
    pub fn seen(&self, place: &Place) -> Option<Fingerprint> {
        self.seen.get(place).copied()
    }

    /// The person has seen this definition. Beyond the limit nothing is added: what is not remembered is asked about.
    pub fn mark_seen(&mut self, place: Place, fingerprint: Fingerprint) {
        // That origin may be any page at all.
        if place.origin == NOBODY {
            return;
        }
        if self.seen.len() < SEEN || self.seen.contains_key(&place) {
            self.seen.insert(place, fingerprint);
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
