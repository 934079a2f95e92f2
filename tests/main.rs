//! Black-box tests: a real `clientmcp serve`, real sockets; and the tree's checks of itself.

mod tidy;
