/** Tokens and where they come from. A token is never printed: not in an error, not in a log. */

/** Why a token function is asked. */
export interface TokenRequest {
    /** The token that was given last was refused: give another one. */
    readonly refused: boolean;
}

/**
 * A client token, or a function that has one for each connection, from the application's backend for example. One that
 * throws is asked again after a wait; one that returns nothing ends the application as `refused`.
 */
export type TokenSource = string | ((request: TokenRequest) => Token | Promise<Token>);

/** A client token: who holds it can become the application. */
export type Token = string | null | undefined;

/** True when a handshake can hold it (RFC 6455, section 4.1: the characters of an RFC 9110 token). */
export function isOfferable(token: string): boolean {
    return /^[\w!#$%&'*+\-.^`|~]+$/.test(token) && !token.startsWith("clientmcp.");
}

/** Where {@link storedToken} finds tokens. */
export interface StoredTokenOptions {
    /**
     * Asks the person for a token: none is stored, or it was refused (`refused`), by the bridge or because no handshake
     * can hold such a text. Nothing means that they do not want to;
     * the application ends as `refused`, and another `connect` asks again.
     */
    readonly ask: (request: TokenRequest) => Token | Promise<Token>;
    /** The key in `localStorage`; `clientmcp.token` when nothing else is said. */
    readonly key?: string;
}

/**
 * A token function for pages whose user pastes a token: it keeps the token in `localStorage`, and asks when there is
 * none or the bridge refused it. A text that no handshake can hold is not kept; the person is asked once more. A leading
 * `Bearer ` is left out. Any script of the page's origin can read what is stored there.
 */
export function storedToken({
    ask,
    key = "clientmcp.token",
}: StoredTokenOptions): (request: TokenRequest) => Promise<Token> {
    let kept: Token;
    return async (request) => {
        const before = request.refused ? undefined : (storage((all) => all.getItem(key)) ?? kept);
        if (before && isOfferable(before)) {
            return (kept = before);
        }
        kept = undefined;
        storage((all) => all.removeItem(key));
        let given = bare(await ask(request));
        if (isUnusable(given)) {
            given = bare(await ask({ refused: true }));
        }
        // What cannot be right is handed on all the same: the application's end says why.
        if (typeof given === "string" && isOfferable(given)) {
            const token = (kept = given);
            storage((all) => all.setItem(key, token));
        }
        return given;
    };
}

/** A pasted token without what often stands around it. */
function bare(given: Token): Token {
    return typeof given === "string" ? given.trim().replace(/^bearer\s+/i, "") : given;
}

/** True for a text that is there and that no handshake can hold. */
function isUnusable(given: Token): boolean {
    return typeof given === "string" && given !== "" && !isOfferable(given);
}

/** Not every page may store anything; then the token lives as long as the page. */
function storage<T>(use: (all: Storage) => T): T | undefined {
    try {
        return use(globalThis.localStorage);
    } catch {
        return undefined;
    }
}
