/** What happened that the person should know; part of `text`. */

export const notices = {
    first_connection: ["Connected for the first time", "Only this origin may connect under this name from now on."],
    replaced: ["A newer connection took its place", "The older one was closed. If that was not you opening it twice, revoke its client tokens."],
    origin_refused: ["Refused: came from another origin", "If you know that origin, allow it under the application’s origins."],
    settings_lost: ["The settings could not be used", "Everything asks again, and earlier tokens are no longer valid."],
    unsaved: ["Could not be written down", "It holds until the app quits, and is forgotten then."],
    bridge_ended: ["The bridge ended by itself", "Calls under way ended with it."],
    token_ends: ["A token ends within 7 days", "Copy a new one before that."],
    trouble: ["The bridge reports trouble", ""],
};
