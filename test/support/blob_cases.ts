/** Test cases that every blob store must pass, on disk and in S3. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { Blobs } from '../../src/platform/blob/blob_files.ts';

export const bytes = (...parts: (string | Buffer)[]): Readable =>
  Readable.from(parts.map((part) => Buffer.from(part)));

export const broken = (...parts: (string | Buffer)[]): Readable =>
  Readable.from(
    (async function* () {
      for (const part of parts) yield Buffer.from(part);
      await Promise.resolve();
      throw new Error('broken');
    })(),
  );

/** @param open returns the store; called while the tests run */
export const blobCases = (open: () => Blobs): void => {
  const textOf = async (area: string, sha256: string, range?: { start: number; end: number }) => {
    const found = await open().get(area, sha256, range);
    return found === null ? null : await text(found);
  };

  test('stores bytes under their digest and reads them whole or in part', async () => {
    const stored = await open().put('a', bytes('Hello, ', 'world'));
    assert.deepEqual(stored, { size: 12, sha256: hash('sha256', 'Hello, world') });
    assert.equal(await textOf('a', stored.sha256), 'Hello, world');
    assert.equal(await textOf('a', stored.sha256, { start: 7, end: 9 }), 'wor');
    assert.deepEqual(await open().put('a', bytes('Hello, world')), stored);
  });

  test('refuses to read bytes whose size differs from the recorded one', async () => {
    const { sha256 } = await open().put('a', bytes('Hello, world'));
    for (const range of [undefined, { start: 7, end: 9 }]) {
      await assert.rejects(open().get('a', sha256, range, 11), { status: 503 });
      assert.equal(await text((await open().get('a', sha256, range, 12))!), range ? 'wor' : 'Hello, world');
    }
  });

  test('stores nothing until the bytes are placed, and keeps them afterwards', async () => {
    const sha256 = hash('sha256', 'placed');
    const refused = async (): Promise<void> => await Promise.reject(new Error('refused'));
    await assert.rejects(open().put('placed', bytes('placed'), refused), /refused/);
    await open().put('placed', bytes('placed'), async () => undefined);
    assert.equal(await open().has('placed', sha256), false);
    await open().put('placed', bytes('placed'), async (stored, place) => {
      assert.deepEqual(stored, { size: 6, sha256 });
      assert.equal(await open().has('placed', sha256), false);
      await place();
      assert.equal(await textOf('placed', sha256), 'placed');
    });
    assert.equal(await textOf('placed', sha256), 'placed');
  });

  test('stores an empty blob', async () => {
    const { size, sha256 } = await open().put('a', bytes());
    assert.equal(size, 0);
    assert.equal(await textOf('a', sha256), '');
    assert.equal(await open().has('a', sha256), true);
  });

  test('returns a large blob unchanged', async () => {
    const piece = Buffer.from(Array.from({ length: 1_000_003 }, (_one, at) => at % 251));
    const all = Buffer.concat(Array.from({ length: 20 }, () => piece));
    const pieces = Array.from({ length: 20 }, () => piece);
    const { size, sha256 } = await open().put('large', bytes(...pieces));
    assert.deepEqual([size, sha256], [all.length, hash('sha256', all)]);
    assert.ok((await buffer((await open().get('large', sha256))!)).equals(all));
    const [start, end] = [8 * 1024 * 1024 - 5, 8 * 1024 * 1024 + 4];
    const part = await buffer((await open().get('large', sha256, { start, end }))!);
    assert.deepEqual(part, all.subarray(start, end + 1));
  });

  test('keeps areas separate and removes each by itself', async () => {
    const { sha256 } = await open().put('one/1', bytes('same'));
    assert.equal(await textOf('one/2', sha256), null);
    assert.equal(await open().has('one/2', sha256), false);
    for (const area of ['one/2', 'one/10', 'one/1/below']) await open().put(area, bytes('same'));
    await open().put('one/1', bytes('other'));
    await open().removeArea('one/1');
    await open().removeArea('one/1');
    assert.deepEqual(
      await Promise.all(
        ['one/1', 'one/1/below', 'one/2', 'one/10'].map(async (area) => await textOf(area, sha256)),
      ),
      [null, null, 'same', 'same'],
    );
    await open().remove('one/2', sha256);
    await open().remove('one/2', sha256);
    assert.deepEqual([await textOf('one/2', sha256), await textOf('one/10', sha256)], [null, 'same']);
  });

  test('lets a reader stop before the end', async () => {
    const { sha256 } = await open().put('a', bytes(Buffer.alloc(3_000_000, 'x')));
    const stream = (await open().get('a', sha256))!;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      assert.ok(chunk.length > 0);
      break;
    }
    assert.ok(stream.destroyed);
  });
};
