/**
 * What a stranger writes, against the package as it is built: by its own name, without the types of a browser, and
 * without sparing the package's types from the compiler.
 */

import { type Application, connect, type State, storedToken, tool, ToolError } from "clientmcp";
import { requestConfirmation } from "clientmcp/confirm";
import { completed, rejected } from "clientmcp/outcome";
import { followWebMcp } from "clientmcp/webmcp";

const notes: string[] = [];

const clear = tool({
    name: "clear_notes",
    description: "Deletes all notes",
    inputSchema: { type: "object", properties: { force: { type: "boolean" } } },
    handler: async ({ force }, { signal }) => {
        if (notes.length === 0) {
            throw new ToolError("there are no notes");
        }
        const answer = await requestConfirmation({ signal, ask: () => force ?? false });
        if (!answer.confirmed) {
            return rejected(answer.code, answer.detail);
        }
        notes.length = 0;
        return completed();
    },
});

export function run(): Application {
    const application = connect({
        token: storedToken({ ask: ({ refused }) => (refused ? null : "token") }),
        tools: [clear],
        onState: (state: State) => console.log(state.status),
    });
    followWebMcp((tools) => application.setTools([clear, ...tools]));
    return application;
}
