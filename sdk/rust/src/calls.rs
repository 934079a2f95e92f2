//! The calls in flight on one connection, each in a task of its own. They end with the connection.

use std::collections::HashMap;

use serde_json::value::RawValue;
use tokio::{
    sync::watch,
    task::{AbortHandle, Id, JoinSet},
};

use crate::{
    answer::Answer,
    tool::{Call, Cancellation, Handler},
};

/// Runs handlers; dropping it drops their futures.
#[derive(Default)]
pub(crate) struct Calls {
    tasks: JoinSet<Answer>,
    running: HashMap<Id, Running>,
}

struct Running {
    call: String,
    task: AbortHandle,
    /// Dropped when the call is over, which is the signal.
    _signal: watch::Sender<()>,
}

impl Calls {
    /// True when a call with this id is in flight.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.running.values().any(|running| running.call == id)
    }

    /// Starts a handler.
    pub(crate) fn start(&mut self, id: String, name: String, arguments: &RawValue, handler: &Handler) {
        let (signal, cancellation) = watch::channel(());
        let call = Call { name, arguments: arguments.to_owned(), cancellation: Cancellation(cancellation) };
        let handler = Handler::clone(handler);
        let task = self.tasks.spawn(async move { handler(call).await });
        self.running.insert(task.id(), Running { call: id, task, _signal: signal });
    }

    /// Drops a handler's future. There is no answer to come; an unknown id is one that was answered.
    pub(crate) fn cancel(&mut self, id: &str) {
        self.running.retain(|_, running| {
            let meant = running.call == id;
            if meant {
                running.task.abort();
            }
            !meant
        });
    }

    /// The next answer, with its call's id; `None` when nothing runs. Safe to drop and ask again.
    pub(crate) async fn next(&mut self) -> Option<(String, Answer)> {
        loop {
            let (task, answer) = match self.tasks.join_next_with_id().await? {
                Ok((task, answer)) => (task, answer),
                Err(error) => (error.id(), failed()),
            };
            if let Some(running) = self.running.remove(&task) {
                return Some((running.call, answer));
            }
        }
    }
}

/// What a panic said is for the developer, who finds it where panics are reported, and not for an agent.
fn failed() -> Answer {
    Answer::error("the tool failed unexpectedly; what it had done until then is not known")
}
