//! What the person set.

use std::path::PathBuf;

use clientmcp_protocol::{control, limits::CALL_TIME};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The port of a new installation.
const PORT: u16 = 27182;

/// Seconds that the person has for a question when nothing else was set.
const QUESTION_SECONDS: u32 = 120;

/// What the person set. A member that the file lacks has its default, the stricter value where there is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The port on 127.0.0.1.
    pub port: u16,
    /// From where applications may connect.
    pub client_origins: control::ClientOrigins,
    /// Origins of web pages that may send agent requests, beside the bridge's own.
    pub allow_origins: Vec<String>,
    /// Seconds that an application has for a call: 1 to 3600.
    pub call_seconds: u32,
    /// Seconds that the person has for a question: 10 to 600.
    pub question_seconds: u32,
    /// Light or dark.
    pub theme: Theme,
    /// Whether the app starts when the person logs in.
    pub start_at_login: bool,
    /// Where secrets are kept.
    pub secret_store: SecretStore,
    /// Members that another version wrote.
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

/// How windows look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// As the system does.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Where secrets are kept. Nothing falls back from one to another by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretStore {
    /// In the operating system's keychain.
    #[default]
    Keychain,
    /// In memory, until the app quits.
    Session,
    /// In this file.
    File(PathBuf),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            port: PORT,
            client_origins: control::ClientOrigins::Pinned,
            allow_origins: Vec::new(),
            call_seconds: u32::try_from(CALL_TIME.as_secs()).unwrap_or(QUESTION_SECONDS),
            question_seconds: QUESTION_SECONDS,
            theme: Theme::System,
            start_at_login: false,
            secret_store: SecretStore::Keychain,
            other: Map::new(),
        }
    }
}

impl Settings {
    /// The part that the bridge is given.
    pub fn for_bridge(&self) -> control::Settings {
        control::Settings {
            client_origins: self.client_origins,
            allow_origins: self.allow_origins.clone(),
            call_seconds: self.call_seconds,
            question_seconds: self.question_seconds,
        }
    }

    pub(crate) fn in_range(&self) -> bool {
        (1..=3600).contains(&self.call_seconds) && (10..=600).contains(&self.question_seconds)
    }
}
