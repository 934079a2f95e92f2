//! The one address the bridge listens on: `127.0.0.1`, and no other.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
};

use tokio::net::{TcpListener, TcpSocket};

/// Connections that wait to be accepted.
const BACKLOG: u32 = 1_024;

/// Why the bridge cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Somebody else has the port.
    #[error("port {port} is taken{}: end that program, or choose another port with --port", by(holder.as_deref()))]
    Taken {
        /// The port.
        port: u16,
        /// Who, where the system tells.
        holder: Option<String>,
    },
    /// Anything else.
    #[error("cannot listen on 127.0.0.1 port {port}: {cause}")]
    Failed {
        /// The port.
        port: u16,
        /// What the system says.
        cause: io::Error,
    },
}

fn by(holder: Option<&str>) -> String {
    holder.map(|holder| format!(" by {holder}")).unwrap_or_default()
}

/// Listens on `127.0.0.1`; port 0 takes a free one.
pub fn listen(port: u16) -> Result<TcpListener, ListenError> {
    bind(port).map_err(|cause| {
        if cause.kind() == io::ErrorKind::AddrInUse {
            return ListenError::Taken { port, holder: holder(port) };
        }
        ListenError::Failed { port, cause }
    })
}

fn bind(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // A restart must not wait for connections of before (TIME_WAIT). On Windows the option means something else:
    // there it would let another program take the port beside us.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    socket.listen(BACKLOG)
}

/// The program that listens on the port, if it belongs to this user.
#[cfg(target_os = "linux")]
fn holder(port: u16) -> Option<String> {
    let socket = format!("socket:[{}]", listening_inode(port)?);
    let mut processes = std::fs::read_dir("/proc").ok()?.flatten();
    processes.find_map(|process| holds(&process.path(), &socket))
}

/// From the kernel's table (proc(5)): addresses in hexadecimal, state 0A is listening, the tenth field is the inode.
#[cfg(target_os = "linux")]
fn listening_inode(port: u16) -> Option<String> {
    let table = std::fs::read_to_string("/proc/net/tcp").ok()?;
    let ends_with_port = format!(":{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let listens = fields.get(1)?.ends_with(&ends_with_port) && fields.get(3) == Some(&"0A");
        listens.then(|| fields.get(9).map(ToString::to_string))?
    })
}

#[cfg(target_os = "linux")]
fn holds(process: &std::path::Path, socket: &str) -> Option<String> {
    let pid = process.file_name()?.to_str()?.parse::<u32>().ok()?;
    let mut handles = std::fs::read_dir(process.join("fd")).ok()?.flatten();
    handles.find(|handle| std::fs::read_link(handle.path()).is_ok_and(|target| target.as_os_str() == socket))?;
    let name = std::fs::read_to_string(process.join("comm")).ok()?;
    Some(format!("{} (process {pid})", crate::text::shown(name.trim())))
}

#[cfg(not(target_os = "linux"))]
fn holder(_port: u16) -> Option<String> {
    None
}
