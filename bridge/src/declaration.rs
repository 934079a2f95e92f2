//! What an application declares: its tools and the words for the agent, as one accepted `register` said them.
//!
//! Made by `client::register`, which checks the rules; held by the hub; read by the codecs.

use std::{collections::HashMap, sync::Arc};

use clientmcp_protocol::ids::{Fingerprint, ToolName};
use sha2::{Digest, Sha256};

use crate::text::Text;

/// One register. Replaces everything declared before.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Declaration {
    /// In the order they are listed.
    tools: Vec<Arc<Tool>>,
    /// A JSON string, as it was written.
    instructions: Option<Text>,
    places: HashMap<ToolName, usize>,
}

impl Declaration {
    /// Tool names must be distinct; of equal ones the last would be found.
    pub fn new(tools: Vec<Tool>, instructions: Option<Text>) -> Self {
        let tools: Vec<_> = tools.into_iter().map(Arc::new).collect();
        let places = tools.iter().enumerate().map(|(place, tool)| (tool.name.clone(), place)).collect();
        Self { tools, instructions, places }
    }

    /// The tools in declared order.
    pub fn tools(&self) -> &[Arc<Tool>] {
        &self.tools
    }

    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.places.get(name).and_then(|place| self.tools.get(*place))
    }

    /// Words for the agent, as a JSON string.
    pub fn instructions(&self) -> Option<&Text> {
        self.instructions.as_ref()
    }
}

/// One tool's definition.
#[derive(Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: ToolName,
    /// The whole MCP Tool object.
    pub text: Text,
    /// Arguments that a modern agent mirrors into `Mcp-Param-*` headers.
    pub mirrored: Vec<MirroredParam>,
    /// An error result of ours must then carry no `structuredContent`: a strict agent would check it against the schema.
    pub has_output_schema: bool,
}

impl Tool {
    /// SHA-256 of the definition's text: an approval of one definition is none of another.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint(Sha256::digest(self.text.as_str()).into())
    }
}

/// An `x-mcp-header` annotation (MCP 2026-07-28, Streamable HTTP: Custom Headers from Tool Parameters).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredParam {
    /// The whole header name in lower case: `mcp-param-region`.
    pub header: String,
    /// Member names from the root of `arguments` to the value.
    pub path: Vec<String>,
    /// How the header's value is compared.
    pub kind: ParamKind,
}

/// The types a mirrored parameter can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// Compared character by character.
    String,
    /// Compared by value, within +-(2^53 - 1).
    Integer,
    /// `true` or `false`.
    Boolean,
}
