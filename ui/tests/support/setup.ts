/** What jsdom lacks of a web view. */

HTMLDialogElement.prototype.showModal = function showModal() {
    this.setAttribute("open", "");
};
HTMLDialogElement.prototype.close = function close() {
    this.removeAttribute("open");
};
