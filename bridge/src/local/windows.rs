//! A named pipe that its owner alone may open, and the first of its name.

use std::io;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use directories::BaseDirs;
use interprocess::os::windows::{
    named_pipe::{
        PipeListenerOptions,
        pipe_mode::Bytes,
        tokio::{DuplexPipeStream, PipeListener},
    },
    security_descriptor::SecurityDescriptor,
};
use sha2::{Digest as _, Sha256};
use tokio::io::{ReadHalf, WriteHalf, split};
use widestring::u16cstr;

use super::Fault;
use crate::presence::Caller;

/// One connection.
pub type Stream = DuplexPipeStream<Bytes>;

/// What is read of a connection.
pub type Input = ReadHalf<Stream>;

/// What is written to it.
pub type Output = WriteHalf<Stream>;

/// What is read, what is written, and whoever is at the other end. The system tells of an end only to whoever reads, so
/// that one is known as soon as it was read.
pub fn halves(stream: Stream) -> (Input, Output, Caller) {
    let (input, output) = split(stream);
    (input, output, Caller::resident())
}

/// The open door. Dropped, it is closed.
#[derive(Debug)]
pub struct Opened {
    listener: PipeListener<Bytes, Bytes>,
}

/// Opens the door, if no other bridge has it.
pub fn open() -> Result<Opened, Fault> {
    // Whoever owns the pipe may do anything with it, and nobody else may do anything.
    let owner = SecurityDescriptor::deserialize(u16cstr!("D:P(A;;GA;;;OW)"))?;
    let options = PipeListenerOptions::new().path(name()?).security_descriptor(Some(owner));
    // Only the first instance is made: a second one of that name is somebody else's.
    match options.create_tokio_duplex::<Bytes>() {
        Ok(listener) => Ok(Opened { listener }),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(Fault::Held),
        Err(error) => Err(error.into()),
    }
}

impl Opened {
    /// The next connection, and its process.
    pub async fn accept(&self) -> io::Result<(Stream, Option<u32>)> {
        let stream = self.listener.accept().await?;
        let pid = stream.client_process_id().ok();
        Ok((stream, pid))
    }
}

/// Connects to the door of a bridge of ours.
pub async fn reach() -> Result<Stream, Fault> {
    match Stream::connect_by_path(name()?).await {
        Ok(stream) => Ok(stream),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Fault::Closed),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(Fault::Foreign),
        Err(error) => Err(error.into()),
    }
}

/// One for each user: made of the profile's folder as the system knows it, not as the environment says.
fn name() -> Result<String, Fault> {
    let folders = BaseDirs::new().ok_or_else(|| io::Error::other("there is no folder of yours"))?;
    let profile = folders.home_dir().to_string_lossy().to_lowercase();
    let digest = Sha256::digest(profile.as_bytes());
    Ok(format!(r"\\.\pipe\clientmcp-{}", URL_SAFE_NO_PAD.encode(digest)))
}
