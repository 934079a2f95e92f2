//! A bridge, an application and its agent, as most tests need them.

use serde_json::Value;

use super::{
    agent::Agent,
    application::{Application, Call},
    http::{Request, Response},
    serve::Serve,
    tokens, within,
};

/// The client ID of a scene.
pub(crate) const CLIENT: &str = "alice-wallet";

/// One tool that takes anything.
pub(crate) const TOOLS: &str = r#"[{"name":"getBalance","inputSchema":{"type":"object"}}]"#;

/// A bridge and an agent of `alice-wallet`, which is not connected.
pub(crate) struct Scene {
    pub(crate) serve: Serve,
    pub(crate) agent: Agent,
}

impl Scene {
    /// A bridge that allows every call.
    pub(crate) async fn offline() -> Self {
        Self::around(Serve::start().await)
    }

    /// A bridge with these arguments.
    pub(crate) async fn with(arguments: &[&str]) -> Self {
        Self::around(Serve::with(arguments).await)
    }

    fn around(serve: Serve) -> Self {
        let agent = Agent::new(serve.port, &tokens::agent(CLIENT));
        Self { serve, agent }
    }

    /// A bridge that allows every call, and the application with these tools.
    pub(crate) async fn online(tools: &str) -> (Self, Application) {
        let scene = Self::offline().await;
        let application = scene.application(tools).await;
        (scene, application)
    }

    /// The application, connected with these tools.
    pub(crate) async fn application(&self, tools: &str) -> Application {
        Application::serving(&self.serve, CLIENT, tools).await
    }
}

/// Sends a call that the application answers with this result.
pub(crate) async fn answered(request: &Request, application: &mut Application, result: &str) -> (Call, Response) {
    let answer = async {
        let call = application.call().await;
        application.answer(&call, result).await;
        call
    };
    let (call, response) = within(async { tokio::join!(answer, request.send()) }).await;
    (call, response)
}

/// Fails when anything but the answer to this ping has reached the application: nothing was sent before it.
pub(crate) async fn heard_nothing(application: &mut Application) {
    application.send(r#"{"type":"ping"}"#).await;
    assert_eq!(application.text().await, r#"{"type":"pong"}"#);
}

/// A legacy ping with arrays inside each other, so many in all with its two objects.
pub(crate) fn ping_deep(agent: &Agent, depth: usize) -> Request {
    let arrays = depth - 2;
    agent.legacy("ping", &format!(r#""deep":{}{}"#, "[".repeat(arrays), "]".repeat(arrays)))
}

/// The `serverInfo` of a scene's results, whose version is the one under test.
pub(crate) fn server_info() -> Value {
    serde_json::json!({"name": "clientmcp", "title": CLIENT, "version": env!("CARGO_PKG_VERSION")})
}
