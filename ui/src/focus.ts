/** True while the person is writing or choosing something in this window: the focus is not taken away then. */
export function isTyping(): boolean {
    const active = document.activeElement;
    return active !== null && (active.matches("input, textarea, select, [contenteditable]") || active.closest("dialog") !== null);
}
