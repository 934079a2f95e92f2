// Serves the notes until Ctrl-C: `cargo xtask run --example notes`.

import { notes, serve } from './pages.mjs';

const PORT = 27183;

const server = await serve(await notes(), PORT);
const { port } = server.address();
const clientmcp = 'cargo run -q -p clientmcp-bridge --';

console.log(`
Notes is at http://127.0.0.1:${port}/ until Ctrl-C.${port === PORT ? '' : `
(Port ${PORT} is taken, so this is another one: the page then has other notes and asks for a token again.)`}

It needs a bridge and a token. In the ClientMCP app choose "New application", name it notes, and paste the token that is
copied then into the page. Where the app does not run, type in another terminal, in the project's folder:

  ${clientmcp} secret target/notes.secret      # once
  ${clientmcp} serve --secret-file target/notes.secret --confirm off

and in a third one, for the token that the page asks for, and for an agent's:

  ${clientmcp} token notes --role client --secret-file target/notes.secret
  ${clientmcp} token notes --role agent --secret-file target/notes.secret

\`--confirm off\` lets every agent with a token call at once. The page itself asks you before it deletes a note.
`);
