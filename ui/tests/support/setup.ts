/** What jsdom lacks of a web view. */

HTMLDialogElement.prototype.showModal = function showModal() {
    this.setAttribute("open", "");
};
HTMLDialogElement.prototype.close = function close() {
    this.removeAttribute("open");
};
Range.prototype.getBoundingClientRect = () => new DOMRect();
// No page is laid out here, so nothing is found at a point.
document.elementFromPoint = () => null;
// What a page does again and again by the clock comes when a test says so, and not when a busy machine took its time.
globalThis.setInterval = (() => 0) as unknown as typeof setInterval;
