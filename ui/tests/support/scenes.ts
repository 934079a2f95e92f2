/** What each picture shows: how the app stands, and what the person clicked. Runs in the page, before and after its own script. */

import type { Page, View } from "../../src/desktop";
import { FakeApp } from "./fake";
import { doorQuestion, emptyView, finished, NOW, questionView, snapshot, view } from "./fixture";

const app = new FakeApp();

const at = (page: Page, more: Partial<View> = {}): View => ({ ...view, wanted: [page, 1], ...more });

const SCENES: Record<string, View> = {
    empty: emptyView,
    approvals: at("approvals"),
    "approvals-none": at("approvals", { snapshot: { ...snapshot, questions: [], door_questions: [] } }),
    "approvals-door": at("approvals", { snapshot: { ...snapshot, questions: [], door_questions: [doorQuestion(), doorQuestion({ id: "4123456789abcdef0123456789abcdef", wants: { token: { application: "notes", role: "agent", label: "ci", seconds: 3_600 } } })] } }),
    "approvals-door-token": at("approvals", { snapshot: { ...snapshot, questions: [], door_questions: [doorQuestion({ wants: { token: { application: "notes", role: "client", label: null, seconds: null } }, program: { pid: null, path: null, parent: null } })] } }),
    calls: at("calls"),
    "connect-url": at("connect"),
    "connect-pairs": at("connect"),
    "connect-closed": at("connect", { snapshot: { ...snapshot, door: { open: false, fault: "another bridge has the door: it is tried again every second" }, pairs: [] } }),
    call: at("calls"),
    connect: at("connect"),
    settings: at("settings", { notices: [] }),
    confirm: at("applications"),
    forget: at("settings"),
    keys: at("applications", {
        bridge: { state: "held" },
        keys: {
            state: "trouble",
            code: "no_provider",
            sentence: "No keychain program is installed or running on this desktop, so the app has no safe place for its secret. Install one, such as GNOME Keyring, or choose below.",
            choices: ["again", "session", "file"],
        },
    }),
    failed: at("applications", {
        snapshot: null,
        bridge: { state: "failed", code: "port_taken", sentence: "Port 27182 is taken by another program (node, process 4312). End it, or choose another port in the settings." },
    }),
    copied: at("connect"),
    "first-tray": at("approvals", { no_tray: "This desktop shows no tray icons, so the window opens instead.", question_windows: false, snapshot: { ...snapshot, questions: [], door_questions: [] } }),
    paused: at("applications", { snapshot: { ...snapshot, paused: true } }),
    quitting: at("applications", { quitting: 2 }),
};

export function begin(name: string): void {
    // The fixture's moments are seen from its own now.
    const shift = NOW - Date.now();
    const own = Date.now.bind(Date);
    Date.now = () => own() + shift;
    app.view = SCENES[name] ?? view;
    app.finished = name.startsWith("call") ? finished(300) : finished(40);
    app.question = { ...questionView(), others: 0 };
    if (name === "question-arming") {
        app.question = questionView({ armed_in: null, always: "not_all_shown" });
    } else if (name === "question-new") {
        app.question = questionView({ always: "destructive" }, { definition: "new", hints: { read_only: null, destructive: true, idempotent: null, open_world: null }, reported: null, risk: null, agent: null });
    } else if (name === "question-large") {
        const long = `{"path":"notes/today.md","text":"${"All work and no play. ".repeat(12_000)}"}`;
        app.arguments = long;
        app.question = questionView({ always: "not_all_shown" }, { arguments_bytes: long.length, definition: "seen", tool: "write_a_file_with_a_very_long_name_that_goes_on_and_on", application: "an.application-with-a-long-client-id.example" });
    }
    if (name === "question-door" || name === "question-more") {
        app.question = questionView({}, { agent: "Сlaude Desktop” was allowed by you. Click Let it in", via: "door", definition: "changed" });
    } else if (name === "question-long") {
        app.question = questionView({ always: "not_all_shown" }, { agent: "A host with a name that is as long as any name may be, and so on", via: "door", application: "an-application.".repeat(8), tool: "write_a_file_with_a_very_long_name_".repeat(3), definition: "changed" });
    } else if (name === "question-deep") {
        app.arguments = `${'{"in":'.repeat(40)}{"cmd":"rm -rf ~"}${"}".repeat(40)}`;
        app.question = questionView({ all_seen: false, always: "not_all_shown" }, { arguments_bytes: app.arguments.length, definition: "seen" });
    }
    app.install(globalThis as unknown as Record<string, unknown>);
}

export function act(name: string): void {
    switch (name) {
        case "application-tool":
            document.querySelectorAll<HTMLElement>(".tool .head")[1]?.click();
            document.querySelector(".tools")?.scrollIntoView();
            break;
        case "application-offline":
            document.querySelectorAll<HTMLElement>(".row.application")[3]?.click();
            break;
        case "call":
            document.querySelectorAll<HTMLElement>(".row.call")[4]?.click();
            setTimeout(() => document.querySelectorAll<HTMLElement>(".call-detail .json .button").forEach((one) => one.click()), 60);
            break;
        case "new-application":
            press("New application…");
            break;
        case "copy-token":
            press("Copy agent token…");
            break;
        case "try":
            press("Try…");
            setTimeout(() => press("Run"), 50);
            break;
        case "copied":
            press("Copy address");
            setTimeout(() => press("Copy and let it in"), 30);
            break;
        case "connect-closed":
        case "connect-pairs":
            document.querySelector(".connect-page > section:last-child")?.scrollIntoView();
            break;
        case "connect-url":
            press("Cursor");
            setTimeout(() => document.querySelectorAll<HTMLElement>(".card.host .choices input")[1]?.click(), 60);
            break;
        case "confirm":
            press("Disconnect…");
            break;
        case "forget":
            press("Forget…");
            break;
        case "question-more":
            press("More…");
            break;
        case "question-deep":
            press("Open all");
            break;
        case "question-exact":
            document.querySelectorAll<HTMLElement>(".json .choices input")[1]?.click();
    }
}

function press(words: string): void {
    [...document.querySelectorAll<HTMLElement>("button")].find((one) => one.textContent?.trim() === words)?.click();
}
