// The control channel between the bridge and the desktop app. Written by `cargo xtask bindings`: do not edit.

export const CONTROL_VERSION = 1;

export const CONTROL_BYTES = 1048576;

/**
 * What goes with an answer.
 */
export type Also = "nothing" | { "remember": { 
/**
 * For every agent, or for the one that asked.
 */
any_agent: boolean, 
/**
 * Until when.
 */
until: Until, } } | "block_agent";

/**
 * A connected application.
 */
export type ApplicationHead = { 
/**
 * Its client ID.
 */
id: ClientId, 
/**
 * Counts up with each connection: another number is another connection.
 */
connection: Count, 
/**
 * Where it came from: an origin, or `native`.
 */
origin: string, 
/**
 * Since when it is connected.
 */
since: Millis, 
/**
 * Whether it has registered.
 */
registered: boolean, 
/**
 * How many tools it declares.
 */
tools: Count, 
/**
 * Bytes of its tools' definitions together.
 */
tools_bytes: Count, 
/**
 * Bytes of its instructions.
 */
instructions_bytes: Count, 
/**
 * SHA-256 over its tools and instructions: another one is another declaration.
 */
declaration: Fingerprint | null, 
/**
 * Calls sent and not answered.
 */
in_flight: Count, 
/**
 * It sent nothing after a call, after a long silence.
 */
unresponsive: boolean, };

/**
 * Texts of an application.
 */
export type ApplicationPart = "tools" | "instructions";

/**
 * An agent whose calls are answered `blocked`.
 */
export type BlockedAgent = { 
/**
 * Whose agent.
 */
application: ClientId, 
/**
 * Its label.
 */
label: Label | null, 
/**
 * Until when.
 */
until: Until, };

/**
 * A call under way.
 */
export type CallHead = { 
/**
 * Counts up with each call of this bridge.
 */
number: Count, 
/**
 * Whose tool.
 */
application: ClientId, 
/**
 * Which tool.
 */
tool: ToolName, 
/**
 * Who called.
 */
agent: Label | null, 
/**
 * The person's own call.
 */
own: boolean, 
/**
 * Waiting until it was sent.
 */
sent: Millis | null, 
/**
 * When it came.
 */
began: Millis, 
/**
 * Bytes of the arguments.
 */
arguments_bytes: Count, };

/**
 * Texts of a finished call, each cut at 64 KiB.
 */
export type CallPart = "arguments" | "result";

/**
 * An application's identity, the `sub` of its tokens: 1 to 128 of `A-Z a-z 0-9 _ - .` (`docs/protocol.md`, "Tokens").
 *
 * It is the unit of isolation: tools, calls and notifications of one client ID are never visible to another.
 */
export type ClientId = string;

/**
 * From where applications may connect.
 */
export type ClientOrigins = "any" | "pinned";

/**
 * A count, a size in bytes or a number in a sequence: exact in a double.
 */
export type Count = number;

/**
 * Entries left out of a snapshot.
 */
export type Cut = { 
/**
 * Of `applications`.
 */
applications: Count, 
/**
 * Of `questions`.
 */
questions: Count, 
/**
 * Of `calls`.
 */
calls: Count, 
/**
 * Of `rules`.
 */
rules: Count, };

/**
 * The answer to a question.
 */
export type Decide = { 
/**
 * Which question.
 */
question: QuestionId, 
/**
 * The definition that was shown: an answer to another one does nothing.
 */
fingerprint: Fingerprint, 
/**
 * Yes or no.
 */
verdict: Verdict, 
/**
 * What else is to be done in the same step.
 */
also: Also, };

/**
 * What is known of a tool's definition.
 */
export type Definition = "seen" | "new" | "changed";

/**
 * How a call ended.
 */
export type Ending = "answered" | "failed" | { "code": OutcomeCode } | "unknown_tool";

/**
 * What can be wrong.
 */
export type ErrorCode = "not_a_command" | "version" | "start" | "port_taken" | "listen" | "secret" | "value" | "no_such_question" | "not_found" | "stale";

/**
 * One message.
 */
export type Event = { "type": "hello" } & Hello | { "type": "listening", 
/**
 * Where agents call.
 */
mcp: string, 
/**
 * Where applications connect.
 */
connect: string, 
/**
 * The bridge's process.
 */
pid: number, } | { "type": "snapshot" } & Snapshot | { "type": "finished", 
/**
 * Calls.
 */
calls: Array<FinishedCall>, 
/**
 * How many between the last message and this one were dropped, because the desktop did not read.
 */
missed: Count, } | { "type": "remember" } & Memory | { "type": "reply", 
/**
 * The command's number.
 */
request: Count, 
/**
 * What came of it.
 */
reply: Reply, } | { "type": "error", 
/**
 * A stable code.
 */
code: ErrorCode, 
/**
 * What happened, what it means, what to do.
 */
sentence: string, };

/**
 * SHA-256 of a text: an approval of one definition is none of another. On the wire 64 hexadecimal digits.
 */
export type Fingerprint = string;

/**
 * A call that ended.
 */
export type FinishedCall = { 
/**
 * What it was.
 */
call: CallHead, 
/**
 * How it ended.
 */
outcome: Ending, 
/**
 * When.
 */
ended: Millis, 
/**
 * Bytes of the result; 0 without one.
 */
result_bytes: Count, };

/**
 * Tokens of one label issued before a moment are refused.
 */
export type Floor = { 
/**
 * Whose tokens.
 */
application: ClientId, 
/**
 * Of which role.
 */
role: Role, 
/**
 * Of which label; none for unlabelled ones.
 */
label: Label | null, 
/**
 * The moment.
 */
issued_before: Millis, };

/**
 * The generation that tokens of an application and role must have; 0 where none is named.
 */
export type Generation = { 
/**
 * Whose tokens.
 */
application: ClientId, 
/**
 * Of which role.
 */
role: Role, 
/**
 * What their `gen` must equal.
 */
generation: number, };

/**
 * The first message of either end.
 */
export type Hello = { 
/**
 * [`CONTROL_VERSION`].
 */
control: number, 
/**
 * The program's own version, for people.
 */
version: string, };

/**
 * A tool's annotations: claims of the application, checked by nobody.
 */
export type Hints = { 
/**
 * `readOnlyHint`
 */
read_only: boolean | null, 
/**
 * `destructiveHint`
 */
destructive: boolean | null, 
/**
 * `idempotentHint`
 */
idempotent: boolean | null, 
/**
 * `openWorldHint`
 */
open_world: boolean | null, };

/**
 * What an agent is called by the person who made its token: at most 64 characters, any script.
 */
export type Label = string;

/**
 * All that outlives the bridge and is not a secret. The desktop writes it down whole, and hands it over whole.
 */
export type Memory = { 
/**
 * Modes other than `ask`.
 */
modes: Array<ModeOf>, 
/**
 * Rules.
 */
rules: Array<Rule>, 
/**
 * Agents that are blocked.
 */
blocked: Array<BlockedAgent>, 
/**
 * Pinned origins.
 */
pins: Array<Pin>, 
/**
 * Generations other than 0.
 */
generations: Array<Generation>, 
/**
 * Floors.
 */
floors: Array<Floor>, 
/**
 * Definitions that the person has seen: a read-only claim counts only for these.
 */
seen: Array<Seen>, };

/**
 * A Unix time in milliseconds.
 */
export type Millis = number;

/**
 * Whether an application's calls need the person's answer.
 */
export type Mode = "ask" | "ask_except_read_only" | "allow_all" | "block";

/**
 * The mode of one application; those without one are asked for.
 */
export type ModeOf = { 
/**
 * Which application.
 */
application: ClientId, 
/**
 * Its mode.
 */
mode: Mode, 
/**
 * When it goes back to `ask`. `allow_all` always has an end.
 */
until: Until, };

/**
 * How a call ended that the application did not answer (`docs/protocol.md`, "Call outcomes").
 */
export type OutcomeCode = "offline" | "disconnected" | "timeout" | "unresponsive" | "declined" | "unanswered" | "unattended" | "changed" | "paused" | "blocked" | "busy" | "cancelled";

/**
 * Origins from which an application may connect. `native` stands for no origin.
 */
export type Pin = { 
/**
 * Which application.
 */
application: ClientId, 
/**
 * Its origins, the first seen first.
 */
origins: Array<string>, };

/**
 * One open question.
 */
export type QuestionHead = { 
/**
 * To be named in `decide`.
 */
id: QuestionId, 
/**
 * Of its call.
 */
number: Count, 
/**
 * Whose tool.
 */
application: ClientId, 
/**
 * Where the application came from.
 */
origin: string, 
/**
 * Which tool.
 */
tool: ToolName, 
/**
 * Its definition's fingerprint, to be named in `decide`.
 */
fingerprint: Fingerprint, 
/**
 * What it calls itself, made harmless and cut.
 */
title: string | null, 
/**
 * What it says it does, made harmless and cut.
 */
description: string | null, 
/**
 * Who asks.
 */
agent: Label | null, 
/**
 * What the agent calls itself, made harmless and cut. Nobody has checked it.
 */
reported: string | null, 
/**
 * Bytes of the arguments.
 */
arguments_bytes: Count, 
/**
 * Bytes of the definition.
 */
tool_bytes: Count, 
/**
 * The application's own claims.
 */
hints: Hints, 
/**
 * The application's own word for how much it matters, made harmless and cut.
 */
risk: string | null, 
/**
 * Whether this definition was never seen, or another one was.
 */
definition: Definition, 
/**
 * When it was asked.
 */
asked: Millis, 
/**
 * When nobody will have answered.
 */
ends: Millis, };

/**
 * A question's identity: 128 random bits, never used again. On the wire 32 hexadecimal digits.
 */
export type QuestionId = string;

/**
 * Texts of a question.
 */
export type QuestionPart = "arguments" | "tool";

/**
 * Requests that failed a check at the door. Counted only: nothing of them is kept.
 */
export type RefusedCounts = { 
/**
 * A foreign `Host`.
 */
host: Count, 
/**
 * A foreign `Origin` at the agents' endpoint.
 */
origin: Count, 
/**
 * A token that is none of ours, or none any more.
 */
token: Count, 
/**
 * An application from an origin that is not pinned.
 */
client_origin: Count, };

/**
 * What came of a command.
 */
export type Reply = "done" | { "text": { 
/**
 * The piece.
 */
piece: string, 
/**
 * The whole text's bytes.
 */
bytes: Count, } } | { "token": { 
/**
 * The token.
 */
token: string, 
/**
 * When it ends.
 */
ends: Millis | null, } } | { "tried": { 
/**
 * How.
 */
outcome: Ending, 
/**
 * The number under which its texts are kept.
 */
number: Count, } } | { "refused": { 
/**
 * A stable code.
 */
code: ErrorCode, 
/**
 * Why.
 */
sentence: string, } };

/**
 * One command. Each is answered by one `reply` with its number.
 */
export type Request = { 
/**
 * The desktop's number for it.
 */
request: Count, } & ({ "type": "start" } & Start | { "type": "decide" } & Decide | { "type": "set_mode", 
/**
 * Which application.
 */
application: ClientId, 
/**
 * Its mode.
 */
mode: Mode, 
/**
 * Until when.
 */
until: Until, } | { "type": "set_rules", 
/**
 * The revision that the desktop saw last.
 */
revision: Count, 
/**
 * The rules from now on.
 */
rules: Array<Rule>, } | { "type": "add_origin", 
/**
 * Which application.
 */
application: ClientId, 
/**
 * A serialized origin or `native`; `null` is refused.
 */
origin: string, } | { "type": "pause" } | { "type": "resume" } | { "type": "disconnect", 
/**
 * Which application.
 */
application: ClientId, } | { "type": "revoke", 
/**
 * Whose tokens.
 */
application: ClientId, 
/**
 * Of which role.
 */
role: Role, 
/**
 * Which of them.
 */
which: Which, } | { "type": "unblock", 
/**
 * Whose agent.
 */
application: ClientId, 
/**
 * Its label.
 */
label: Label | null, } | { "type": "set_secrets", 
/**
 * One or more, each of at least 32 bytes.
 */
secrets: Secrets, } | { "type": "set_settings", 
/**
 * The settings from now on.
 */
settings: Settings, } | { "type": "mint", 
/**
 * Whose.
 */
application: ClientId, 
/**
 * Of which role.
 */
role: Role, 
/**
 * What the agent is called.
 */
label: Label | null, 
/**
 * Seconds until it ends; none for never.
 */
seconds: number | null, } | { "type": "try_tool", 
/**
 * Whose tool.
 */
application: ClientId, 
/**
 * Which tool.
 */
tool: ToolName, 
/**
 * The definition that the person saw.
 */
fingerprint: Fingerprint, 
/**
 * A JSON object.
 */
arguments: string, } | { "type": "sample_start" } | { "type": "sample_stop" } | { "type": "get", 
/**
 * Which text.
 */
text: TextRef, 
/**
 * Where the piece begins.
 */
offset: Count, } | { "type": "shutdown" });

/**
 * What a token lets its holder be.
 */
export type Role = "client" | "agent";

/**
 * A remembered answer.
 */
export type Rule = { 
/**
 * Given by the bridge; unique among rules.
 */
id: string, 
/**
 * Whose tool.
 */
application: ClientId, 
/**
 * Which tool.
 */
tool: ToolName, 
/**
 * Whose calls.
 */
agent: RuleAgent, 
/**
 * Allow or deny.
 */
verdict: Verdict, 
/**
 * The definition it was given for. An allow rule without one, or for another one, allows nothing.
 */
fingerprint: Fingerprint | null, 
/**
 * The origin it was given for. An allow rule without one, or for another one, allows nothing.
 */
origin: string | null, 
/**
 * Its end.
 */
until: Until, 
/**
 * When it was made.
 */
made: Millis, };

/**
 * Whose calls a rule is about.
 */
export type RuleAgent = "any" | { "one": Label | null };

/**
 * Secrets on their way in. They are never printed.
 */
export type Secrets = Array<string>;

/**
 * A definition that was shown to the person or used under a rule.
 */
export type Seen = { 
/**
 * Whose tool.
 */
application: ClientId, 
/**
 * Which tool.
 */
tool: ToolName, 
/**
 * Its newest definition that was seen.
 */
fingerprint: Fingerprint, };

/**
 * What the person set.
 */
export type Settings = { 
/**
 * From where applications may connect.
 */
client_origins: ClientOrigins, 
/**
 * Origins of web pages that may send agent requests, beside the bridge's own.
 */
allow_origins: Array<string>, 
/**
 * Seconds that an application has for a call: 1 to 3600.
 */
call_seconds: number, 
/**
 * Seconds that the person has for a question: 10 to 600.
 */
question_seconds: number, };

/**
 * All there is to see. Heads only: whole texts are read with `get`.
 */
export type Snapshot = { 
/**
 * Counts up with each snapshot.
 */
revision: Count, 
/**
 * Calls are answered `paused`.
 */
paused: boolean, 
/**
 * What is set.
 */
settings: Settings, 
/**
 * Connected applications, by client ID.
 */
applications: Array<ApplicationHead>, 
/**
 * Open questions, the earliest end first.
 */
questions: Array<QuestionHead>, 
/**
 * Calls under way, in the order of their numbers.
 */
calls: Array<CallHead>, 
/**
 * Modes other than `ask`.
 */
modes: Array<ModeOf>, 
/**
 * Rules in force.
 */
rules: Array<Rule>, 
/**
 * Counts up with each change of the rules.
 */
rules_revision: Count, 
/**
 * Agents that are blocked.
 */
blocked: Array<BlockedAgent>, 
/**
 * What was refused at the door since the start.
 */
refused: RefusedCounts, 
/**
 * How many entries were left out to keep the message within its size.
 */
cut: Cut, };

/**
 * What a bridge starts with.
 */
export type Start = { 
/**
 * The port on 127.0.0.1; 0 takes a free one.
 */
port: number, 
/**
 * One or more: the first signs, all verify.
 */
secrets: Secrets, 
/**
 * What the person set.
 */
settings: Settings, 
/**
 * What the bridge had written down.
 */
memory: Memory, 
/**
 * Whether it starts paused.
 */
paused: boolean, };

/**
 * A text that can be read piece by piece.
 */
export type TextRef = { "of": "question", 
/**
 * Which.
 */
id: QuestionId, 
/**
 * Which text of it.
 */
part: QuestionPart, } | { "of": "call", 
/**
 * Its number.
 */
number: Count, 
/**
 * Which text of it.
 */
part: CallPart, } | { "of": "application", 
/**
 * Which.
 */
id: ClientId, 
/**
 * Which text of it.
 */
part: ApplicationPart, };

/**
 * A tool's name: the same alphabet and length as a client ID (`docs/protocol.md`, "register").
 */
export type ToolName = string;

/**
 * When a grant or a refusal ends.
 */
export type Until = "always" | "quit" | { "at": Millis };

/**
 * Whether a rule lets calls through.
 */
export type Verdict = "allow" | "deny";

/**
 * Which tokens are revoked.
 */
export type Which = "all" | { "label": Label | null };
