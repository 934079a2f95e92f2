//! Notifications, which are shown and forgotten: some desktops answer late, or never.

use std::sync::atomic::{AtomicI32, Ordering};

use tauri::AppHandle;
use tauri_plugin_notification::NotificationExt;

use crate::{
    commands::tell,
    shell::{Deed, Notification},
    wire::Page,
};

/// Pages that a click can open. A notification's number names one, so that nothing has to be kept until the click.
const PAGES: [Page; 5] = [Page::Applications, Page::Calls, Page::Approvals, Page::Connect, Page::Settings];
const COUNT: i32 = 5;

/// Notifications shown.
static SHOWN: AtomicI32 = AtomicI32::new(0);

/// Shows one. It returns at once.
pub(super) fn show(app: &AppHandle, notification: &Notification) {
    let Notification { title, body, opens } = notification;
    let builder = app.notification().builder().id(number(*opens)).title(title).body(plain(body));
    if let Err(fault) = builder.show() {
        tracing::warn!("a notification cannot be shown: {fault}");
    }
}

/// Opens what a notification is about when it is clicked, from now on.
pub(crate) fn on_click(app: &AppHandle) {
    let told = app.clone();
    // It never fails on a desktop.
    let _ = app.notification().on_action(move |performed| {
        let page = performed.notification().and_then(|shown| page(shown.id()));
        tell(&told, Deed::Open(page));
    });
}

/// A body that is shown as the text that it is. On Linux most desktops read markup in it, and names are others' words.
fn plain(body: &str) -> String {
    if cfg!(any(windows, target_os = "macos")) {
        return body.to_owned();
    }
    body.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn number(page: Page) -> i32 {
    let index = (0..).zip(PAGES).find(|(_, known)| *known == page).map_or(0, |(index, _)| index);
    let shown = SHOWN.fetch_add(1, Ordering::Relaxed).rem_euclid(i32::MAX / COUNT);
    shown * COUNT + index
}

fn page(number: i32) -> Option<Page> {
    let index = usize::try_from(number.checked_rem(COUNT)?).ok()?;
    PAGES.get(index).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    // holds: desktop-door-named
    #[cfg(target_os = "linux")]
    #[test]
    fn a_body_is_text_and_no_markup() {
        assert_eq!(
            plain("<b>Claude</b> & <a href=\"x\">\nx"),
            "&lt;b&gt;Claude&lt;/b&gt; &amp; &lt;a href=\"x\"&gt;\nx"
        );
    }

    // holds: desktop-notification-click
    #[test]
    fn the_number_of_a_notification_names_the_page_that_it_opens() {
        for expected in PAGES {
            let (one, other) = (number(expected), number(expected));
            assert_ne!(one, other, "each has a number of its own");
            assert_eq!((page(one), page(other)), (Some(expected), Some(expected)));
        }
        SHOWN.store(i32::MAX, Ordering::Relaxed);
        assert_eq!(page(number(Page::Calls)), Some(Page::Calls));
        assert_eq!(page(number(Page::Calls)), Some(Page::Calls));
        assert_eq!(page(-1), None);
    }
}
