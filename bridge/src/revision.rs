//! The revisions of MCP that are served, and the two eras they fall into (`docs/protocol.md`, "Era and revision").

/// A revision of MCP that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    /// Stateless, each request complete in itself.
    V2026_07_28,
    /// With `initialize`.
    V2025_11_25,
    /// With `initialize`; the first to demand the version header.
    V2025_06_18,
    /// With `initialize` and batches.
    V2025_03_26,
}

/// Which of the two codecs speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// 2026-07-28.
    Modern,
    /// 2025-11-25 and earlier.
    Legacy,
}

impl Revision {
    /// All of them, newest first: the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18, Self::V2025_03_26];

    /// What an `initialize` for an unknown revision is answered with.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2026_07_28 => "2026-07-28",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_03_26 => "2025-03-26",
        }
    }

    /// The revision of this name, if it is served.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == name)
    }

    /// Its era.
    pub const fn era(self) -> Era {
        match self {
            Self::V2026_07_28 => Era::Modern,
            Self::V2025_11_25 | Self::V2025_06_18 | Self::V2025_03_26 => Era::Legacy,
        }
    }
}
