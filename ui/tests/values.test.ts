import { expect, test } from "vitest";

import { left, size, took } from "../src/times";
import * as values from "../src/values";

// holds: ui-values
test("client IDs, labels, ports, times and origins are held to the limits of the protocol", () => {
    const good: [(value: string) => unknown, string[]][] = [
        [values.clientId, ["a", "A-z_0.9", "x".repeat(128)]],
        [values.label, ["", "Überprüfer ✓", "🙂".repeat(64)]],
        [values.port, ["1", "27182", "65535"]],
        [values.callSeconds, ["1", "3600"]],
        [values.questionSeconds, ["10", "600"]],
        [values.origin, ["https://a.example", "http://localhost:5173", "http://[::1]:80", "tauri://localhost"]],
        [values.clientOrigin, ["native", "https://a.example"]],
        [values.origins, ["", "https://a.example\nhttps://b.example", Array.from({ length: 64 }, (_, at) => `https://a${at}.example`).join("\n")]],
    ];
    const bad: [(value: string) => unknown, string[]][] = [
        [values.clientId, ["", "a b", "ä", "x".repeat(129), "a/b"]],
        [values.label, ["🙂".repeat(65), "a\u0000", "a\n"]],
        [values.port, ["", "0", "65536", "1.5", "-1", "1e3"]],
        [values.callSeconds, ["0", "3601"]],
        [values.questionSeconds, ["9", "601"]],
        [values.origin, ["", "null", "*", "https://a.example/", "https://a.example/x", "https://u@a.example", "https://A.example", `https://${"a".repeat(300)}`]],
        [values.clientOrigin, ["null", "Native"]],
        [values.origins, ["https://a.example\nnull", Array.from({ length: 65 }, (_, at) => `https://a${at}.example`).join("\n")]],
    ];
    for (const [check, list] of good) {
        list.forEach((value) => expect(check(value), value).toBeUndefined());
    }
    for (const [check, list] of bad) {
        list.forEach((value) => expect(check(value), value).toBeTypeOf("string"));
    }
});

test("times and sizes in words", () => {
    expect([left(65_000, 0), left(7_200_000, 0), left(3 * 86_400_000, 0), left(0, 5)]).toEqual(["1:05", "2:00:00", "3 days", "0:00"]);
    expect([took(40), took(1_540), took(65_000)]).toEqual(["40 ms", "1.5 s", "1 min 5 s"]);
    expect([size(1), size(900), size(2_048), size(65_536), size(2_202_010)]).toEqual(["1 byte", "900 bytes", "2.0 KB", "64 KB", "2.1 MB"]);
});
