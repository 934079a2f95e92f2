//! Why the keychain cannot be used: what is told apart, and the sentence for each.

use clientmcp_protocol::shown::shown;
use keyring_core::Error;

use super::{ACCOUNT, SERVICE};
use crate::{
    keys::{Trouble, item::Unlike},
    wire::KeysCode,
};

/// What is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::keys) enum Cause {
    /// There is no such entry, which alone is no trouble.
    Missing,
    /// No session bus. (Linux.)
    NoBus,
    /// Nobody on the bus keeps secrets. (Linux.)
    NoProvider,
    /// There is a keychain, but nothing in it to put an entry into. (Linux.)
    NoKeyring,
    /// Locked, and not unlocked.
    Locked,
    /// The system does not let us.
    Refused,
    /// The entry does not say what ours say.
    Damaged,
    /// A newer version of the app wrote the entry.
    Newer(u64),
    /// Several entries have our name.
    Ambiguous,
    /// An entry holds at most so many bytes.
    Full(u32),
    /// Anything else.
    Failed,
}

impl From<Unlike> for Cause {
    fn from(unlike: Unlike) -> Self {
        match unlike {
            Unlike::Damaged => Self::Damaged,
            Unlike::Newer(version) => Self::Newer(version),
        }
    }
}

impl Cause {
    /// What the error itself tells.
    pub(super) fn of(error: &Error) -> Self {
        match error {
            Error::NoEntry => Self::Missing,
            Error::NoStorageAccess(_) => Self::Refused,
            Error::BadEncoding(_) | Error::BadDataFormat(..) => Self::Damaged,
            Error::Ambiguous(_) => Self::Ambiguous,
            Error::TooLong(_, most) => Self::Full(*most),
            Error::PlatformFailure(_)
            | Error::BadStoreFormat(_)
            | Error::Invalid(..)
            | Error::NoDefaultStore
            | Error::NotSupportedByStore(_)
            // What a later version may add.
            | _ => Self::Failed,
        }
    }

    /// Whether opening the keychain anew may help. It must not where the person was asked: they would be asked again.
    pub(super) fn may_be_stale(self) -> bool {
        matches!(self, Self::Failed | Self::NoProvider | Self::NoBus)
    }

    pub(in crate::keys) fn trouble(self) -> Trouble {
        Trouble { code: self.code(), sentence: self.sentence() }
    }

    fn code(self) -> KeysCode {
        match self {
            Self::NoBus => KeysCode::NoBus,
            Self::NoProvider => KeysCode::NoProvider,
            Self::Locked => KeysCode::Locked,
            Self::Refused => KeysCode::Refused,
            Self::Damaged | Self::Newer(_) | Self::Ambiguous => KeysCode::Damaged,
            Self::Missing | Self::NoKeyring | Self::Full(_) | Self::Failed => KeysCode::Failed,
        }
    }

    /// What happened, what it means, what to do.
    fn sentence(self) -> String {
        let entry = format!("entry (service {SERVICE}, account {ACCOUNT})");
        match self {
            Self::NoBus => {
                "There is no session bus, so no keychain can be reached and secrets can be neither read nor \
                            kept there. Start the app inside a desktop session, or choose another place for them."
                    .into()
            }
            Self::NoProvider => "No keychain program answers on the session bus, so secrets can be neither read nor \
                                 kept there. Install and start one, such as GNOME Keyring, KWallet or KeePassXC, and \
                                 try again, or choose another place for them."
                .into(),
            Self::NoKeyring => "The keychain has no default keyring, so secrets cannot be kept there. Make one, for \
                                example in the app Passwords and Keys, and try again, or choose another place for them."
                .into(),
            Self::Locked => "The keychain is locked and was not unlocked, as its prompt was closed or could not be \
                             shown, so secrets can be neither read nor kept there. Unlock it and try again, or choose \
                             another place for them."
                .into(),
            Self::Refused => format!(
                "The system does not let this app use its keychain {entry}, so secrets can be neither read nor kept \
                 there. Allow it and try again, or choose another place for them."
            ),
            Self::Damaged => format!(
                "The keychain's {entry} does not say what this app writes there, so the secrets are unknown. Restore \
                 it and try again; or choose a place for a new secret, and all tokens end."
            ),
            Self::Newer(version) => format!(
                "The keychain's {entry} was written by a newer version of this app (format {version}), so the secrets \
                 are unknown. Update the app; or choose a place for a new secret, and all tokens end."
            ),
            Self::Ambiguous => format!(
                "The keychain has more than one {entry}, so which one counts is unclear and none is used. Remove all \
                 but the right one in the keychain's own app and try again, or choose another place for secrets."
            ),
            Self::Full(most) => format!(
                "An entry of this keychain holds at most {most} bytes, so the secrets were not kept there. Drop old \
                 ones and try again, or choose another place for them."
            ),
            Self::Missing | Self::Failed => {
                "The keychain failed, and the app's log says how, so secrets can be neither \
                                             read nor kept there. Try again, or choose another place for them."
                    .into()
            }
        }
    }
}

/// What went wrong, for the log. Bytes of an entry stand in some errors and entries in others; neither is told.
pub(super) fn told(error: &Error) -> String {
    match error {
        Error::PlatformFailure(cause) | Error::NoStorageAccess(cause) => {
            let below = cause.source().map(|source| format!(": {source}")).unwrap_or_default();
            shown(&format!("{cause}{below}"))
        }
        Error::NoEntry => "no such entry".into(),
        Error::BadEncoding(_) | Error::BadDataFormat(..) => "the entry is not in a form that could be read".into(),
        Error::BadStoreFormat(_) => "the keychain is not in a form that could be read".into(),
        Error::TooLong(_, most) => format!("more than {most} bytes or characters"),
        Error::Ambiguous(entries) => format!("{} entries of one name", entries.len()),
        Error::Invalid(..) => "it does not take such an entry".into(),
        Error::NotSupportedByStore(_) => "it cannot do that".into(),
        // What a later version may add.
        Error::NoDefaultStore | _ => "a failure without a name".into(),
    }
}
