import { svelte } from "@sveltejs/vite-plugin-svelte";
import { svelteTesting } from "@testing-library/svelte/vite";
import { defineConfig } from "vitest/config";

/** Two pages, one for each window. Nothing is inlined: the windows take scripts, styles and pictures from files alone. */
export default defineConfig({
    plugins: [svelte(), svelteTesting()],
    base: "./",
    build: {
        target: ["chrome111", "safari16"],
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        rollupOptions: { input: ["index.html", "question.html"] },
    },
    test: {
        environment: "jsdom",
        // Roles and names are computed anew for each look at the page, which takes a while on a busy machine.
        testTimeout: 60_000,
        include: ["tests/**/*.test.ts"],
        setupFiles: ["tests/support/setup.ts"],
    },
});
