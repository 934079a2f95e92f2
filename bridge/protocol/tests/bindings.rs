//! The control channel's types in TypeScript: `ui/src/bindings.ts` is what the Rust types say, or this fails.
//!
//! `cargo xtask bindings` writes the file anew.

use std::{collections::BTreeMap, env, fs, path::Path};

use clientmcp_protocol::{
    control::{Event, Hello, Request},
    limits,
};
use ts_rs::{Config, TS, TypeVisitor};

/// Declarations by name, so that the file changes only where a type did.
#[derive(Default)]
struct Declarations {
    config: Config,
    found: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if T::output_path().is_none() {
            return;
        }
        let name = T::ident(&self.config);
        if self.found.contains_key(&name) {
            return;
        }
        let docs = T::docs().map(|docs| format!("{}\n", docs.trim_end())).unwrap_or_default();
        self.found.insert(name, format!("{docs}export {}", T::decl(&self.config)));
        T::visit_dependencies(self);
    }
}

fn bindings() -> String {
    let mut declarations = Declarations::default();
    declarations.visit::<Hello>();
    declarations.visit::<Request>();
    declarations.visit::<Event>();
    let mut text = format!(
        "// The control channel between the bridge and the desktop app. Written by `cargo xtask bindings`: do not edit.\n\n\
         export const CONTROL_VERSION = {};\n\nexport const CONTROL_BYTES = {};\n",
        clientmcp_protocol::control::CONTROL_VERSION,
        limits::CONTROL_BYTES,
    );
    for declaration in declarations.found.values() {
        text += &format!("\n{declaration}\n");
    }
    text
}

// holds: control-bindings
#[test]
fn the_types_of_the_web_view_are_those_of_the_bridge() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/bindings.ts");
    let fresh = bindings();
    if env::var_os("CLIENTMCP_WRITE_BINDINGS").is_some() {
        fs::write(&file, &fresh).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
    assert!(kept == fresh, "ui/src/bindings.ts is stale: run `cargo xtask bindings`");
}
