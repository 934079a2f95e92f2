//! What the application wants right now, as one value that the connection follows.

use std::{collections::HashMap, sync::Arc};

use serde_json::value::RawValue;
use tokio::sync::watch;

use crate::tool::{Handler, Tool};

/// The tools and words of one `register`.
#[derive(Default)]
pub(crate) struct Declaration {
    /// Counts up; tells declarations apart.
    pub(crate) revision: u64,
    pub(crate) instructions: Option<String>,
    pub(crate) definitions: Vec<Box<RawValue>>,
    handlers: HashMap<String, Handler>,
}

impl Declaration {
    pub(crate) fn new(instructions: Option<String>, tools: impl IntoIterator<Item = Tool>) -> Self {
        Self { instructions, ..Self::default() }.with_tools(tools)
    }

    /// The next revision, with other tools.
    pub(crate) fn with_tools(&self, tools: impl IntoIterator<Item = Tool>) -> Self {
        let mut next = Self { revision: self.revision + 1, instructions: self.instructions.clone(), ..Self::default() };
        for tool in tools {
            next.definitions.push(tool.definition);
            next.handlers.insert(tool.name, tool.handler);
        }
        next
    }

    /// The next revision, with other words.
    pub(crate) fn with_instructions(&self, instructions: Option<String>) -> Self {
        let (definitions, handlers) = (self.definitions.clone(), self.handlers.clone());
        Self { revision: self.revision + 1, instructions, definitions, handlers }
    }

    pub(crate) fn handler(&self, name: &str) -> Option<&Handler> {
        self.handlers.get(name)
    }
}

/// What the handle orders. In a watch channel the newest order stands, and a handle that was dropped is seen too.
pub(crate) struct Wanted {
    pub(crate) declaration: Arc<Declaration>,
    /// Counts the orders to come back after a replacement.
    pub(crate) take_overs: u64,
    pub(crate) closing: bool,
}

/// Resolves when the application wants to end: it said so, or dropped its handle.
pub(crate) async fn left(mut wanted: watch::Receiver<Wanted>) {
    // An error means that the handle is gone, which is an order too.
    let _ = wanted.wait_for(|wanted| wanted.closing).await;
}
