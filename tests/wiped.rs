//! Secrets that were dropped are nowhere in the bridge's memory (`SECURITY.md`).
#![cfg(target_os = "linux")]

use std::{
    fs::{self, File},
    io,
    os::unix::fs::FileExt as _,
    time::Duration,
};

use serde_json::json;

use crate::support::{
    desktop::{DONE, Desktop, calling},
    scene::{CLIENT, TOOLS},
    tokens::SECRET,
};

/// Bytes that are looked through at a time.
const PIECE: u64 = 1 << 20;

/// Secrets of this test alone, one of them as a file could hold it and JSON must escape it.
const DROPPED: [&str; 3] = [
    "dropped-later-0f6b1c9ad2e34587-0f6b1c9ad2e34587",
    "never-signed-\"7d41\"-e8b2cc90a5f63147e8b2cc90a5f6",
    "came-and-went-b81d02e7469fca35b81d02e7469fca35",
];

/// What can be written of the memory of a process: where it begins and ends.
fn regions(pid: u32) -> io::Result<Vec<(u64, u64)>> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let region = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let ends = (u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?);
        rest.starts_with("rw").then_some(ends)
    };
    Ok(maps.lines().filter_map(region).collect())
}

/// How often each text stands in the memory of a process that we started.
fn found(pid: u32, texts: &[&str]) -> io::Result<Vec<usize>> {
    let memory = File::open(format!("/proc/{pid}/mem"))?;
    let longest = texts.iter().map(|text| text.len()).max().unwrap_or_default();
    let mut counts = vec![0; texts.len()];
    for (from, to) in regions(pid)? {
        for begin in (from..to).step_by(usize::try_from(PIECE).unwrap()) {
            // A text may lie across two pieces.
            let length = (PIECE + longest as u64 - 1).min(to - begin);
            let mut bytes = vec![0; usize::try_from(length).unwrap()];
            // Memory may have been given back meanwhile.
            let Ok(read) = memory.read_at(&mut bytes, begin) else { continue };
            for (count, text) in counts.iter_mut().zip(texts) {
                *count += memchr::memmem::find_iter(&bytes[..read], text.as_bytes()).count();
            }
        }
    }
    Ok(counts)
}

// holds: wiped-secrets
#[tokio::test]
async fn a_secret_that_was_dropped_is_nowhere_in_memory() {
    let secrets = |secrets: &[&str]| json!({"type": "set_secrets", "secrets": secrets});
    let mut desktop = Desktop::with(json!({"secrets": [SECRET, DROPPED[0], DROPPED[1]]})).await;
    // They are used: tokens are made and checked, an application and an agent are let in.
    desktop.done(secrets(&[DROPPED[0], DROPPED[1], SECRET])).await;
    let token = desktop.mint(CLIENT, "client", None).await;
    let mut application = desktop.connect_as(&token, &[]).await;
    application.register(TOOLS).await;
    let agent = desktop.labelled(CLIENT, "Editor");
    let call = calling(&agent);
    let question = desktop.question().await;
    desktop.decide(&question, "allow", json!("nothing")).await;
    let asked = application.call().await;
    application.answer(&asked, DONE).await;
    call.await.unwrap();
    desktop.done(secrets(&[DROPPED[2], DROPPED[0], SECRET])).await;
    desktop.done(secrets(&[SECRET])).await;
    application.closed().await;

    let pid = desktop.pid();
    let looked = tokio::task::spawn_blocking(move || found(pid, &[SECRET])).await.unwrap();
    match looked {
        Ok(counts) => assert!(counts[0] > 0, "the secret in force is there, so it is seen by who looks"),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            println!("skipped: this system lets nobody look into the memory of a process of their own ({error})");
            return;
        }
        Err(error) => panic!("the memory cannot be read: {error}"),
    }
    // What held them ends on its own time: tasks of connections that were cut off.
    let mut counts = Vec::new();
    for _ in 0..60 {
        counts = tokio::task::spawn_blocking(move || found(pid, &DROPPED)).await.unwrap().unwrap();
        if counts.iter().all(|count| *count == 0) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    panic!("dropped secrets are still in memory: {counts:?}");
}
