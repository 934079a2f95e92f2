/** A rich desktop, as the windows are told of it: for the tests and for the pictures. */

import type { DoorQuestion, QuestionHead, Snapshot } from "../../src/bindings";
import type { FinishedCalls, QuestionView, Snippet, View } from "../../src/desktop";

export const NOW = 1_795_000_000_000;
const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const print = (digit: string): string => digit.repeat(64);

export const ARGUMENTS =
    '{"to":"0x71C7656EC7ab88b098defB751B7401B5f6d8976F","amount":12345678901234567890,"fee":0.10,"limit":1e400,"shift":-0,' +
    '"memo":"Rent for \\u202eyluJ\\nand a second line","to":"0xAttacker","tags":["urgent","home"],"options":{"dryRun":false,"notify":null}}';

export const TOOL =
    '{"name":"sendPayment","title":"Send a payment","description":"Sends an amount from the open wallet to an address. The network takes a fee.","inputSchema":{"type":"object","properties":{"to":{"type":"string","description":"Who gets it"},"amount":{"type":"integer"},"fee":{"type":"number","default":0.10}},"required":["to","amount"]},"annotations":{"readOnlyHint":false,"destructiveHint":true}}';

export const TOOLS = `[${[
    '{"name":"getBalance","title":"Balance","description":"The balance of the open wallet, in the smallest unit.\\n\\nIt asks the network, so it may take a moment.","inputSchema":{"type":"object","properties":{"chainId":{"type":"integer","minimum":1}}},"outputSchema":{"type":"object","properties":{"balance":{"type":"string"}}},"annotations":{"readOnlyHint":true,"openWorldHint":true}}',
    TOOL,
    '{"name":"listTransactions","description":"The newest transactions, the newest first.","inputSchema":{"type":"object","properties":{"most":{"type":"integer","default":20}}},"annotations":{"readOnlyHint":true}}',
    '{"name":"signMessage","title":"Sign a message\\u202e","description":"Signs a text with the wallet’s key.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}',
    '{"name":"renameWallet","description":"Gives the wallet another name.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}}},"annotations":{"destructiveHint":false,"idempotentHint":true}}',
].join(",")}]`;

export function question(more: Partial<QuestionHead> = {}): QuestionHead {
    return {
        id: "0123456789abcdef0123456789abcdef",
        number: 1_042,
        application: "alice-wallet",
        origin: "https://wallet.example",
        tool: "sendPayment",
        fingerprint: print("a"),
        title: "Send a payment",
        description: "Sends an amount from the open wallet to an address. The network takes a fee.",
        agent: "Claude Code",
        via: "token",
        reported: "claude-code 2.1.4",
        arguments_bytes: new TextEncoder().encode(ARGUMENTS).length,
        tool_bytes: TOOL.length,
        hints: { read_only: false, destructive: null, idempotent: null, open_world: true },
        risk: "moves money",
        definition: "changed",
        asked: NOW - 21 * SECOND,
        ends: NOW + 99 * SECOND,
        ...more,
    };
}

export function questionView(more: Partial<QuestionView> = {}, head: Partial<QuestionHead> = {}): QuestionView {
    return { question: question(head), armed_in: 0, deny_in: 0, all_seen: true, always: "offered", others: 2, theme: "system", ...more };
}

export function doorQuestion(more: Partial<DoorQuestion> = {}): DoorQuestion {
    return {
        id: "3123456789abcdef0123456789abcdef",
        wants: { pair: { host: "Claude Desktop", application: "alice-wallet" } },
        program: { pid: 4_711, path: "/opt/clientmcp/clientmcp", parent: "/opt/Claude/claude-desktop" },
        asked: NOW - 4 * SECOND,
        ends: NOW + 116 * SECOND,
        ...more,
    };
}

export const snapshot: Snapshot = {
    revision: 7,
    paused: false,
    settings: { client_origins: "pinned", allow_origins: [], call_seconds: 120, question_seconds: 120 },
    applications: [
        { id: "alice-wallet", connection: 3, label: null, origin: "https://wallet.example", since: NOW - 3 * HOUR, registered: true, tools: 5, tools_bytes: TOOLS.length, instructions_bytes: 214, declaration: print("d"), in_flight: 1, unresponsive: false },
        { id: "figma-bridge", connection: 5, label: null, origin: "https://design.example", since: NOW - 40 * MINUTE, registered: true, tools: 12, tools_bytes: 9_000, instructions_bytes: 0, declaration: print("e"), in_flight: 0, unresponsive: true },
        { id: "notes", connection: 9, label: null, origin: "native", since: NOW - 12 * SECOND, registered: true, tools: 4, tools_bytes: 3_000, instructions_bytes: 0, declaration: print("f"), in_flight: 0, unresponsive: false },
    ],
    questions: [
        question(),
        question({ id: "1123456789abcdef0123456789abcdef", number: 1_043, tool: "delete-note", application: "notes", origin: "native", agent: "Cursor", definition: "new", title: null, ends: NOW + 108 * SECOND }),
        question({ id: "2123456789abcdef0123456789abcdef", number: 1_044, tool: "getBalance", agent: null, definition: "seen", ends: NOW + 115 * SECOND }),
    ],
    calls: [
        { number: 1_041, application: "alice-wallet", tool: "listTransactions", agent: "Claude Code", via: "token", own: false, sent: NOW - 3 * SECOND, began: NOW - 4 * SECOND, arguments_bytes: 11 },
        { number: 1_042, application: "alice-wallet", tool: "sendPayment", agent: "Claude Code", via: "token", own: false, sent: null, began: NOW - 21 * SECOND, arguments_bytes: 240 },
        { number: 1_043, application: "notes", tool: "delete-note", agent: "Cursor", via: "token", own: false, sent: null, began: NOW - 12 * SECOND, arguments_bytes: 18 },
    ],
    modes: [
        { application: "notes", mode: "allow_all", until: { at: NOW + 9 * MINUTE + 12 * SECOND } },
        { application: "figma-bridge", mode: "ask_except_read_only", until: "always" },
        { application: "old-script", mode: "block", until: "always" },
    ],
    rules: [
        { id: "r1", application: "alice-wallet", tool: "getBalance", agent: { one: "Claude Code" }, verdict: "allow", fingerprint: print("b"), origin: "https://wallet.example", until: "always", made: NOW - 3 * DAY },
        { id: "r2", application: "notes", tool: "list-notes", agent: "any", verdict: "allow", fingerprint: print("c"), origin: "native", until: { at: NOW + 4 * MINUTE }, made: NOW - 11 * MINUTE },
        { id: "r3", application: "alice-wallet", tool: "signMessage", agent: { one: null }, verdict: "deny", fingerprint: null, origin: null, until: "always", made: NOW - 9 * DAY },
        { id: "r4", application: "figma-bridge", tool: "export-frame", agent: { one: "Cursor" }, verdict: "allow", fingerprint: print("9"), origin: "https://design.example", until: "quit", made: NOW - 2 * HOUR },
    ],
    rules_revision: 4,
    blocked: [{ application: "alice-wallet", label: "Überprüfer ✓", until: { at: NOW + 11 * MINUTE } }],
    refused: { host: 0, origin: 2, token: 14, client_origin: 1 },
    cut: { applications: 0, questions: 0, calls: 0, rules: 0, modes: 0, blocked: 0 },
    door: { open: true, fault: null },
    door_questions: [doorQuestion()],
    pairs: [
        { host: "Claude Desktop", application: "notes", verdict: "allow", made: NOW - 2 * DAY },
        { host: "Editor\u202e", application: null, verdict: "allow", made: NOW - 9 * DAY },
        { host: "Unknown helper", application: "alice-wallet", verdict: "deny", made: NOW - HOUR },
    ],
};

export const view: View = {
    version: "0.1.0",
    bridge: { state: "running", mcp: "http://127.0.0.1:27182/mcp", connect: "ws://127.0.0.1:27182/connect" },
    keys: { state: "keychain" },
    snapshot,
    known: [
        {
            application: "alice-wallet",
            last_seen: NOW - 3 * HOUR,
            labels: [
                { role: "agent", label: "Claude Code", last_use: NOW - 4 * SECOND, end: NOW + 71 * DAY },
                { role: "agent", label: "Cursor on the laptop", last_use: NOW - 2 * DAY, end: NOW + 5 * DAY + HOUR },
                { role: "agent", label: null, last_use: null, end: null },
                { role: "client", label: null, last_use: NOW - 3 * HOUR, end: NOW + 300 * DAY },
            ],
        },
        { application: "notes", last_seen: NOW - 12 * SECOND, labels: [] },
        { application: "figma-bridge", last_seen: NOW - 40 * MINUTE, labels: [] },
        { application: "old-script", last_seen: NOW - 21 * DAY, labels: [] },
        { application: "garden-sensors.kitchen", last_seen: null, labels: [{ role: "client", label: "Raspberry", last_use: null, end: NOW + 364 * DAY }] },
    ],
    pins: [
        { application: "alice-wallet", origins: ["https://wallet.example", "http://localhost:5173"] },
        { application: "notes", origins: ["native"] },
    ],
    preferences: { port: 27_182, client_origins: "pinned", allow_origins: [], call_seconds: 120, question_seconds: 120, theme: "system", start_at_login: true },
    old_secrets: 1,
    notices: [
        { number: 3, at: NOW - 12 * SECOND, kind: "first_connection", application: "notes", detail: "native" },
        { number: 2, at: NOW - 40 * MINUTE, kind: "replaced", application: "figma-bridge", detail: "https://design.example" },
        { number: 1, at: NOW - 26 * HOUR, kind: "token_ends", application: "alice-wallet", detail: "Cursor on the laptop" },
    ],
    no_tray: null,
    question_windows: true,
    quitting: null,
    wanted: ["applications", 0],
};

export const emptyView: View = {
    ...view,
    snapshot: { ...snapshot, applications: [], questions: [], calls: [], modes: [], rules: [], blocked: [], door_questions: [], pairs: [] },
    known: [],
    pins: [],
    notices: [],
    old_secrets: 0,
};

const ENDINGS = ["answered", "answered", "answered", { code: "declined" }, "answered", "failed", { code: "timeout" }, "answered", { code: "cancelled" }, "answered", { code: "offline" }, "unknown_tool", { code: "unanswered" }] as const;
const CALLED = [
    ["alice-wallet", "getBalance", "Claude Code"],
    ["notes", "list-notes", "Cursor"],
    ["figma-bridge", "export-frame", "Cursor"],
    ["alice-wallet", "sendPayment", "Claude Code"],
    ["notes", "add-note", null],
] as const;

export function finished(count: number): FinishedCalls {
    const calls = Array.from({ length: count }, (_, index) => {
        const number = 1_040 - count + 1 + index;
        const [application, tool, agent] = CALLED[number % CALLED.length]!;
        const began = NOW - (count - index) * 47 * SECOND;
        const outcome = ENDINGS[number % ENDINGS.length]!;
        const sent = outcome === "answered" || outcome === "failed" || (typeof outcome === "object" && outcome.code === "timeout") ? began + (number % 7) * 900 : null;
        return {
            call: { number, application, tool, agent, via: number % 23 === 0 ? null : "token" as const, own: number % 23 === 0, sent, began, arguments_bytes: number % 19 === 0 ? 180_000 : 64 },
            outcome,
            ended: (sent ?? began) + 40 + (number % 11) * 310,
            result_bytes: sent === null ? 0 : 320,
        };
    });
    return { run: 1, calls, missed: 0 };
}

const started = (host: string): string => `{
  "mcpServers": {
    "alice-wallet": {
      "command": "/opt/clientmcp/clientmcp",
      "args": ["stdio", "--host", "${host}", "--app", "alice-wallet"]
    }
  }
}`;

export const snippets: Snippet[] = [
    { host: "claude-desktop", name: "Claude Desktop", by: "command", place: "~/.config/Claude/claude_desktop_config.json", language: "json", text: started("Claude Desktop"), note: "In Claude Desktop: Settings, Developer, Edit Config. It reads the file when it starts: quit it and start it again." },
    { host: "claude-code", name: "Claude Code", by: "command", place: "a terminal", language: "shell", text: "claude mcp add --scope user alice-wallet -- /opt/clientmcp/clientmcp stdio --host 'Claude Code' --app alice-wallet", note: null },
    { host: "claude-code", name: "Claude Code", by: "url", place: "a terminal", language: "shell", text: "claude mcp add --transport http alice-wallet http://127.0.0.1:27182/mcp \\\n  --header \"Authorization: Bearer <token>\"", note: "It gives up after 5 minutes without an answer." },
    { host: "cursor", name: "Cursor", by: "command", place: "~/.cursor/mcp.json", language: "json", text: started("Cursor"), note: "Server and tool name together have at most 60 characters there." },
    { host: "cursor", name: "Cursor", by: "url", place: "~/.cursor/mcp.json", language: "json", text: '{\n  "mcpServers": {\n    "alice-wallet": {\n      "url": "http://127.0.0.1:27182/mcp",\n      "headers": { "Authorization": "Bearer <token>" }\n    }\n  }\n}', note: "Server and tool name together have at most 60 characters there." },
    { host: "vscode", name: "VS Code", by: "url", place: "~/.config/Code/User/mcp.json", language: "json", text: '{\n  "servers": {\n    "alice-wallet": { "type": "http", "url": "http://127.0.0.1:27182/mcp", "headers": { "Authorization": "Bearer <token>" } }\n  }\n}', note: "The key is “servers”." },
    { host: "codex", name: "Codex", by: "url", place: "~/.codex/config.toml", language: "toml", text: '[mcp_servers.alice-wallet]\nurl = "http://127.0.0.1:27182/mcp"\nhttp_headers = { Authorization = "Bearer <token>" }', note: null },
    { host: "gemini-cli", name: "Gemini CLI", by: "url", place: "~/.gemini/settings.json", language: "json", text: '{ "mcpServers": { "alice-wallet": { "httpUrl": "http://127.0.0.1:27182/mcp", "headers": { "Authorization": "Bearer <token>" } } } }', note: "“url” would mean another transport." },
    { host: "windsurf", name: "Windsurf", by: "url", place: "~/.codeium/windsurf/mcp_config.json", language: "json", text: '{ "mcpServers": { "alice-wallet": { "serverUrl": "http://127.0.0.1:27182/mcp" } } }', note: null },
    { host: "zed", name: "Zed", by: "url", place: "~/.config/zed/settings.json", language: "json", text: '{ "context_servers": {} }', note: null },
    { host: "goose", name: "Goose", by: "url", place: "~/.config/goose/config.yaml", language: "yaml", text: "extensions:\n  alice-wallet:\n    type: streamable_http", note: null },
    { host: "lm-studio", name: "LM Studio", by: "url", place: "~/.lmstudio/mcp.json", language: "json", text: '{ "mcpServers": {} }', note: null },
];

export const RESULT = '{"content":[{"type":"text","text":"Balance: 12345678901234567890 wei\\nas of block 19,000,001"}],"structuredContent":{"balance":"12345678901234567890","raw":12345678901234567890,"rate":0.10}}';
export const INSTRUCTIONS = JSON.stringify("This is Alice’s wallet. Amounts are in wei.\n\nAlways ask for the balance first.");
