/** Every number of the protocol that an application keeps, with its reason. Times are in milliseconds. */

/** Bytes of UTF-8 of one message: the same on every bridge. */
export const MESSAGE_BYTES = 4_194_304;

/** Arrays and objects inside each other in one message, the outermost counted. */
export const NESTING = 128;

/** The bound of the first wait, and the bound that no wait exceeds. */
export const FIRST_WAIT = 500;
export const LAST_WAIT = 30_000;

/** Nothing was sent, or nothing arrived, for so long: ask. */
export const IDLE = 25_000;

/** Nothing arrived for so long after asking: dead. */
export const ANSWER = 10_000;

/** How long a handshake may take. */
export const HANDSHAKE = 10_000;

/** How long a bridge may take to answer a close. */
export const CLOSE = 2_000;

/** How often a clock is looked at, and how late that may come before it counts as sleep. */
export const TICK = 5_000;
