//! The small window of one question: on the pointer's display, above the others, and without the keyboard, so that nothing
//! typed elsewhere ever answers it.
//!
//! Each question gets a window of its own: a window that is used again shows what it held before for a moment.

#[cfg(target_os = "linux")]
mod gtk;
mod place;

use clientmcp_protocol::ids::QuestionId;
use tauri::{
    AppHandle, Manager, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent, webview::NewWindowResponse,
};

use super::paper;
#[cfg(target_os = "linux")]
use crate::shell::AppWindow;
use crate::{
    commands::tell,
    shell::{Deed, Standing},
    wire::Theme,
};

/// Before the question's id in a label; the capability of these windows names it.
const LABEL: &str = "question-";

/// The label of this question's window.
pub(super) fn label(id: &QuestionId) -> String {
    format!("{LABEL}{id}")
}

/// Which question the window with this label shows.
pub(crate) fn question_of(label: &str) -> Option<QuestionId> {
    QuestionId::try_from(label.strip_prefix(LABEL)?.to_owned()).ok()
}

/// Opens the window of this question, or raises it, and closes those of others. On the main thread.
pub(super) fn ask(app: &AppHandle, question: Option<QuestionId>, theme: Theme) {
    close_others(app, question);
    let Some(id) = question else { return };
    let opened = match app.get_webview_window(&label(&id)) {
        Some(window) => raise(app, &window, id),
        None => build(app, id, theme),
    };
    if let Err(fault) = opened {
        tracing::error!("the window of a question cannot be opened: {fault}");
    }
}

fn close_others(app: &AppHandle, question: Option<QuestionId>) {
    for (label, window) in app.webview_windows() {
        let shows = question_of(&label);
        if shows.is_some() && shows != question {
            let _ = window.destroy();
        }
    }
}

/// Built hidden and shown then: one that is built visible may take the keyboard while the window manager looks at it.
fn build(app: &AppHandle, id: QuestionId, theme: Theme) -> tauri::Result<()> {
    let mut builder = WebviewWindowBuilder::new(app, label(&id), WebviewUrl::App("question.html".into()))
        .title("ClientMCP question")
        .resizable(false)
        .maximizable(false)
        .minimizable(false)
        .always_on_top(true)
        .skip_taskbar(true)
        .visible_on_all_workspaces(true)
        .focused(false)
        .focusable(false)
        .visible(false)
        // On by default in what is built for development, which is what `cargo xtask run` starts.
        .devtools(false)
        .initialization_script(paper::script(theme))
        .on_navigation(super::is_own)
        .on_new_window(|_, _| NewWindowResponse::Deny);
    if let Some(place) = place::near_the_pointer(app, text_scale()) {
        builder = builder.position(place.x, place.y).inner_size(place.width, place.height);
    }
    let window = builder.build()?;
    paper::lay(&window, theme)?;
    watch(app, &window, id)?;
    window.show()
}

/// How many times as large as usual text is drawn.
fn text_scale() -> f64 {
    #[cfg(target_os = "linux")]
    return gtk::text_scale();
    // Elsewhere text grows with everything else, which the window's own size follows by itself.
    #[cfg(not(target_os = "linux"))]
    return 1.0;
}

fn watch(app: &AppHandle, window: &WebviewWindow, id: QuestionId) -> tauri::Result<()> {
    let told = app.clone();
    window.on_window_event(move |event| stand(&told, id, event));
    #[cfg(target_os = "linux")]
    {
        super::cover::watch(app, window, AppWindow::Small(id))?;
        gtk::watch(app, window, id)?;
    }
    // Elsewhere nothing tells when a window is covered; it stays above the others.
    #[cfg(not(target_os = "linux"))]
    tell(app, Deed::Small(id, Standing::Clear));
    Ok(())
}

fn stand(app: &AppHandle, id: QuestionId, event: &WindowEvent) {
    if matches!(event, WindowEvent::Moved(_) | WindowEvent::Resized(_) | WindowEvent::ScaleFactorChanged { .. }) {
        tell(app, Deed::SmallMoved(id));
    } else if matches!(event, WindowEvent::CloseRequested { .. }) {
        tell(app, Deed::SmallClosed(id));
    } else if matches!(event, WindowEvent::Destroyed) {
        tell(app, Deed::Small(id, Standing::Gone));
    }
}

/// Never by focusing it.
fn raise(app: &AppHandle, window: &WebviewWindow, id: QuestionId) -> tauri::Result<()> {
    #[cfg(target_os = "linux")]
    gtk::raise(window)?;
    #[cfg(not(target_os = "linux"))]
    window.set_always_on_top(true)?;
    tell(app, Deed::SmallMoved(id));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // holds: desktop-question-label
    #[test]
    fn a_window_shows_the_question_that_its_label_names_and_no_other_label_names_one() {
        let id = QuestionId(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        assert_eq!(label(&id), "question-0123456789abcdef0123456789abcdef");
        assert_eq!(question_of(&label(&id)), Some(id));
        for other in ["main", "question-", "question-0123", "0123456789abcdef0123456789abcdef", "Question-00"] {
            assert_eq!(question_of(other), None, "{other}");
        }
        assert_eq!(question_of(&label(&id).to_uppercase()), None);
    }
}
