//! The builder: who the application is, where its bridge is, and what it offers.

use crate::{
    declaration::Declaration,
    handle::{self, Handle},
    life::Life,
    reconnect::Backoff,
    token::{Token, TokenSource},
    tool::Tool,
};

/// Where a bridge of this machine listens.
pub const DEFAULT_URL: &str = "ws://127.0.0.1:27182/connect";

/// An application to be connected.
#[derive(Clone, Debug)]
#[must_use = "an application does nothing until it connects"]
pub struct Application {
    url: String,
    tokens: TokenSource,
    instructions: Option<String>,
    tools: Vec<Tool>,
}

impl Application {
    /// An application with a client token, which names it.
    pub fn new(token: impl Into<Token>) -> Self {
        Self::with(TokenSource::Fixed(token.into()))
    }

    /// An application that fetches a token for every connection, from its backend for example. A function that fails is
    /// called again for the next try; its error is its own to report.
    pub fn with_token_from<F, Fut, T, E>(fetch: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: Into<Token>,
    {
        Self::with(TokenSource::fetched(fetch))
    }

    fn with(tokens: TokenSource) -> Self {
        Self { url: DEFAULT_URL.into(), tokens, instructions: None, tools: Vec::new() }
    }

    /// The bridge's client endpoint; [`DEFAULT_URL`] when nothing else is said.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// What an agent should know before it calls any tool.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds a tool. Agents see the tools in this order.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds tools.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Connects, and stays connected until the handle is closed or dropped.
    ///
    /// It returns at once: [`Handle::online`] tells when agents can call. What cannot work, such as a token that no
    /// header can hold, shows there as [`Ended::Refused`](crate::Ended::Refused).
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, as every function that spawns a task.
    pub fn connect(self) -> Handle {
        let Self { url, tokens, instructions, tools } = self;
        let (handle, orders) = handle::channel(Declaration::new(instructions, tools));
        let life = Life { url, tokens, orders, backoff: Backoff::default(), renewed: false };
        tokio::spawn(life.run());
        handle
    }
}
