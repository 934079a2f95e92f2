//! MCP without a transport: which era a message belongs to, and what it says in each. Nothing here knows HTTP: what a
//! transport repeats of the body reaches it through [`Mirror`].

pub mod mirror;

/// One header as the transport carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirrored<'a> {
    /// Not there.
    Absent,
    /// There once; the bytes without surrounding white space.
    Once(&'a [u8]),
    /// There more than once.
    Repeated,
}

/// What a transport repeats of a message outside its body: HTTP's headers (MCP 2026-07-28, Streamable HTTP: Request
/// Metadata).
pub trait Mirror {
    /// The header of this lower-case name.
    fn header(&self, name: &str) -> Mirrored<'_>;
}
