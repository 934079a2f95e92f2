//! The first lines at the local door (`docs/protocol.md`, "Local door"). After them a connection is MCP, or over.

use serde::{Deserialize, Serialize};

use crate::{
    control::{Count, Millis},
    ids::{ClientId, Label, Role},
};

/// The version of these lines. Another one is told what to update.
pub const DOOR_VERSION: u32 = 1;

/// What somebody at the door says first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`DOOR_VERSION`].
    pub door: u32,
    /// The program's own version, for people.
    pub version: String,
    /// What it wants.
    #[serde(flatten)]
    pub want: Want,
}

/// What can be had at the door.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "want", rename_all = "snake_case")]
pub enum Want {
    /// MCP in stdio framing with one application.
    Mcp {
        /// What the host calls itself.
        host: Label,
        /// Which application.
        application: ClientId,
    },
    /// The applications whose tools the host may call.
    Apps {
        /// What the host calls itself.
        host: Label,
    },
    /// A token of an hour for a host that asks for headers.
    Headers {
        /// What the host calls itself.
        host: Label,
        /// Which application.
        application: ClientId,
        /// The port that the token is for, if whoever asks knows.
        #[serde(default)]
        port: Option<u16>,
    },
    /// A token, after a question each time.
    Token {
        /// For which application.
        application: ClientId,
        /// Of which role.
        role: Role,
        /// What the agent is to be called.
        #[serde(deserialize_with = "Option::deserialize")]
        label: Option<Label>,
        /// Seconds until it ends; none for never, which has to be said.
        #[serde(deserialize_with = "Option::deserialize")]
        seconds: Option<u64>,
    },
    /// Which bridge this is.
    Status,
}

impl Want {
    /// What the agent is, or is to be, called.
    pub fn label_mut(&mut self) -> Option<&mut Label> {
        match self {
            Self::Mcp { host, .. } | Self::Apps { host } | Self::Headers { host, .. } => Some(host),
            Self::Token { label, .. } => label.as_mut(),
            Self::Status => None,
        }
    }
}

/// What the bridge says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// [`DOOR_VERSION`].
    pub door: u32,
    /// The bridge's own version, for people.
    pub version: String,
    /// What it says.
    #[serde(flatten)]
    pub said: Said,
}

/// The bridge's answers. Each but `asking` is the last line, or the last before MCP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum Said {
    /// The person is being asked.
    Asking,
    /// From the next line on it is MCP.
    Open,
    /// It is not to be had.
    Refused {
        /// A stable code.
        code: DoorCode,
        /// What happened and what to do, in one sentence.
        sentence: String,
    },
    /// A token.
    Token {
        /// The token.
        token: String,
        /// When it ends.
        ends: Option<Millis>,
    },
    /// The applications whose tools the host may call, by client ID.
    Apps {
        /// Each once.
        apps: Vec<App>,
    },
    /// Which bridge this is.
    Status {
        /// Where agents call.
        mcp: String,
        /// Where applications connect.
        connect: String,
        /// Its process.
        pid: u32,
        /// Whether calls are answered `paused`.
        paused: bool,
    },
}

/// An application as a host sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct App {
    /// Its client ID.
    pub app: ClientId,
    /// Whether it is connected and has declared its tools.
    pub connected: bool,
    /// How many tools it declares.
    pub tools: Count,
}

/// Why something is not to be had at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DoorCode {
    /// The other end speaks another version of these lines.
    Version,
    /// The first line is no hello, or did not come.
    Hello,
    /// The person said no, now or earlier.
    Declined,
    /// Nobody answered in time.
    Unanswered,
    /// As many are at the door as may be, or as many questions are open.
    Busy,
    /// The bridge listens on another port than the one that was named.
    Port,
    /// A token cannot be made with these values.
    Value,
    /// The bridge shuts down.
    Closing,
}
