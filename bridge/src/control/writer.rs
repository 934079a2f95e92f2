//! What the desktop is told: replies in turn, and the newest of everything else.

use std::{io, sync::Arc};

use clientmcp_protocol::control::{Count, Event, Memory, Snapshot};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::mpsc,
};

use crate::hub::{DeskView, Hub};

/// Replies that wait to be written. When there are as many, no further command is read.
pub(super) const REPLIES: usize = 64;

/// Writes messages, one a line.
#[derive(Debug)]
pub(super) struct Writer<W>(pub(super) W);

/// Whether two snapshots differ in their numbers alone: between them were others that were not shown.
fn looks_like(one: &Snapshot, other: &Snapshot) -> bool {
    let numbered = Snapshot { revision: other.revision, ..one.clone() };
    numbered == *other
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    pub(super) async fn write(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.0.write_all(&line).await?;
        self.0.flush().await
    }

    /// Tells everything, until no more replies can come or the desktop is gone.
    pub(super) async fn run(
        mut self,
        hub: Hub,
        mut desk: DeskView,
        mut replies: mpsc::Receiver<Event>,
    ) -> io::Result<()> {
        let (mut seen, mut written, mut told) = (0, Arc::default(), false);
        let mut shown: Option<Arc<Snapshot>> = None;
        // What there is at first is news too.
        desk.snapshot.mark_changed();
        desk.memory.mark_changed();
        loop {
            tokio::select! {
                biased;
                reply = replies.recv() => match reply {
                    Some(reply) => self.write(&reply).await?,
                    None => return self.last_words(&hub, &desk, seen, &written).await,
                },
                Ok(()) = desk.memory.changed() => {
                    let memory = Arc::clone(&desk.memory.borrow_and_update());
                    // What changed and changed back meanwhile is no news.
                    if memory != written || !told {
                        self.remember(&memory).await?;
                        (written, told) = (memory, true);
                    }
                }
                Ok(()) = desk.finished.changed() => {
                    desk.finished.borrow_and_update();
                    seen = self.finished(&hub, seen).await?;
                }
                Ok(()) = desk.snapshot.changed() => {
                    let snapshot = Arc::clone(&desk.snapshot.borrow_and_update());
                    if !shown.is_some_and(|shown| looks_like(&snapshot, &shown)) {
                        self.write(&Event::Snapshot(Box::new((*snapshot).clone()))).await?;
                    }
                    shown = Some(snapshot);
                }
            }
        }
    }

    /// What is to be written down must not be lost with the bridge's end.
    async fn last_words(&mut self, hub: &Hub, desk: &DeskView, seen: u64, written: &Arc<Memory>) -> io::Result<()> {
        let memory = Arc::clone(&desk.memory.borrow());
        if memory != *written {
            self.remember(&memory).await?;
        }
        self.finished(hub, seen).await.map(drop)
    }

    async fn remember(&mut self, memory: &Memory) -> io::Result<()> {
        self.write(&Event::Remember(Box::new(memory.clone()))).await
    }

    async fn finished(&mut self, hub: &Hub, mut seen: u64) -> io::Result<u64> {
        loop {
            let finished = hub.finished(seen).await;
            if finished.calls.is_empty() {
                return Ok(seen);
            }
            seen = finished.next;
            self.write(&Event::Finished { calls: finished.calls, missed: Count(finished.missed) }).await?;
        }
    }
}
