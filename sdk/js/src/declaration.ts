/** What the application offers right now, as one value that the connection follows. */

import { advise } from "./advice.js";
import { register } from "./messages.js";
import type { Handler, Tool } from "./tool.js";

/** The tools and words of one `register`. */
export interface Declaration {
    /** Counts up; tells declarations apart. */
    readonly revision: number;
    /** The `register` itself. Equal texts are one declaration to the bridge. */
    readonly text: string;
    readonly handlers: ReadonlyMap<string, Handler<any>>;
}

/**
 * Makes a declaration.
 *
 * @throws TypeError for a tool without a handler.
 */
export function declare(
    revision: number,
    tools: readonly Tool[],
    instructions: string | undefined,
    dev: boolean,
): Declaration {
    const handlers = new Map<string, Handler<any>>();
    const definitions = tools.map(({ handler, ...definition }) => {
        if (typeof handler !== "function") {
            throw new TypeError(`the tool ${definition.name} has no handler`);
        }
        handlers.set(definition.name, handler);
        return { inputSchema: { type: "object" as const }, ...definition };
    });
    if (dev) {
        definitions.forEach(advise);
    }
    return { revision, text: register(definitions, instructions), handlers };
}
