/** Times and sizes in words. What ticks keeps its width: digits are of one width, and units are short. */

import { text } from "./text";

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

export const atClock = (at: number): string => clock.format(at);
export const inFull = (at: number): string => full.format(at);
export const onDay = (at: number): string => day.format(at);

/** How long ago, in the largest unit that says enough. */
export function ago(at: number, now: number): string {
    const past = Math.max(0, now - at);
    if (past < MINUTE) {
        return text.times.justNow;
    }
    if (past < HOUR) {
        return text.times.ago(`${Math.floor(past / MINUTE)} min`);
    }
    return past < DAY ? text.times.ago(`${Math.floor(past / HOUR)} h`) : past < 30 * DAY ? text.times.ago(text.times.days(Math.floor(past / DAY))) : onDay(at);
}

/** How much is left: `1:05`, `2:00:00`, `12 days`. */
export function left(until: number, now: number): string {
    const rest = Math.max(0, Math.ceil((until - now) / SECOND));
    if (rest >= (2 * DAY) / SECOND) {
        return text.times.days(Math.floor((rest * SECOND) / DAY));
    }
    const [hours, minutes, seconds] = [Math.floor(rest / 3_600), Math.floor(rest / 60) % 60, rest % 60];
    const two = (number: number): string => `${number}`.padStart(2, "0");
    return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** How long something took. */
export function took(milliseconds: number): string {
    if (milliseconds < SECOND) {
        return `${Math.max(0, Math.round(milliseconds))} ms`;
    }
    return milliseconds < MINUTE
        ? `${(milliseconds / SECOND).toFixed(1)} s`
        : `${Math.floor(milliseconds / MINUTE)} min ${Math.floor((milliseconds % MINUTE) / SECOND)} s`;
}

/** A size, as people say it. */
export function size(bytes: number): string {
    if (bytes < 1_024) {
        return text.times.bytes(bytes);
    }
    const kilo = bytes / 1_024;
    return kilo < 1_024 ? `${kilo < 10 ? kilo.toFixed(1) : Math.round(kilo)} KB` : `${(kilo / 1_024).toFixed(1)} MB`;
}

/** Whether a token ends so soon that the person should know. */
export function endsSoon(end: number | null, now: number): boolean {
    return end !== null && end > now && end - now < 7 * DAY;
}
