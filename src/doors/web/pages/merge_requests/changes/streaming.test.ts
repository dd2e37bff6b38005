/** Tests that a change of many files reaches the reader file by file. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { openRequest, seedBranch, seedCoded } from '../../../../../../test/support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

let gantry: TestService;

before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

/** Reads the chunks of a chunked response, as the server framed them. */
const readChunks = async (path: string): Promise<{ head: string; chunks: string[] }> => {
  const { hostname: host, port } = new URL(gantry.url);
  const socket = connect({ host, port: Number(port) });
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
  );
  await once(socket, 'close');
  const sent = Buffer.concat(parts);
  let at = sent.indexOf('\r\n\r\n') + 4;
  const head = sent.subarray(0, at).toString();
  const chunks: string[] = [];
  for (;;) {
    const end = sent.indexOf('\r\n', at);
    const size = Number.parseInt(sent.subarray(at, end).toString(), 16);
    if (Number.isNaN(size) || size === 0) return { head, chunks };
    chunks.push(sent.subarray(end + 2, end + 2 + size).toString());
    at = end + 2 + size + 2;
  }
};

test('sends the first file of a change of many files before the last is rendered', async () => {
  const project = await seedCoded(gantry, { visibility: 'public' });
  const names = Array.from({ length: 20 }, (_one, at) => `file-${String(at).padStart(2, '0')}.txt`);
  const lines = `${'x'.repeat(80)}\n`.repeat(60);
  await seedBranch(gantry, project, 'many', {
    files: Object.fromEntries(names.map((name) => [name, lines])),
  });
  const { iid } = await openRequest(gantry, project, 'many');
  const { head, chunks } = await readChunks(`/${project.full_path}/merge_requests/${iid}/diffs`);
  assert.match(head, /^HTTP\/1\.1 200/);
  assert.match(head, /transfer-encoding: chunked/i);
  const placeOf = (name: string): number =>
    chunks.findIndex(
      (chunk) => chunk.includes('class="card diff-file"') && chunk.includes(`data-path="${name}" data-old`),
    );
  const places = names.map(placeOf);
  assert.ok(
    places.every((place) => place > 0),
    places.join(),
  );
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
    'files are sent in their order',
  );
  assert.ok((places[0] ?? 0) < (places.at(-1) ?? 0), places.join());
  assert.ok(new Set(places).size > 3, 'few files are sent together');
});
