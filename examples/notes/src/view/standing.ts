/** The connection, in words: where it stands, what that means, and what to do. */

import type { Bridge, Standing } from "../bridge.js";
import { button, byId, write } from "../dom.js";
import { faultOf } from "../token.js";

interface Words {
    readonly headline: string;
    readonly explanation: string;
}

/** Shows where the connection stands, and takes the person's orders. */
export class StandingView {
    readonly #bridge: Bridge;
    readonly #token = byId<HTMLInputElement>("token");
    readonly #port = byId<HTMLInputElement>("port");
    /** No bridge has answered since the last connection: trying again is no news. */
    #waiting = false;
    #countdown: ReturnType<typeof setInterval> | undefined;

    constructor(bridge: Bridge) {
        this.#bridge = bridge;
        this.#port.value = bridge.port;
        byId("token-form").addEventListener("submit", (event) => {
            event.preventDefault();
            this.#submit();
        });
    }

    /** Shows it. */
    show(standing: Standing): void {
        const { status } = standing;
        const hadFocus = byId("connection").contains(document.activeElement);
        this.#waiting = status === "waiting" || (status === "connecting" && this.#waiting);
        const refused = status === "token-needed" && standing.refused;
        byId("connection").dataset["status"] = refused ? "refused" : this.#waiting ? "waiting" : status;
        const { headline, explanation } = this.#words(standing);
        write(byId("headline"), headline);
        write(byId("explanation"), explanation);
        this.#showActions(standing);
        this.#showCountdown(standing);
        const appeared = this.#showForm(standing);
        this.#showFocus(hadFocus, appeared, refused);
        byId("agents").hidden = status !== "online";
        byId("not-yet").hidden = status === "online";
        write(byId("agent-token"), `clientmcp token ${this.#bridge.clientId} --role agent --secret-file notes.secret`);
        write(byId("agent-address"), `http://127.0.0.1:${this.#bridge.port}/mcp`);
    }

    #words(standing: Standing): Words {
        const { port, clientId } = this.#bridge;
        if (this.#waiting) {
            return {
                headline: "No bridge answers",
                explanation: `ClientMCP does not seem to run on port ${port}. Start its app, or run “clientmcp serve”; this page then connects by itself.`,
            };
        }
        switch (standing.status) {
            case "token-needed":
                return standing.refused
                    ? {
                          headline: "The bridge refused that token",
                          explanation:
                              "It was revoked, has ended, or comes from another bridge’s secret. Make a new one and paste it here.",
                      }
                    : {
                          headline: "Not connected",
                          explanation: "Paste a token from your ClientMCP bridge, and agents can work with these notes.",
                      };
            case "connecting":
            case "waiting":
                return { headline: "Connecting…", explanation: `To the bridge on port ${port} of this computer.` };
            case "online":
                return {
                    headline: "Connected",
                    explanation: `Agents that hold a token for “${clientId}” can use the tools below.`,
                };
            case "replaced":
                return {
                    headline: "Another tab or program took over",
                    explanation: `It connected with the same token, for “${clientId}”. Agents now work with that one, not with this page.`,
                };
            case "closed":
                return { headline: "Disconnected", explanation: "Agents see no tools of this page." };
            case "permission-needed":
                return { headline: "Your browser will ask for a permission", explanation: standing.advice };
            case "permission-denied":
                return { headline: "Your browser blocks the connection", explanation: standing.advice };
            case "refused":
                return {
                    headline: "The bridge and this page do not understand each other",
                    explanation: `This is a fault in the page, not yours. Reload it, or report this: ${standing.refusal.reason}`,
                };
        }
    }

    #showActions({ status }: Standing): void {
        const bridge = this.#bridge;
        const actions = {
            connect: () => button("Connect", "Connect", () => bridge.start()),
            allow: () => button("Connect", "Connect", () => bridge.allow()),
            takeOver: () => button("Take over", "Take over: let agents work with this page again", () => bridge.takeOver()),
            tryNow: () => button("Try now", "Try now", () => bridge.start()),
            disconnect: () => button("Disconnect", "Disconnect", () => bridge.disconnect()),
            forget: () => button("Use another token", "Use another token", () => bridge.forgetToken()),
        };
        const offered: Record<Standing["status"], (keyof typeof actions)[]> = {
            "token-needed": [],
            connecting: this.#waiting ? ["tryNow", "forget"] : ["disconnect"],
            waiting: ["tryNow", "forget"],
            online: ["disconnect"],
            replaced: ["takeOver"],
            closed: ["connect", "forget"],
            "permission-needed": ["allow"],
            "permission-denied": [],
            refused: ["connect"],
        };
        const names = offered[status];
        const place = byId("actions");
        // Made anew only where they differ: a focused button stays focused.
        if (place.dataset["names"] !== names.join()) {
            const hadFocus = place.contains(document.activeElement);
            place.dataset["names"] = names.join();
            place.replaceChildren(...names.map((name) => actions[name]()));
            place.firstElementChild?.classList.toggle("primary", ["connect", "allow", "takeOver"].includes(names[0]!));
            if (hadFocus) {
                place.querySelector("button")?.focus();
            }
        }
    }

    #showCountdown(standing: Standing): void {
        clearInterval(this.#countdown);
        const place = byId("countdown");
        if (standing.status !== "waiting") {
            write(place, this.#waiting ? "Trying now…" : "");
            return;
        }
        const tick = (): void => {
            const seconds = Math.max(1, Math.ceil((standing.nextTry.getTime() - Date.now()) / 1_000));
            write(place, `Next try in ${seconds} s`);
        };
        tick();
        this.#countdown = setInterval(tick, 1_000);
    }

    /** Keeps the focus here when what had it goes, and takes it from nobody who is elsewhere. */
    #showFocus(hadFocus: boolean, formAppeared: boolean, refused: boolean): void {
        const nowhere = document.activeElement === document.body;
        if (formAppeared && refused) {
            this.#fault("The bridge refused it: paste another one.", hadFocus || nowhere ? this.#token : undefined);
            this.#token.ariaInvalid = "true";
        } else if (hadFocus && formAppeared) {
            this.#token.focus();
        } else if (hadFocus && (nowhere || !document.activeElement?.checkVisibility())) {
            byId("headline").focus();
        }
    }

    /** Shows or hides it; true when it has just appeared. */
    #showForm({ status }: Standing): boolean {
        const form = byId("token-form");
        const wasHidden = form.hidden;
        form.hidden = status !== "token-needed";
        if (wasHidden && !form.hidden) {
            this.#token.value = "";
            this.#fault("");
            return true;
        }
        return false;
    }

    #submit(): void {
        const [token, port] = [this.#token.value.trim(), this.#port.value.trim()];
        const fault = faultOf(token);
        this.#fault(fault ?? "", this.#token);
        if (!fault && !isPort(port)) {
            this.#fault("A port is a number from 1 to 65535. Unless you chose another one, it is 27182.", this.#port);
        } else if (!fault) {
            this.#bridge.useToken(token, port);
        }
    }

    #fault(text: string, input?: HTMLInputElement): void {
        byId("token-fault").textContent = text;
        for (const each of [this.#token, this.#port]) {
            each.ariaInvalid = text && each === input ? "true" : null;
        }
        if (text) {
            input?.focus();
        }
    }
}

function isPort(text: string): boolean {
    return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}
