// Opens pages in a real Chromium, against a real bridge: `cargo xtask test browser`, which builds and installs what this
// needs and says where it is.
//
// Nothing here waits for time to pass: each step waits for what it needs to see.

import './served.mjs';
import './connection.mjs';
import './notes.mjs';
import './permission.mjs';
import './looks.mjs';
