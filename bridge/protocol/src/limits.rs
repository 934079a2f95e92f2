//! Every limit of the bridge, with its unit and its reason (`docs/protocol.md`, "Limits").
//!
//! A number that bounds what a peer can cost belongs here and nowhere else.

use std::time::Duration;

/// Bytes of one message on the client channel and of one agent request body: the protocol fixes it on every bridge, so
/// that an application can check a result before it sends it.
pub const MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// Tools in one `register`: more than any agent can read, little enough to list in one page.
pub const TOOLS: usize = 1_000;

/// UTF-8 bytes of an application's `instructions`.
pub const INSTRUCTIONS_BYTES: usize = 64 * 1024;

/// Characters of a client ID and of a tool name.
pub const NAME_CHARS: usize = 128;

/// Characters of an agent label.
pub const LABEL_CHARS: usize = 64;

/// Bytes of a token: it travels in a header, and 8 KiB is what HTTP servers commonly take.
pub const TOKEN_BYTES: usize = 8 * 1024;

/// Applications connected at a time, counted apart from HTTP connections.
pub const APPLICATIONS: usize = 1_000;

/// WebSocket handshakes begun and not finished.
pub const HANDSHAKES: usize = 256;

/// Time one WebSocket handshake may take.
pub const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// Calls of one application that were sent and are not answered yet.
pub const CALLS_IN_FLIGHT: usize = 64;

/// Calls sent and not answered, of all applications together. Those that wait for the person have limits of their own.
pub const CALLS_IN_ALL: usize = 4_096;

/// Bytes of an origin that is remembered: a scheme, the longest host name (RFC 1035) and a port.
pub const ORIGIN_BYTES: usize = 300;

/// Origins that are allowed at the agents' endpoint, and as many of one application.
pub const ORIGINS: usize = 64;

/// Definitions that are remembered as seen; others are as if they never were.
pub const SEEN: usize = 4_000;

/// Calls of one application that wait for the person's answer: more than a person can look through.
pub const QUESTIONS: usize = 32;

/// Calls of one agent that wait for the person's answer: one agent must not crowd out the others.
pub const QUESTIONS_OF_AGENT: usize = 8;

/// Labels whose newest token is remembered, so that a revocation reaches it though the clock was ahead. Of others it is
/// known that theirs is older than all of these.
pub const ISSUED: usize = 1_000;

/// Rules: what a person can still look through.
pub const RULES: usize = 1_000;

/// The highest generation that is handed over: exact in a double. It cannot be raised any more, so no token is valid in it.
pub const GENERATION: u64 = (1 << 53) - 1;

/// The last moment that is handed over, in Unix milliseconds: 9999-12-31T23:59:59.999Z, the last that is shown as a date. A
/// floor cannot be raised above it, so no token is valid at one that stands there.
pub const LAST_MOMENT: u64 = 253_402_300_799_999;

/// Bytes of one message on the control channel.
pub const CONTROL_BYTES: usize = 1024 * 1024;

/// Bytes of `start` and `remember`, which carry all that is remembered: twice what the settings file may hold.
pub const MEMORY_BYTES: usize = 8 * 1024 * 1024;

/// The shortest time between two snapshots.
pub const SNAPSHOT_PAUSE: Duration = Duration::from_millis(100);

/// Finished calls that are kept for the desktop.
pub const HISTORY: usize = 1_000;

/// Bytes that are kept of a finished call's arguments, and as many of its result.
pub const HISTORY_TEXT_BYTES: usize = 64 * 1024;

/// Bytes of all finished calls' texts together.
pub const HISTORY_BYTES: usize = 64 * 1024 * 1024;

/// Bytes of one piece of a text on the control channel.
pub const PIECE_BYTES: usize = 256 * 1024;

/// How long a denied agent stays blocked.
pub const BLOCK_TIME: Duration = Duration::from_secs(15 * 60);

/// The longest that an application's calls are all allowed: what is forgotten ends by itself, the next day at the latest.
pub const ALLOW_ALL_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The shortest and the longest time that may be set for a question.
pub const QUESTION_TIME_RANGE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(600));

/// Lateness of the bridge's own tick that tells that the machine slept.
pub const SLEEP: Duration = Duration::from_secs(10);

/// Messages in one batch (MCP 2025-03-26).
pub const BATCH: usize = 64;

/// Notification streams open at a time: half of the connections, so that requests keep room.
pub const STREAMS: usize = 256;

/// Notification streams of one application.
pub const STREAMS_PER_APPLICATION: usize = 64;

/// Time between two announcements on one stream: an application that registers on every render announces little.
pub const ANNOUNCE_PAUSE: Duration = Duration::from_secs(1);

/// Time between comments on a notification stream: well below what proxies and hosts wait for a byte.
pub const STREAM_COMMENT: Duration = Duration::from_secs(15);

/// Time after which an answer becomes a stream, and between its comments: a host gives up on silence.
pub const SLOW_ANSWER: Duration = Duration::from_secs(1);

/// Silence before a call that makes an application suspect of being frozen: a page in the background may wake once a
/// minute.
pub const FROZEN_SILENCE: Duration = Duration::from_secs(70);

/// Time a suspect has to send anything after a call.
pub const FROZEN_TIME: Duration = Duration::from_secs(10);

/// Open HTTP connections, notification streams among them.
pub const HTTP_CONNECTIONS: usize = 512;

/// Bytes written to one application that it has not taken yet.
pub const UNSENT_BYTES: usize = 16 * 1024 * 1024;

/// Registers an application may send at once before the rate below holds.
pub const REGISTER_BURST: u32 = 20;

/// Registers per second and connection in the long run; above it the bridge reads that connection more slowly.
pub const REGISTERS_PER_SECOND: u32 = 10;

/// Bytes of an HTTP request head: room for the largest token and many mirrored parameters.
pub const HEAD_BYTES: usize = 64 * 1024;

/// Bytes behind a request that is not answered, before its agent counts as gone: what the next request of one that does not
/// wait may take, and far less than a system takes in, for behind a full window no end can be seen.
pub const BEHIND_BYTES: usize = 16 * 1024;

/// Lines of an HTTP request head: what parsing one request may take in memory.
pub const HEAD_LINES: usize = 256;

/// Time for a request head to arrive, and time a connection may stay without a request.
pub const HEAD_TIME: Duration = Duration::from_secs(30);

/// Time for a request body to arrive.
pub const BODY_TIME: Duration = Duration::from_secs(30);

/// Arrays and objects inside each other. 128 is where common JSON parsers stop.
pub const JSON_NESTING: usize = 128;

/// Silence after which an application counts as gone (close 1001): three pings and some patience.
pub const SILENCE: Duration = Duration::from_secs(90);

/// Time a peer is given to answer a close frame before the connection is dropped.
pub const CLOSE_TIME: Duration = Duration::from_secs(2);

/// Bytes read and dropped after a fatal message, so that the close code arrives instead of a reset.
pub const CLOSE_DRAIN_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of a close reason (RFC 6455, section 5.5).
pub const CLOSE_REASON_BYTES: usize = 123;

/// How long an application may take for a call when nothing else was configured.
pub const CALL_TIME: Duration = Duration::from_secs(120);

/// The shortest and the longest time that may be configured for a call.
pub const CALL_TIME_RANGE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(3_600));

/// Difference between our clock and a token issuer's that is forgiven (`docs/protocol.md`, "Tokens").
pub const CLOCK_LEEWAY: Duration = Duration::from_secs(60);

/// UTF-8 bytes of a secret, at least (RFC 7518, section 3.2: as long as the hash).
pub const SECRET_BYTES: usize = 32;

/// Connections at the local door: a few hosts, each with an instance of the command for some applications.
pub const DOOR_CONNECTIONS: usize = 128;

/// Bytes of the first line at the local door, either way.
pub const DOOR_HELLO_BYTES: usize = 16 * 1024;

/// Time for the first line at the local door: both ends are on this machine.
pub const DOOR_HELLO_TIME: Duration = Duration::from_secs(5);

/// How often an agent in stdio framing that is not read is asked whether it is still there, and where the system wakes
/// nobody for that, how often a command looks for whoever started it.
pub const LOOK_TIME: Duration = Duration::from_millis(250);

/// Requests of one connection in stdio framing that are not answered yet.
pub const LINE_REQUESTS: usize = 256;

/// Bytes that an agent on lines has not read when no more is read from it: room for a few of the longest answers.
pub const UNREAD_BYTES: usize = 4 * MESSAGE_BYTES;

/// Bytes of one message that the local door sends: an answer holds an application's message, and a legacy list may be
/// longer than the definitions it was made of.
pub const DOOR_ANSWER_BYTES: usize = 2 * MESSAGE_BYTES + 64 * 1024;

/// Open questions at the local door: more than a person can look through.
pub const DOOR_QUESTIONS: usize = 16;

/// Who waits for the answer to one question at the local door: a host and what it starts beside. All questions together
/// leave half of the connections to those that were let in.
pub const DOOR_WAITERS: usize = 4;

/// Pairs of a host and an application: what a person can still look through.
pub const PAIRS: usize = 256;

/// How long a token lasts that a host asks for before each of its requests or sessions.
pub const HEADERS_TIME: Duration = Duration::from_secs(60 * 60);

/// How long requests wait for the local door to open or refuse before they are answered without it.
pub const DOOR_OPEN_TIME: Duration = Duration::from_secs(10);

/// The bound of the random time before the first attempt to reach the local door anew; it doubles with each failure.
pub const DOOR_BACKOFF: Duration = Duration::from_millis(250);

/// Where that bound stops: a desktop app that was opened is found within this time.
pub const DOOR_BACKOFF_MOST: Duration = Duration::from_secs(5);

/// What the stdio command's answers under way may still take once stdin has ended; it ends within 1 s of that.
pub const LAST_ANSWERS_TIME: Duration = Duration::from_millis(500);
