//! Hosts that leave while the person is asked: at the local door and through the stdio command, in every way and with
//! whatever lies behind their request (`docs/protocol.md`, "Leaving"). A new way or spelling is a new row.

use std::{
    fs,
    os::{fd::AsRawFd as _, unix::fs::MetadataExt as _},
};

use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, net::UnixStream};

use crate::{
    leaving::{holder, killed, too_late},
    support::{
        application::Application,
        desktop::{Desktop, list},
        host::{self, Host},
        scene::{CLIENT, heard_nothing},
        within,
    },
};

/// A list that is long enough for a few answers to fill what an agent may leave unread.
const LONG: usize = 3 << 20;

/// What a host writes.
type Writes = fn() -> String;

/// A call as a host writes it.
const CALLS: [(&str, Writes); 3] = [
    ("modern", || host::modern(7, "tools/call", r#""name":"getBalance","arguments":{}"#)),
    ("legacy", || host::legacy(7, "tools/call", &json!({"name": "getBalance", "arguments": {}}))),
    ("with white space", || format!("  {}\r", host::legacy(7, "tools/call", &json!({"name": "getBalance"})))),
];

/// What stands behind the call on the same connection.
const BEHIND: [(&str, Writes); 5] = [
    ("nothing", String::new),
    ("half a line", || r#"{"jsonrpc":"2.0","id":8,"#.to_owned()),
    ("empty lines and junk", || "\n\n\0junk\n\n".to_owned()),
    ("many requests", || (100..200).map(|id| host::legacy(id, "ping", &json!({})) + "\n").collect()),
    // Until it is not read any more; and then some.
    ("answers that nobody reads", || {
        let lists = (100..112).map(|id| host::legacy(id, "tools/list", &json!({})) + "\n");
        let pings = (200..600).map(|id| host::legacy(id, "ping", &json!({})) + "\n");
        lists.chain(pings).collect()
    }),
];

#[derive(Clone, Copy, Debug)]
enum Way {
    Closes,
    Shuts,
    IsKilled,
    Cancels,
    PairForgotten,
    LabelRevoked,
    AllRevoked,
}

const WAYS: [Way; 7] =
    [Way::Closes, Way::Shuts, Way::IsKilled, Way::Cancels, Way::PairForgotten, Way::LabelRevoked, Way::AllRevoked];

fn long_tools() -> String {
    let long = "x".repeat(LONG);
    format!(
        r#"[{{"name":"getBalance","inputSchema":{{"type":"object"}}}},{{"name":"long","description":"{long}","inputSchema":{{"type":"object"}}}}]"#
    )
}

async fn scene() -> (Desktop, Application) {
    let mut desktop = Desktop::door().await;
    let mut application = desktop.connect(CLIENT, &[]).await;
    application.register(&long_tools()).await;
    let_in(&mut desktop).await;
    (desktop, application)
}

async fn let_in(desktop: &mut Desktop) {
    desktop.done(json!({"type": "allow_pair", "host": "Editor", "application": CLIENT})).await;
}

/// A connection behind the door's first lines.
async fn mcp(desktop: &Desktop) -> UnixStream {
    let mut stream = within(UnixStream::connect(host::socket(desktop.runtime.path()))).await.unwrap();
    let hello = json!({"door": 1, "version": "test", "want": "mcp", "host": "Editor", "application": CLIENT});
    within(stream.write_all(format!("{hello}\n").as_bytes())).await.unwrap();
    let mut said = Vec::new();
    while !said.ends_with(b"\n") {
        within(stream.readable()).await.unwrap();
        let _ = stream.try_read_buf(&mut said);
    }
    assert!(String::from_utf8_lossy(&said).contains(r#""say":"open""#));
    stream
}

/// Waits until nobody holds this socket any more: a child that another test starts has all that is open until it begins
/// its own program.
async fn closed(inode: u64) {
    let is_it = |line: &str| line.split_whitespace().nth(6) == Some(&inode.to_string());
    within(async {
        while fs::read_to_string("/proc/net/unix").unwrap().lines().any(is_it) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

async fn leaves(desktop: &mut Desktop, mut stream: UnixStream, way: Way) -> Option<UnixStream> {
    let revoke = |which: Value| json!({"type": "revoke", "application": CLIENT, "role": "agent", "which": which});
    let inode = fs::metadata(format!("/proc/self/fd/{}", stream.as_raw_fd())).unwrap().ino();
    match way {
        Way::Closes => {
            drop(stream);
            closed(inode).await;
            return None;
        }
        Way::Shuts => within(stream.shutdown()).await.unwrap(),
        Way::IsKilled => {
            let child = holder(stream.into_std().unwrap().into());
            killed(child).await;
            closed(inode).await;
            return None;
        }
        Way::Cancels => {
            let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
            let ping = host::legacy(900, "ping", &json!({}));
            within(stream.write_all(format!("\n{cancel}\n{ping}\n").as_bytes())).await.unwrap();
            // What came behind it was heard, and so was it.
            let mut heard = Vec::new();
            while !String::from_utf8_lossy(&heard).contains(r#""id":900"#) {
                within(stream.readable()).await.unwrap();
                let _ = stream.try_read_buf(&mut heard);
            }
        }
        Way::PairForgotten => {
            desktop.done(json!({"type": "forget_pair", "host": "Editor", "application": CLIENT})).await;
        }
        Way::LabelRevoked => desktop.done(revoke(json!({"label": "Editor"}))).await,
        Way::AllRevoked => desktop.done(revoke(json!("all"))).await,
    }
    Some(stream)
}

// holds: leaving-door, approval-withdrawn
#[tokio::test]
async fn a_yes_after_a_host_left_the_door_sends_nothing() {
    let (mut desktop, mut application) = scene().await;
    for (spelling, call) in CALLS {
        for (behind, bytes) in BEHIND {
            for way in WAYS {
                // A host that is not read any more cannot be heard either.
                if matches!(way, Way::Cancels) && behind == "answers that nobody reads" {
                    continue;
                }
                let case = format!("{spelling}; behind it {behind}; {way:?}");
                let_in(&mut desktop).await;
                let mut stream = mcp(&desktop).await;
                within(stream.write_all(format!("{}\n", call()).as_bytes())).await.unwrap();
                let question = desktop.question().await;
                within(stream.write_all(bytes().as_bytes())).await.unwrap();
                let kept = leaves(&mut desktop, stream, way).await;
                too_late(&mut desktop, &mut application, &question, &case).await;
                drop(kept);
            }
        }
    }
}

// holds: leaving-noticed
#[tokio::test]
async fn a_question_goes_with_a_host_whose_answers_are_unread() {
    let (mut desktop, mut application) = scene().await;
    for (behind, bytes) in BEHIND {
        for way in [Way::Closes, Way::Shuts] {
            let mut stream = mcp(&desktop).await;
            let (_, call) = CALLS[0];
            within(stream.write_all(format!("{}\n{}", call(), bytes()).as_bytes())).await.unwrap();
            let question = desktop.question().await;
            let kept = leaves(&mut desktop, stream, way).await;
            desktop.gone(&question).await;
            desktop.closed(&question).await;
            drop((kept, behind));
        }
    }
    heard_nothing(&mut application).await;
}

/// How a host starts the command, and what it writes.
type Starts = (&'static str, &'static [&'static str], Writes);

const COMMANDS: [Starts; 3] = [
    ("one application", &["--app", CLIENT], || {
        host::legacy(7, "tools/call", &json!({"name": "getBalance", "arguments": {}}))
    }),
    ("its own tools", &["--app", CLIENT, "--static-tools"], || {
        let inner = json!({"name": "getBalance", "arguments": {}});
        host::legacy(7, "tools/call", &json!({"name": "clientmcp_call_tool", "arguments": inner}))
    }),
    ("all applications", &[], || {
        let inner = json!({"app": CLIENT, "tool": "getBalance", "arguments": {}});
        host::legacy(7, "tools/call", &json!({"name": "clientmcp_call", "arguments": inner}))
    }),
];

#[derive(Clone, Copy, Debug)]
enum CommandWay {
    /// Its stdin ends, and it may take its time.
    StdinEnds,
    IsKilled,
    IsTerminated,
}

// holds: leaving-stdio, stdio-ends
#[tokio::test]
async fn a_yes_after_a_host_left_the_command_sends_nothing() {
    let (mut desktop, mut application) = scene().await;
    desktop.done(json!({"type": "allow_pair", "host": "Editor", "application": null})).await;
    for (name, arguments, call) in COMMANDS {
        for (behind, bytes) in BEHIND {
            for way in [CommandWay::StdinEnds, CommandWay::IsKilled, CommandWay::IsTerminated] {
                let case = format!("{name}; behind it {behind}; {way:?}");
                let mut host = Host::start(desktop.runtime.path(), &[&["--host", "Editor"], arguments].concat());
                host.talk.initialize("2025-11-25").await;
                host.talk.send(&call()).await;
                let question = desktop.question().await;
                host.talk.write(bytes().as_bytes()).await;
                match way {
                    CommandWay::StdinEnds => {
                        host.talk.close();
                        // It says so at once, and not when it has ended: its question goes while it runs.
                        desktop.gone(&question).await;
                    }
                    CommandWay::IsKilled => within(host.child.kill()).await.unwrap(),
                    CommandWay::IsTerminated => {
                        let pid = host.child.id().unwrap().to_string();
                        let mut kill = tokio::process::Command::new("kill");
                        assert!(within(kill.args(["-s", "TERM", &pid]).status()).await.unwrap().success());
                        within(host.child.wait()).await.unwrap();
                    }
                }
                too_late(&mut desktop, &mut application, &question, &case).await;
            }
        }
    }
    assert!(list(&desktop.newest, "questions").is_empty());
}
