//! When the system asks the app to end: at logout, at shutdown, or by hand.

use tauri::AppHandle;

use crate::{commands::tell, shell::Deed};

/// Tells of each such wish. The first one is enough; who sends a second one is impatient, not mistaken.
pub(crate) async fn watch(app: AppHandle) {
    loop {
        if let Err(fault) = asked().await {
            return tracing::error!("the system's wish to end the app cannot be heard: {fault}");
        }
        tell(&app, Deed::Ending);
    }
}

#[cfg(unix)]
async fn asked() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = hangup.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn asked() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
