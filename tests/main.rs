//! Black-box tests: a real `clientmcp serve`, real sockets.

fn main() {}
