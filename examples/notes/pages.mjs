// Pages for browsers of this machine: bundled in memory, and served from there. No file of the disk can be asked for.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';

const sdk = join(import.meta.dirname, '../../sdk/js');
// The SDK brings the bundler, and is read from its source.
const { build } = createRequire(join(sdk, 'package.json'))('esbuild');

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The notes. */
export const notes = () => bundle(import.meta.dirname, 'src/main.ts', ['index.html', 'style.css', 'icon.svg']);

/** The files of a page, by the path under which they are served: those of the folder, and its script as one module. */
export async function bundle(folder, script, files) {
  const { outputFiles } = await build({
    entryPoints: { main: join(folder, script) },
    outdir: folder,
    write: false,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    alias: {
      'clientmcp/confirm': join(sdk, 'src/confirm.ts'),
      'clientmcp/outcome': join(sdk, 'src/outcome.ts'),
      clientmcp: join(sdk, 'src/index.ts'),
    },
  });
  const read = async (name) => [`/${name}`, { type: TYPES[extname(name)], body: await readFile(join(folder, name)) }];
  const served = new Map(await Promise.all(files.map(read)));
  served.set('/', served.get('/index.html'));
  return served.set('/main.js', { type: TYPES['.js'], body: Buffer.from(outputFiles[0].contents) });
}

/** Serves files on 127.0.0.1, on this port, or on a free one when it is taken. */
export async function serve(files, port) {
  const server = createServer((request, response) => answer(files, server.address().port, request, response));
  await listen(server, port).catch((fault) => {
    if (fault.code !== 'EADDRINUSE') throw fault;
    return listen(server, 0);
  });
  return server;
}

function listen(server, port) {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function answer(files, port, { method, url, headers }, response) {
  const refuse = (status, more = {}) => {
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', ...more });
    response.end(`${status}\n`);
  };
  // A page of the web that has its own name point here gets nothing.
  if (![`127.0.0.1:${port}`, `localhost:${port}`].includes(headers.host)) return refuse(403);
  if (method !== 'GET' && method !== 'HEAD') return refuse(405, { Allow: 'GET, HEAD' });
  const file = files.get(url.split('?')[0]);
  if (file === undefined) return refuse(404);
  response.writeHead(200, {
    'Content-Type': file.type,
    'Content-Length': file.body.length,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "frame-ancestors 'none'",
    'Cross-Origin-Opener-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(method === 'HEAD' ? undefined : file.body);
}
