/** Tests that clients which do not read lists of refs hold nothing that others need. */
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import {
  type TestRepository,
  newRepositoryAndTree,
  useStorage,
} from '../../test/support/repositories/repository_storage.ts';
import { startWatchdog } from '../exec/transfer_watchdog.ts';
import { advertise } from './advertise.ts';
import { sendRefs } from './ls_refs.ts';
import { packet } from './packet_lines.ts';
import { parseRequest } from './parse_request.ts';

const storage = useStorage();

/** More than fits into memory and the buffers of a connection. */
const manyRefs = 20_000;

const makeManyRefs = async (): Promise<TestRepository & { id: string }> => {
  const { repository, tree } = await newRepositoryAndTree(storage);
  const [id = ''] = await repository.commitAll({ a: '1' });
  await tree.remove();
  const lines = Array.from(
    { length: manyRefs },
    (_ref, at) => `${id} refs/tags/t${String(at).padStart(6, '0')}`,
  );
  await writeFile(
    join(repository.dir, 'packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${lines.join('\n')}\n`,
  );
  return { ...repository, id };
};

const listing = parseRequest(
  Buffer.concat([packet('command=ls-refs\n'), packet('object-format=sha1'), Buffer.from('00010000')]),
);
const hidden = { requests: false, pipelines: false };

type Send = (repository: TestRepository, output: Writable, signal: AbortSignal) => Promise<unknown>;

const sendAdvertisement: Send = async ({ name, context }, output, signal) => {
  const io = { output, input: new PassThrough(), ask: assert.fail, tell: assert.fail };
  const params = { repository: name, service: 'git-upload-pack', protocol: 0, quota: {} } as never;
  return await advertise(params, { ...context, signal }, io as never);
};

const sendListing: Send = async ({ context, dir }, output, signal) => {
  const watching = startWatchdog(signal);
  try {
    await sendRefs({ ...context, signal }, { dir, hidden, output, watching }, listing);
    output.end();
  } finally {
    watching.dispose();
  }
};

for (const [name, send] of [
  ['advertisements', sendAdvertisement],
  ['listings', sendListing],
] as const) {
  test(`clients that do not read ${name} of many refs leave places for other git processes`, async () => {
    const repository = await makeManyRefs();
    const control = new AbortController();
    const stalled = Array.from({ length: 4 * availableParallelism() }, async () => {
      const output = new Writable({ highWaterMark: 1, write: () => undefined });
      output.on('error', () => undefined);
      await send(repository, output, control.signal);
    });
    try {
      assert.ok(await repository.ask('blame.file', { commit: repository.id, path: 'a' }));
    } finally {
      control.abort(new Error('the clients go'));
    }
    await Promise.allSettled(stalled);
  });

  test(`${name} of many refs are whole, and stored once until a ref changes`, async () => {
    const repository = await makeManyRefs();
    const read = async (): Promise<number> => {
      const output = new PassThrough();
      const read = buffer(output);
      await send(repository, output, new AbortController().signal);
      return (await read).toString().split('refs/tags/t').length - 1;
    };
    const before = (await readdir(join(repository.context.root, '+transport/packs')).catch(() => [])).length;
    assert.deepEqual([await read(), await read()], [manyRefs, manyRefs]);
    const after = await readdir(join(repository.context.root, '+transport/packs'));
    assert.equal(after.length - before, 1);
  });
}
