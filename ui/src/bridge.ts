/** How the bridge is, in words, tone and shape. */

import type { View } from "./desktop";
import type { Shape, Tone } from "./outcome";
import { text } from "./text";

export interface BridgeLook {
    readonly name: string;
    readonly says: string;
    readonly tone: Tone;
    readonly shape: Shape;
    readonly moving: boolean;
}

export function bridgeLook({ bridge, snapshot }: View): BridgeLook {
    if (bridge.state === "running" && snapshot?.paused) {
        return looks(text.bridge.paused, "warn", "bar", false);
    }
    switch (bridge.state) {
        case "held":
            return looks(text.bridge.held, "quiet", "ring", false);
        case "starting":
            return looks(text.bridge.starting, "busy", "ring", true);
        case "running":
            return looks(text.bridge.running, "good", "dot", false);
        case "waiting":
            return looks(text.bridge.waiting, "warn", "square", true);
        case "failed":
            return looks(text.bridge.failed, "bad", "triangle", false);
    }
}

function looks([name, says]: readonly string[], tone: Tone, shape: Shape, moving: boolean): BridgeLook {
    return { name: name!, says: says!, tone, shape, moving };
}
