/** Puts the page together: one store of notes, one connection, and views that follow them. */

import { Bridge } from "./bridge.js";
import { Calls } from "./calls.js";
import { byId } from "./dom.js";
import { Notes } from "./notes.js";
import { askToDelete, isAsking } from "./question.js";
import { offered, type Question } from "./tools.js";
import { CallsView } from "./view/calls.js";
import { NotesView } from "./view/notes.js";
import { StandingView } from "./view/standing.js";
import { ToolsView } from "./view/tools.js";

const notes = new Notes();
const calls = new Calls(show);
const bridge = new Bridge((standing) => standingView.show(standing));

const mayChange = byId<HTMLInputElement>("may-change");
const standingView = new StandingView(bridge);
const notesView = new NotesView(notes);
const toolsView = new ToolsView((tool) => calls.isRunning(tool));
const callsView = new CallsView();

const question: Question = {
    isOpen: isAsking,
    ask: (note, signal) =>
        askToDelete(note, signal, () => {
            mayChange.checked = false;
            show();
        }),
};

/** After any change. Tools that are equal to those before are sent to nobody, so this may run as often as it likes. */
function show(): void {
    const tools = offered(notes, mayChange.checked, question).map((tool) => calls.watch(tool));
    bridge.setTools(tools);
    notesView.show();
    toolsView.show(tools);
    callsView.show(calls);
}

notes.subscribe(show);
mayChange.addEventListener("change", show);
show();
bridge.start();
