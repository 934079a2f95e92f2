/** As much of a WebSocket as is needed: the browser's, Node's from 22 on, and those of packages fit. */

/** An open or opening WebSocket. */
export interface Socket {
    readonly readyState: number;
    readonly protocol: string;
    onopen: ((event: any) => void) | null;
    onmessage: ((event: any) => void) | null;
    onclose: ((event: any) => void) | null;
    onerror: ((event: any) => void) | null;
    send(text: string): void;
    close(code?: number): void;
}

/** Makes one. */
export type SocketConstructor = new (url: string, protocols: string[]) => Socket;

/** Its `readyState` once messages can be sent. */
export const OPEN = 1;
