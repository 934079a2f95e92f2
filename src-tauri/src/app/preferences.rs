//! What the person set, as the window shows it, and what cannot be set.

use std::ops::RangeInclusive;

use clientmcp_protocol::{
    limits::{CALL_TIME_RANGE, ORIGINS, QUESTION_TIME_RANGE},
    origin,
};
use clientmcp_settings::Settings;

use crate::wire::{Preferences, Theme};

/// As the window shows them. `port` is the one that is served, which an option of the command line may have named.
pub(super) fn shown(settings: &Settings, port: u16) -> Preferences {
    Preferences {
        port,
        client_origins: settings.client_origins,
        allow_origins: settings.allow_origins.clone(),
        call_seconds: settings.call_seconds,
        question_seconds: settings.question_seconds,
        theme: theme(settings.theme),
        start_at_login: settings.start_at_login,
    }
}

/// Writes them into the settings.
pub(super) fn set(settings: &mut Settings, preferences: Preferences) {
    // Named one by one, so that a new one cannot be forgotten here.
    let Preferences { port, client_origins, allow_origins, call_seconds, question_seconds, theme, start_at_login } =
        preferences;
    settings.port = port;
    settings.client_origins = client_origins;
    settings.allow_origins = allow_origins;
    settings.call_seconds = call_seconds;
    settings.question_seconds = question_seconds;
    settings.theme = match theme {
        Theme::System => clientmcp_settings::Theme::System,
        Theme::Light => clientmcp_settings::Theme::Light,
        Theme::Dark => clientmcp_settings::Theme::Dark,
    };
    settings.start_at_login = start_at_login;
}

/// Light or dark, as the windows are told.
pub(super) fn theme(theme: clientmcp_settings::Theme) -> Theme {
    match theme {
        clientmcp_settings::Theme::System => Theme::System,
        clientmcp_settings::Theme::Light => Theme::Light,
        clientmcp_settings::Theme::Dark => Theme::Dark,
    }
}

/// What is wrong with them. The bounds are the bridge's own (`docs/protocol.md`, "Commands").
pub(super) fn fault(preferences: &Preferences) -> Option<String> {
    let seconds = |range: (std::time::Duration, std::time::Duration)| -> RangeInclusive<u64> {
        range.0.as_secs()..=range.1.as_secs()
    };
    if preferences.port == 0 {
        return Some("the port must be a number from 1 to 65535: nothing was changed".to_owned());
    }
    if !seconds(CALL_TIME_RANGE).contains(&u64::from(preferences.call_seconds)) {
        return Some("an application's time for a call must be 1 to 3600 seconds: nothing was changed".to_owned());
    }
    if !seconds(QUESTION_TIME_RANGE).contains(&u64::from(preferences.question_seconds)) {
        return Some("the time for an answer must be 10 to 600 seconds: nothing was changed".to_owned());
    }
    if preferences.allow_origins.len() > ORIGINS {
        return Some(format!("at most {ORIGINS} origins can be allowed: nothing was changed"));
    }
    let fault = preferences.allow_origins.iter().find_map(|text| origin::check(text).err())?;
    Some(format!("{fault}: nothing was changed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // holds: desktop-preferences
    #[test]
    fn what_the_bridge_would_refuse_is_refused_here() {
        let good = shown(&Settings::default(), 27182);
        assert_eq!(fault(&good), None);
        let with = |change: fn(&mut Preferences)| {
            let mut changed = good.clone();
            change(&mut changed);
            fault(&changed)
        };
        assert_eq!(with(|p| p.allow_origins = vec!["https://a.example".to_owned(); ORIGINS]), None);
        for bad in [
            with(|p| p.port = 0),
            with(|p| p.call_seconds = 0),
            with(|p| p.call_seconds = 3_601),
            with(|p| p.question_seconds = 9),
            with(|p| p.question_seconds = 601),
            with(|p| p.allow_origins = vec!["null".to_owned()]),
            with(|p| p.allow_origins = vec!["https://a.example/".to_owned()]),
            with(|p| p.allow_origins = vec!["https://a.example".to_owned(); ORIGINS + 1]),
        ] {
            assert!(bad.is_some());
        }
    }

    #[test]
    fn they_are_written_as_they_are_shown() {
        let mut settings = Settings::default();
        let mut wanted = shown(&settings, 27182);
        (wanted.port, wanted.theme, wanted.start_at_login, wanted.question_seconds) = (4_000, Theme::Dark, true, 60);
        set(&mut settings, wanted.clone());
        assert_eq!(shown(&settings, 4_000), wanted);
    }
}
