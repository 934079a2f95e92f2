/** What a pasted token says of itself, so that a wrong one is explained before anything is sent. */

/** What is read of a token. Nothing is verified: only the bridge can. */
export interface Claims {
    readonly sub: string;
    readonly role: string;
    readonly exp?: number;
}

/** Reads the claims of a token; `undefined` when it is none. */
export function claims(token: string): Claims | undefined {
    // People paste the word before it too, and the SDK leaves it out.
    const parts = token.trim().replace(/^bearer\s+/i, "").split(".");
    if (parts.some((part) => /[^\w-]/.test(part))) {
        return undefined;
    }
    try {
        const binary = atob((parts.length === 3 ? parts[1]! : "").replaceAll("-", "+").replaceAll("_", "/"));
        const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
        const { sub, role, exp } = JSON.parse(new TextDecoder().decode(bytes)) as Partial<Record<keyof Claims, unknown>>;
        if (typeof sub !== "string" || typeof role !== "string") {
            return undefined;
        }
        return { sub, role, ...(typeof exp === "number" && { exp }) };
    } catch {
        return undefined;
    }
}

/** Why a token cannot be right, in words for a person; nothing when it can. */
export function faultOf(token: string): string | undefined {
    if (!token.trim()) {
        return "Paste a token first.";
    }
    const read = claims(token);
    if (!read) {
        return "That is no token. A token is one long word in three parts with dots between them; paste all of it.";
    }
    if (read.role !== "client") {
        return "That is a token for an agent. This page needs one with the role “client”.";
    }
    if (read.exp !== undefined && read.exp * 1_000 < Date.now()) {
        return `That token ended on ${new Date(read.exp * 1_000).toLocaleDateString()}. Make a new one.`;
    }
    return undefined;
}
