//! What an application declares: its tools and the words for the agent, as one accepted `register` said them.
//!
//! Made by `client::register`, which checks the rules; held by the hub; read by the codecs.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use clientmcp_protocol::{
    control::Hints,
    ids::{Fingerprint, ToolName},
    shown::shown,
};
use sha2::{Digest, Sha256};

use crate::{
    revision::Era,
    text::{self, Object, Text},
};

/// One register. Replaces everything declared before.
#[derive(Debug)]
pub struct Declaration {
    /// In the order they are listed.
    tools: Vec<Arc<Tool>>,
    /// A JSON string, as it was written.
    instructions: Option<Text>,
    places: HashMap<ToolName, usize>,
    fingerprint: Fingerprint,
    tools_bytes: usize,
    lists: [OnceLock<Bytes>; 2],
}

/// The same texts are the same declaration.
impl PartialEq for Declaration {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl Declaration {
    /// Tool names must be distinct; of equal ones the last would be found.
    pub fn new(tools: Vec<Tool>, instructions: Option<Text>) -> Self {
        let tools: Vec<_> = tools.into_iter().map(Arc::new).collect();
        let places = tools.iter().enumerate().map(|(place, tool)| (tool.name.clone(), place)).collect();
        let fingerprint = fingerprint(tools.iter().map(|tool| &tool.text).chain(&instructions));
        let tools_bytes = tools.iter().map(|tool| tool.text.as_str().len()).sum();
        Self { tools, instructions, places, fingerprint, tools_bytes, lists: Default::default() }
    }

    /// The tools as a list that an era's agents read, made once and shared by all of them.
    pub fn list(&self, era: Era, make: impl FnOnce(&[Arc<Tool>]) -> String) -> Bytes {
        let [modern, legacy] = &self.lists;
        let list = match era {
            Era::Modern => modern,
            Era::Legacy => legacy,
        };
        list.get_or_init(|| make(&self.tools).into()).clone()
    }

    /// Bytes of all definitions together.
    pub fn tools_bytes(&self) -> usize {
        self.tools_bytes
    }

    /// The tools in declared order.
    pub fn tools(&self) -> &[Arc<Tool>] {
        &self.tools
    }

    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.places.get(name).and_then(|place| self.tools.get(*place))
    }

    /// Over all texts: another one is another declaration.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
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
    /// SHA-256 of the definition's text: an approval of one definition is none of another.
    pub fingerprint: Fingerprint,
    /// The application's own claims.
    pub hints: Hints,
    /// What it says of itself, made harmless and cut once, for whoever shows it.
    pub words: Words,
    /// An error result of ours must then carry no `structuredContent`: a strict agent would check it against the schema.
    pub has_output_schema: bool,
}

impl Tool {
    /// Reads what the text says besides; the text is a definition whose rules were checked.
    pub fn new(name: ToolName, text: Text, mirrored: Vec<MirroredParam>) -> Self {
        let fingerprint = Fingerprint(Sha256::digest(text.as_str()).into());
        let (hints, words, has_output_schema) = match text.object() {
            Ok(definition) => (hints(&definition), words(&definition), definition.get("outputSchema").is_some()),
            Err(_) => (Hints::default(), Words::default(), false),
        };
        Self { name, text, mirrored, fingerprint, hints, words, has_output_schema }
    }
}

/// A tool's words for people, made harmless and cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// What it calls itself.
    pub title: Option<String>,
    /// What it says it does.
    pub description: Option<String>,
    /// How much it says it matters (`docs/protocol.md`, "Approvals").
    pub risk: Option<String>,
}

fn words(definition: &Object<'_>) -> Words {
    let word = |object: &Object<'_>, name: &str| object.get(name).and_then(text::string).map(|word| shown(&word));
    let meta = definition.get("_meta").and_then(|meta| Object::parse(meta.get()).ok());
    Words {
        title: word(definition, "title"),
        description: word(definition, "description"),
        risk: meta.and_then(|meta| word(&meta, "io.github.clientmcp/risk")),
    }
}

fn fingerprint<'a>(texts: impl Iterator<Item = &'a Text>) -> Fingerprint {
    let mut hash = Sha256::new();
    for text in texts {
        // The length keeps two texts from being read as one.
        hash.update((text.as_str().len() as u64).to_le_bytes());
        hash.update(text.as_str());
    }
    Fingerprint(hash.finalize().into())
}

fn hints(definition: &Object<'_>) -> Hints {
    let annotations = definition.get("annotations").and_then(|annotations| Object::parse(annotations.get()).ok());
    let hint = |name: &str| match annotations.as_ref()?.get(name)?.get() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    };
    Hints {
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        idempotent: hint("idempotentHint"),
        open_world: hint("openWorldHint"),
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
