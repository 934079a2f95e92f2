/** What of a tree is drawn: the tree counts its values, so that it can say how many are not. */

export const DRAWN = Symbol("drawn");

export interface Drawn {
    /** Everything is opened at once. */
    readonly all: boolean;
    /** A value at this level is drawn; the returned function says that it no longer is. */
    add(level: number): () => void;
}
