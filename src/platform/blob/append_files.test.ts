import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { bufferBytes } from '../../../test/support/machine/retained_memory.ts';
import { type AppendFiles, openAppendFiles } from './append_files.ts';
import type { TraceKey } from './trace_path.ts';

let root: string;
let traces: AppendFiles;
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'gantry-test-'));
  traces = await openAppendFiles(join(root, 'traces'));
});
after(async () => {
  await traces.close();
  await rm(root, { recursive: true, force: true });
});

let last = 0;
const named = () => ({ project_id: 7, id: (last += 1), trace_key: null });
const fileOf = ({ project_id, id }: Pick<TraceKey, 'project_id' | 'id'>): string =>
  join(root, 'traces', String(project_id), `${id}.log`);
const bytes = (words: string): Buffer => Buffer.from(words);
const contentOf = async (of: TraceKey): Promise<string | null> => {
  const stream = await traces.read(of);
  return stream === null ? null : await text(stream);
};

test('reads the appended content', async () => {
  const of = named();
  assert.deepEqual([await traces.size(of), await traces.state(of), await contentOf(of)], [null, null, null]);
  assert.deepEqual(await traces.append(of, 0, bytes('one ')), { accepted: true, size: 4 });
  assert.deepEqual(await traces.append(of, 4, bytes('two')), { accepted: true, size: 7 });
  assert.equal(await contentOf(of), 'one two');
  assert.deepEqual(await traces.state(of), { size: 7, crc: crc32('one two') });
  assert.equal(await text((await traces.read(of, { start: 4, end: 5 }))!), 'tw');
});

test('accepts a repeated chunk only if it is unchanged', async () => {
  const of = named();
  assert.deepEqual(await traces.append(of, 3, bytes('x')), { accepted: false, size: 0 });
  assert.equal(await traces.size(of), null);
  await traces.append(of, 0, bytes('abcdef'));
  assert.deepEqual(await traces.append(of, 0, bytes('abcdef')), { accepted: true, size: 6 });
  assert.deepEqual(await traces.append(of, 4, bytes('efgh')), { accepted: true, size: 8 });
  assert.deepEqual(await traces.append(of, 4, bytes('eXgh')), { accepted: false, size: 8 });
  assert.deepEqual(await traces.append(of, 9, bytes('z')), { accepted: false, size: 8 });
  assert.deepEqual(await traces.append(of, 8, bytes('')), { accepted: true, size: 8 });
  assert.equal(await contentOf(of), 'abcdefgh');
  assert.equal((await traces.state(of))?.crc, crc32('abcdefgh'));
});

test('serializes concurrent appends', async () => {
  const of = named();
  const pieces = Array.from({ length: 200 }, (_one, at) => bytes(`line ${at}\n`));
  let offset = 0;
  await Promise.all(
    pieces.map((piece) => {
      const at = offset;
      offset += piece.length;
      return traces.append(of, at, piece);
    }),
  );
  assert.equal(await contentOf(of), Buffer.concat(pieces).toString());
});

test('handles more files than may be open at once', async () => {
  const all = Array.from({ length: 600 }, named);
  for (const part of ['a', 'b']) {
    const offset = part === 'a' ? 0 : 1;
    const answers = await Promise.all(all.map((of) => traces.append(of, offset, bytes(part))));
    assert.ok(answers.every(({ accepted }) => accepted));
  }
  assert.equal(await contentOf(all[0]!), 'ab');
  assert.equal((await traces.state(all[0]!))?.crc, crc32('ab'));
});

test('another process continues the files of an earlier one', async () => {
  const of = named();
  await traces.append(of, 0, bytes('before '));
  const next = await openAppendFiles(join(root, 'traces'));
  assert.deepEqual(await next.append(of, 0, bytes('before and ')), { accepted: true, size: 11 });
  assert.deepEqual(await next.append(of, 11, bytes('after')), { accepted: true, size: 16 });
  assert.deepEqual(await next.finish(of), { size: 16, crc: crc32('before and after') });
  assert.deepEqual(await next.finish(of), { size: 16, crc: crc32('before and after') });
  await next.close();
});

test('a secret is never to be read, wherever it is cut', async () => {
  const secret = 'glcbt-0123456789';
  const whole = `a ${secret} b ${secret}${secret} c`;
  for (let cut = 1; cut < whole.length; cut += 1) {
    const of = named();
    await traces.append(of, 0, bytes(whole.slice(0, cut)), [secret, '']);
    await traces.append(of, cut, bytes(whole.slice(cut)), [secret, '']);
    assert.equal(await contentOf(of), whole.replaceAll(secret, 'x'.repeat(secret.length)));
    // The checksum covers the bytes as sent, before masking.
    assert.deepEqual(await traces.state(of), { size: whole.length, crc: crc32(whole) });
  }
});

test('masks a secret longer than the cached ending, in chunks of any size', async () => {
  for (let round = 0; round < 40; round += 1) {
    const length = [3, 255, 256, 257, 600][round % 5] ?? 0;
    const secret = `${'s'.repeat(length - 1)}${round % 10}`;
    const whole = `${'a'.repeat(round * 7)} ${secret} b ${secret} c${'d'.repeat(300)} ${secret}`;
    const of = named();
    for (let at = 0; at < whole.length;) {
      const piece = whole.slice(at, at + 1 + Math.floor(Math.random() * 400));
      await traces.append(of, at, bytes(piece), [secret]);
      at += piece.length;
    }
    assert.equal(await contentOf(of), whole.replaceAll(secret, 'x'.repeat(secret.length)));
  }
});

test('does not know the checksum of a masked file after a restart', async () => {
  const of = named();
  await traces.append(of, 0, bytes('a secret!'), ['secret']);
  const next = await openAppendFiles(join(root, 'traces'));
  assert.deepEqual(await next.append(of, 0, bytes('a secret! more'), ['secret']), {
    accepted: true,
    size: 14,
  });
  assert.deepEqual(await next.finish(of), { size: 14, crc: null });
  await next.restart(of);
  assert.deepEqual(await next.state(of), { size: 0, crc: 0 });
  await next.close();
});

test('replaces the whole content', async () => {
  const of = named();
  await traces.replace(of, bytes('one'));
  await traces.replace(of, bytes('one two secret'), ['secret']);
  assert.equal(await contentOf(of), 'one two xxxxxx');
  await traces.replace(of, bytes('other'));
  assert.equal(await contentOf(of), 'other');
  assert.deepEqual(await traces.state(of), { size: 5, crc: crc32('other') });
});

test('reads the state of a file again after a failure', async () => {
  const of = named();
  await traces.append(of, 0, bytes('abc'));
  await writeFile(fileOf(of), 'abcd');
  // Simulates a partial write: the file has another size than recorded.
  await traces.finish(of);
  await rm(fileOf(of));
  assert.deepEqual(await traces.append(of, 3, bytes('d')), { accepted: false, size: 0 });
});

test('notifies watchers of each change until they unsubscribe', async () => {
  const of = named();
  let heard = 0;
  const end = traces.watch(of, () => (heard += 1));
  assert.ok(traces.isWatched(of));
  await traces.append(of, 0, bytes('a'));
  await traces.append(of, 5, bytes('a'));
  assert.equal(heard, 1);
  await traces.remove(of);
  assert.equal(heard, 2);
  end();
  assert.ok(!traces.isWatched(of));
  await traces.append(of, 0, bytes('a'));
  assert.equal(heard, 2);
});

test('a removed file cannot be read', async () => {
  const [one, two] = [named(), { project_id: 8, id: 1, trace_key: null }];
  await traces.append(one, 0, bytes('a secret'), ['secret']);
  await traces.append(two, 0, bytes('b'));
  await traces.remove(one);
  await traces.removeProject(8);
  assert.deepEqual([await contentOf(one), await contentOf(two)], [null, null]);
  await assert.rejects(readFile(`${fileOf(one)}.masked`));
  assert.deepEqual(await traces.append(two, 0, bytes('c')), { accepted: true, size: 1 });
});

test('caches a few bytes of a growing file, and none once it is finished', async () => {
  const files = Array.from({ length: 100 }, named);
  const before = await bufferBytes();
  for (const of of files) {
    // Simulates other work of the process, so that the next short buffer lies in another slab.
    Buffer.allocUnsafe(30_000);
    Buffer.allocUnsafe(30_000);
    await traces.append(of, 0, bytes('line of a log\n'));
  }
  assert.ok((await bufferBytes()) - before < 1_000_000, 'open files hold less than 10 KB each');
  for (const of of files) {
    await traces.finish(of);
    assert.deepEqual(await traces.append(of, 14, bytes('more')), { accepted: true, size: 18 });
  }
});
