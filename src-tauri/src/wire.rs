//! What the windows ask of the app, and what they are told: everything that crosses between Rust and the web views.
//!
//! No token, secret or path token is ever in it: whatever is copied is copied on this side. Texts of other programs stand
//! in strings, and a window shows them through its own `shown`. Numbers of other programs' JSON stay text.
//!
//! The same types for TypeScript stand in `ui/src/desktop.ts`, written by `cargo xtask bindings`.

mod answer;
mod ask;
mod told;
mod view;

pub use self::{answer::*, ask::*, told::*, view::*};
