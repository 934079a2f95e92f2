//! Revoked tokens: what is refused from then on, and what is cut off (`docs/protocol.md`, "Revocation").

use serde_json::{Value, json};

use crate::support::{
    agent::Agent,
    application::{Application, Call},
    desktop::{DONE, Desktop, calling, list, nothing_done, perhaps_done, result, unanswered},
    scene::{CLIENT, TOOLS, heard_nothing},
    stream::{Sent, Stream, cancelled},
    tokens,
};

const OTHER_SECRET: &str = "another secret of the tests, not short";

fn revoke(role: &str, which: Value) -> Value {
    let mut command = json!({"type": "revoke", "application": CLIENT, "role": role});
    command["which"] = which;
    command
}

/// An agent with everything that can be cut off: a waiting call, a sent one, a stream that has begun, and listeners.
struct Busy {
    agent: Agent,
    waiting: Vec<(Sent, Value)>,
    sent: Sent,
    call: Call,
    listening: Stream,
    getting: Stream,
}

impl Busy {
    async fn new(desktop: &mut Desktop, application: &mut Application, agent: Agent) -> Self {
        let sent = agent.sent(&agent.call("getBalance", "{}")).await;
        let question = desktop.question().await;
        desktop.decide(&question, "allow", json!("nothing")).await;
        let call = application.call().await;
        let mut waiting = Vec::new();
        for request in
            [agent.call("getBalance", "{}"), agent.legacy_call("getBalance", "{}").header("Accept", "application/json")]
        {
            let sent = agent.sent(&request).await;
            waiting.push((sent, desktop.question().await));
        }
        let (listening, getting) = (agent.listening().await, agent.getting().await);
        Self { agent, waiting, sent, call, listening, getting }
    }

    async fn cut_off(mut self, desktop: &mut Desktop, application: &mut Application) {
        cancelled(application, &self.call).await;
        application.answer(&self.call, DONE).await;
        unanswered(self.sent).await;
        for (sent, question) in self.waiting {
            unanswered(sent).await;
            desktop.closed(&question).await;
            assert_eq!(desktop.ended_call(&question["number"]).await["outcome"], json!({"code": "cancelled"}));
        }
        self.listening.ended().await;
        self.getting.ended().await;
        self.agent.list().send().await.refused_early(401);
        self.agent.get().send().await.refused_early(401);
    }

    /// Everything goes on.
    async fn goes_on(self, desktop: &mut Desktop, application: &mut Application) {
        heard_nothing(application).await;
        for (_, question) in &self.waiting {
            desktop.decide(question, "deny", json!("nothing")).await;
        }
        for (sent, _) in self.waiting {
            let mut answer = sent.answer().await.expect("an answer");
            assert!(answer.rest().await.contains("declined"));
        }
        application.answer(&self.call, DONE).await;
        assert!(self.sent.answer().await.expect("an answer").rest().await.contains(r#""content":[]"#));
        assert_eq!(self.agent.list().send().await.status, 200);
        drop((self.listening, self.getting));
    }
}

// holds: revoke-label, revoke-cuts-agent, revoke-nothing-else
#[tokio::test]
async fn revoking_a_label_cuts_off_its_agent_alone() {
    let (mut desktop, mut application, unlabelled) = Desktop::scene().await;
    for label in [Some("Editor"), None] {
        let others = desktop.labelled(CLIENT, "Other");
        let other = Busy::new(&mut desktop, &mut application, others).await;
        let agent = label.map_or_else(|| unlabelled.clone(), |label| desktop.labelled(CLIENT, label));
        let busy = Busy::new(&mut desktop, &mut application, agent).await;
        desktop.done(revoke("agent", json!({"label": label}))).await;
        busy.cut_off(&mut desktop, &mut application).await;
        other.goes_on(&mut desktop, &mut application).await;
    }
    desktop.until(|desktop| list(&desktop.memory, "floors").len() == 2).await;
    let floor = &desktop.memory["floors"][0];
    assert_eq!((&floor["application"], &floor["role"]), (&json!(CLIENT), &json!("agent")));
    assert!(floor["issued_before"].is_u64(), "{floor}");
    assert!(list(&desktop.memory, "generations").is_empty());
}

// holds: revoke-then-mint
#[tokio::test]
async fn a_token_made_after_a_revocation_is_valid() {
    let (mut desktop, _application, _) = Desktop::scene().await;
    for _ in 0..5 {
        let before = desktop.mint(CLIENT, "agent", Some("Editor")).await;
        desktop.done(revoke("agent", json!({"label": "Editor"}))).await;
        let after = desktop.mint(CLIENT, "agent", Some("Editor")).await;
        assert_eq!(Agent::new(desktop.port, &after).list().send().await.status, 200);
        Agent::new(desktop.port, &before).list().send().await.refused_early(401);
        desktop.done(revoke("agent", json!("all"))).await;
        Agent::new(desktop.port, &after).list().send().await.refused_early(401);
        let raised = desktop.mint(CLIENT, "agent", Some("Editor")).await;
        assert_eq!(Agent::new(desktop.port, &raised).list().send().await.status, 200);
    }
    // Without `iat`, of a label with a floor.
    let claims = json!({"sub": CLIENT, "role": "agent", "label": "Editor", "gen": 5});
    Agent::new(desktop.port, &tokens::claiming(&claims.to_string())).list().send().await.refused_early(401);
    let claims = json!({"sub": CLIENT, "role": "agent", "label": "Other", "gen": 5});
    assert_eq!(Agent::new(desktop.port, &tokens::claiming(&claims.to_string())).list().send().await.status, 200);
}

// holds: revoke-all, revoke-cuts-agent, revoke-nothing-else
#[tokio::test]
async fn raising_the_generation_cuts_off_every_agent_and_no_application() {
    let (mut desktop, mut application, unlabelled) = Desktop::scene().await;
    let editor = desktop.labelled(CLIENT, "Editor");
    let mut both = Vec::new();
    for agent in [unlabelled, editor] {
        both.push(Busy::new(&mut desktop, &mut application, agent).await);
    }
    let mut elsewhere = desktop.application("other", TOOLS).await;
    let stranger = desktop.agent("other");
    let called = calling(&stranger);
    let question = desktop.question().await;
    desktop.done(revoke("agent", json!("all"))).await;
    // Their calls may be taken back in any order.
    let mut taken = [application.text().await, application.text().await];
    taken.sort();
    let mut calls = both.iter().map(|busy| json!({"type": "cancel", "id": busy.call.id})).collect::<Vec<_>>();
    calls.sort_by_key(Value::to_string);
    let mut taken: Vec<Value> = taken.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    taken.sort_by_key(Value::to_string);
    assert_eq!(taken, calls);
    for mut busy in both {
        unanswered(busy.sent).await;
        for (sent, _) in busy.waiting {
            unanswered(sent).await;
        }
        busy.listening.ended().await;
        busy.getting.ended().await;
        busy.agent.list().send().await.refused_early(401);
    }
    heard_nothing(&mut application).await;
    desktop.decide(&question, "allow", json!("nothing")).await;
    let call = elsewhere.call().await;
    elsewhere.answer(&call, DONE).await;
    assert_eq!(result(called).await["content"], json!([]));
    let raised = json!([{"application": CLIENT, "role": "agent", "generation": 1}]);
    desktop.until(|desktop| desktop.memory["generations"] == raised).await;
}

// holds: revoke-application
#[tokio::test]
async fn an_application_that_is_cut_off_is_closed() {
    for which in [json!("all"), json!({"label": null})] {
        let (mut desktop, mut application, agent) = Desktop::scene().await;
        let sent = calling(&agent);
        let question = desktop.question().await;
        desktop.decide(&question, "allow", json!("nothing")).await;
        application.call().await;
        let waiting = calling(&agent);
        desktop.question().await;
        desktop.done(revoke("client", json!({"label": "Phone"}))).await;
        heard_nothing(&mut application).await;
        desktop.done(revoke("client", which.clone())).await;
        assert_eq!(application.closed().await.0, 4401, "{which}");
        perhaps_done(&result(sent).await);
        nothing_done(&result(waiting).await, "offline");
        assert_eq!(desktop.connect(CLIENT, &[]).await.closed().await.0, 4401);
        assert_eq!(agent.list().send().await.status, 200);
        let token = desktop.mint(CLIENT, "client", None).await;
        let mut again = desktop.connect_as(&token, &[]).await;
        again.register(TOOLS).await;
    }
}

// holds: revoke-secret, revoke-cuts-agent
#[tokio::test]
async fn a_dropped_secret_cuts_off_what_it_signed() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    let secrets = |secrets: &[&str]| json!({"type": "set_secrets", "secrets": secrets});
    desktop.refused(secrets(&[]), "secret").await;
    desktop.refused(secrets(&[tokens::SECRET, "short"]), "secret").await;
    desktop.done(secrets(&[OTHER_SECRET, tokens::SECRET])).await;
    let busy = Busy::new(&mut desktop, &mut application, agent.clone()).await;
    let newer = desktop.mint(CLIENT, "agent", None).await;
    let newer = Agent::new(desktop.port, &newer);
    busy.goes_on(&mut desktop, &mut application).await;
    // The first signs: what was made just now outlives the older one.
    let waiting = newer.sent(&newer.call("getBalance", "{}")).await;
    let kept = desktop.question().await;
    let editor = desktop.labelled(CLIENT, "Editor");
    let mut busy = Busy::new(&mut desktop, &mut application, editor).await;
    desktop.done(secrets(&[OTHER_SECRET])).await;
    // The application was let in by the older one, too.
    loop {
        let message = application.recv().await;
        if let tokio_tungstenite::tungstenite::Message::Close(frame) = message {
            assert_eq!(u16::from(frame.expect("a code").code), 4401);
            break;
        }
    }
    unanswered(busy.sent).await;
    for (sent, question) in busy.waiting {
        unanswered(sent).await;
        desktop.closed(&question).await;
    }
    busy.listening.ended().await;
    busy.getting.ended().await;
    agent.list().send().await.refused_early(401);
    assert_eq!(desktop.connect(CLIENT, &[]).await.closed().await.0, 4401);
    assert_eq!(newer.list().send().await.status, 200);
    let mut answer = waiting.answer().await.expect("an answer");
    assert!(answer.rest().await.contains("offline"));
    desktop.closed(&kept).await;
}

// holds: revoke-remembered
#[tokio::test]
async fn what_was_revoked_before_the_start_is_refused() {
    let floor =
        json!({"application": CLIENT, "role": "agent", "label": "Editor", "issued_before": 1_800_000_000_000_u64});
    let generation = json!({"application": CLIENT, "role": "client", "generation": 3});
    let desktop = Desktop::with(json!({"memory": {"floors": [floor], "generations": [generation]}})).await;
    let agent = |claims: Value| Agent::new(desktop.port, &tokens::claiming(&claims.to_string()));
    let claims = |label: &str, iat: Value| json!({"sub": CLIENT, "role": "agent", "label": label, "iat": iat});
    for (iat, status) in [(json!(1_799_999_999), 401), (json!(1_800_000_000), 200), (json!(1_800_000_000.5), 200)] {
        assert_eq!(agent(claims("Editor", iat.clone())).list().send().await.status, status, "{iat}");
    }
    assert_eq!(agent(claims("Other", json!(5))).list().send().await.status, 200);
    assert_eq!(desktop.connect(CLIENT, &[]).await.closed().await.0, 4401);
    let token = tokens::claiming(&json!({"sub": CLIENT, "role": "client", "gen": 3}).to_string());
    let mut application = desktop.connect_as(&token, &[]).await;
    application.register(TOOLS).await;
}

// holds: revoke-clock-ahead
#[tokio::test]
async fn a_label_is_revoked_though_its_tokens_are_from_an_hour_to_come() {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let ahead = u64::try_from(now).unwrap() + 3_600_000;
    // As it was remembered by a bridge whose clock was ahead.
    let issued = json!({"application": CLIENT, "role": "agent", "label": "Editor", "newest": ahead});
    let mut desktop = Desktop::with(json!({"memory": {"issued": [issued]}})).await;
    let made = |label: &str| {
        #[expect(clippy::cast_precision_loss, reason = "a date of our time")]
        let claims = json!({"sub": CLIENT, "role": "agent", "label": label, "iat": ahead as f64 / 1_000.0});
        tokens::claiming(&claims.to_string())
    };
    // One that this bridge made before its restart, and one that it has only taken.
    let (before, strange) = (Agent::new(desktop.port, &made("Editor")), Agent::new(desktop.port, &made("Stranger")));
    assert_eq!(strange.list().send().await.status, 200);
    for label in ["Editor", "Stranger"] {
        desktop.done(revoke("agent", json!({"label": label}))).await;
    }
    before.list().send().await.refused_early(401);
    strange.list().send().await.refused_early(401);
    for label in ["Editor", "Stranger"] {
        let after = desktop.mint(CLIENT, "agent", Some(label)).await;
        assert_eq!(Agent::new(desktop.port, &after).list().send().await.status, 200);
        // It ends by the clock as it is.
        let end = tokens::payload(&after)["exp"].as_u64().unwrap();
        assert!(end < ahead / 1_000, "{end}");
    }
    desktop.until(|desktop| list(&desktop.memory, "floors").len() == 2).await;
    let memory = desktop.memory.clone();
    let again = Desktop::with(json!({"memory": memory})).await;
    for label in ["Editor", "Stranger"] {
        Agent::new(again.port, &made(label)).list().send().await.refused_early(401);
    }
}
