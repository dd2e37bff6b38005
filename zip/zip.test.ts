import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { after, before, describe, test } from 'node:test';
import { crc32, deflateRawSync } from 'node:zlib';
import { openZip } from './read_directory.ts';
import { extractZip } from './extract_zip.ts';
import { ZipFailure } from './format.ts';
import { type ZipContent, readItem, readItemWhole } from './read_items.ts';
import { type ZipEntry, writeZip } from './write_zip.ts';

let root: string;
before(async () => (root = await mkdtemp(join(tmpdir(), 'gantry-test-'))));
after(async () => await rm(root, { recursive: true, force: true }));

const modified = new Date('2026-03-04T05:06:08Z');
const file = (name: string, content: ZipEntry['content'], mode = 0o644): ZipEntry => ({
  name,
  kind: 'file',
  mode,
  modified,
  content,
});

const inMemory = (bytes: Buffer): ZipContent => ({
  size: bytes.length,
  read: async (start, length) => {
    if (start < 0 || start + length > bytes.length) throw new ZipFailure('past the end');
    return await Promise.resolve(bytes.subarray(start, start + length));
  },
  stream: (start, end) => Readable.from([bytes.subarray(start, end + 1)]),
});

const zipped = async (entries: Iterable<ZipEntry>): Promise<ZipContent> =>
  inMemory(await buffer(writeZip(entries)));

const most = 2 ** 30;

const contentOf = async (source: ZipContent, name: string): Promise<Buffer | null> => {
  const item = (await openZip(source)).find(name);
  if (item === null) return null;
  const whole = await readItemWhole(source, item, most);
  assert.deepEqual(await buffer(await readItem(source, item, most)), whole);
  return whole;
};

const refuses = async (work: Promise<unknown>, why: RegExp): Promise<void> =>
  await assert.rejects(work, (error) => error instanceof ZipFailure && why.test(error.message));

describe('an archive can be read back', () => {
  test('with entries of each kind', async () => {
    const [noise, text] = [randomBytes(300_000), 'line of text\n'.repeat(50_000)];
    const source = await zipped([
      { name: 'empty/', kind: 'directory', mode: 0o755, modified, content: '' },
      file('nothing', ''),
      file('bin/tiny.sh', 'x', 0o755),
      file('größe/ünï.txt', text),
      file('noise', noise),
      file('stream', Readable.from([Buffer.from(text), noise])),
      { name: 'link', kind: 'symlink', mode: 0o777, modified, content: 'bin/tiny.sh' },
    ]);
    assert.deepEqual(await contentOf(source, 'nothing'), Buffer.alloc(0));
    assert.equal((await contentOf(source, 'größe/ünï.txt'))?.toString(), text);
    assert.deepEqual(await contentOf(source, 'noise'), noise);
    assert.deepEqual(await contentOf(source, 'stream'), Buffer.concat([Buffer.from(text), noise]));
    assert.equal((await contentOf(source, 'link'))?.toString(), 'bin/tiny.sh');
    assert.equal(await contentOf(source, 'missing'), null);
    const directory = await openZip(source);
    assert.equal(directory.count, 7);
    const items = [...directory.items()];
    assert.deepEqual(
      items.map(({ kind, mode, method }) => [kind, mode, method]),
      [
        ['directory', 0o755, 0],
        ['file', 0o644, 0],
        ['file', 0o755, 0],
        ['file', 0o644, 8],
        ['file', 0o644, 0],
        ['file', 0o644, 8],
        ['symlink', 0o777, 0],
      ],
    );
    assert.ok(items.every((item) => item.modified.getTime() === modified.getTime()));
    assert.ok(source.size < 2 * noise.length + 20_000);
  });

  test('with more than 65535 entries', async () => {
    const names = Array.from({ length: 70_000 }, (_one, at) => `folder/${at}`);
    const source = await zipped(names.map((name) => file(name, name)));
    const directory = await openZip(source);
    assert.equal(directory.count, 70_000);
    assert.equal((await contentOf(source, 'folder/69999'))?.toString(), 'folder/69999');
    await refuses(openZip(source, { entries: 69_999, directory: most }), /too many/);
    await refuses(openZip(source, { entries: 70_000, directory: 1_000 }), /too many/);
  });

  test('with a stream that may exceed 4 GiB', async () => {
    const large = { ...file('large', Readable.from([Buffer.from('not so large')])), size: 5 * 2 ** 30 };
    const source = await zipped([large, file('next', 'next')]);
    assert.equal((await contentOf(source, 'large'))?.toString(), 'not so large');
    assert.equal((await contentOf(source, 'next'))?.toString(), 'next');
  });

  test('without entries', async () => {
    assert.equal((await openZip(await zipped([]))).count, 0);
  });

  test('and fails if the stream of an entry fails', async () => {
    const failing = Readable.from(
      (async function* fail() {
        yield await Promise.resolve(Buffer.from('a'));
        throw new Error('the disk is gone');
      })(),
    );
    await assert.rejects(buffer(writeZip([file('a', failing)])), /the disk is gone/);
  });

  test('whose entries are requested only as the archive is read', async () => {
    let asked = 0;
    const entries = (function* ask() {
      for (; asked < 1_000; asked += 1) yield file(String(asked), randomBytes(10_000));
    })();
    const archive = writeZip(entries);
    for await (const _chunk of archive) break;
    assert.ok(asked < 100, String(asked));
  });
});

/** Builds a hostile archive field by field. */
type Raw = {
  name: string;
  content?: Buffer;
  localName?: string;
  method?: number;
  flags?: number;
  localFlags?: number;
  crc?: number;
  size?: number;
  compressed?: number;
  offset?: number;
  attributes?: number;
};

const local = (raw: Raw, content: Buffer): Buffer => {
  const name = Buffer.from(raw.localName ?? raw.name);
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(raw.localFlags ?? raw.flags ?? 0, 6);
  head.writeUInt16LE(raw.method ?? 0, 8);
  head.writeUInt16LE(name.length, 26);
  return Buffer.concat([head, name, content]);
};

const central = (raw: Raw, content: Buffer, offset: number): Buffer => {
  const name = Buffer.from(raw.name);
  const head = Buffer.alloc(46);
  head.writeUInt32LE(0x02014b50, 0);
  head.writeUInt16LE(0x031e, 4);
  head.writeUInt16LE(raw.flags ?? 0, 8);
  head.writeUInt16LE(raw.method ?? 0, 10);
  head.writeUInt32LE(raw.crc ?? crc32(content), 16);
  head.writeUInt32LE(raw.compressed ?? content.length, 20);
  head.writeUInt32LE(raw.size ?? content.length, 24);
  head.writeUInt16LE(name.length, 28);
  head.writeUInt32LE(((raw.attributes ?? 0o100644) << 16) >>> 0, 38);
  head.writeUInt32LE(raw.offset ?? offset, 42);
  return Buffer.concat([head, name]);
};

const handmade = (all: Raw[], end: { count?: number; offset?: number; tail?: Buffer } = {}): ZipContent => {
  const [locals, centrals]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const raw of all) {
    const content = raw.content ?? Buffer.from('content');
    locals.push(local(raw, content));
    centrals.push(central(raw, content, offset));
    offset += locals.at(-1)?.length ?? 0;
  }
  const directory = Buffer.concat(centrals);
  const last = Buffer.alloc(22);
  last.writeUInt32LE(0x06054b50, 0);
  last.writeUInt16LE(end.count ?? all.length, 8);
  last.writeUInt16LE(end.count ?? all.length, 10);
  last.writeUInt32LE(directory.length, 12);
  last.writeUInt32LE(end.offset ?? offset, 16);
  return inMemory(Buffer.concat([...locals, directory, last, end.tail ?? Buffer.alloc(0)]));
};

const openItem = async (source: ZipContent, name = 'a'): Promise<Buffer> => {
  const item = (await openZip(source)).find(name);
  assert.ok(item);
  await refuses(readItemWhole(source, item, most), /./);
  return await buffer(await readItem(source, item, most));
};

describe('a hostile archive', () => {
  test('is read if nothing is wrong with it (control)', async () => {
    const source = handmade([{ name: 'a' }]);
    assert.equal((await contentOf(source, 'a'))?.toString(), 'content');
  });

  test('is refused if it is not an archive', async () => {
    await refuses(openZip(inMemory(Buffer.alloc(0))), /not a zip/);
    await refuses(openZip(inMemory(Buffer.alloc(100_000))), /not a zip/);
    await refuses(openZip(handmade([{ name: 'a' }], { tail: Buffer.from('more') })), /not a zip/);
  });

  test('is refused if its directory is at another place', async () => {
    await refuses(openZip(handmade([{ name: 'a' }], { offset: 3 })), /damaged/);
    await refuses(openZip(handmade([{ name: 'a' }], { offset: 4_000_000 })), /damaged/);
    await refuses(openZip(handmade([{ name: 'a' }], { count: 2 })), /damaged/);
    await refuses(openZip(handmade([{ name: 'a' }], { count: 0xffff })), /damaged/);
    await refuses(openZip(handmade([{ name: 'a', offset: 0xffffffff }])), /damaged/);
  });

  test('is refused if its entries overlap', async () => {
    const content = deflateRawSync(Buffer.alloc(1_000_000));
    const one = { content, method: 8, size: 1_000_000, crc: crc32(Buffer.alloc(1_000_000)) };
    const source = handmade([
      { ...one, name: 'a' },
      { ...one, name: 'b', offset: 0 },
    ]);
    await refuses(openZip(source), /overlap/);
    await refuses(openZip(handmade([{ name: 'a', compressed: 5_000 }])), /damaged/);
  });

  test('is refused if encrypted or compressed by an unsupported method', async () => {
    await refuses(openItem(handmade([{ name: 'a', flags: 1 }])), /encrypted/);
    await refuses(openItem(handmade([{ name: 'a', localFlags: 1 }])), /damaged/);
    await refuses(openItem(handmade([{ name: 'a', method: 12 }])), /unsupported/);
  });

  test('is refused if sizes, checksums or names are wrong', async () => {
    const content = deflateRawSync(Buffer.alloc(1_000_000));
    const cases: [Raw, RegExp][] = [
      [{ name: 'a', size: 3 }, /impossible/],
      [{ name: 'a', method: 8, content, size: 2_000_000_000 }, /impossible/],
      [{ name: 'a', method: 8, content, size: 999_999 }, /larger than its header says|damaged/],
      [{ name: 'a', method: 8, content, size: 1_000_001 }, /damaged/],
      [{ name: 'a', method: 8, content, size: 1_000_000, crc: 7 }, /damaged/],
      [{ name: 'a', method: 8, size: 7 }, /damaged/],
      [{ name: 'a', crc: 1 }, /damaged/],
      [{ name: 'a', localName: 'b' }, /differs from the directory/],
    ];
    for (const [raw, why] of cases) await refuses(openItem(handmade([raw])), why);
  });

  test('is refused for a file over the limit, a folder and a device', async () => {
    const source = handmade([{ name: 'a' }]);
    const item = (await openZip(source)).find('a')!;
    await refuses(readItem(source, item, 6), /too large/);
    await refuses(openItem(handmade([{ name: 'a/' }]), 'a/'), /not a file/);
    await refuses(openItem(handmade([{ name: 'a', attributes: 0o040755 }])), /not a file/);
    await refuses(openItem(handmade([{ name: 'a', attributes: 0o020644 }])), /not a file/);
  });

  test('is refused or read, without a crash, after random changes', async () => {
    const whole = await buffer(writeZip([file('a', 'text '.repeat(100)), file('b', randomBytes(90))]));
    const tryAll = async (source: ZipContent): Promise<void> => {
      const directory = await openZip(source);
      for (const item of directory.items()) await buffer(await readItem(source, item, 10_000));
    };
    for (let at = 0; at < whole.length; at += 1) {
      for (const value of [0, 0xff, (whole[at] ?? 0) ^ 1]) {
        const changed = Buffer.from(whole);
        changed[at] = value;
        await tryAll(inMemory(changed)).catch((error: unknown) => {
          assert.ok(error instanceof ZipFailure, String(error));
        });
      }
    }
  });
});

describe('extracting', () => {
  let count = 0;
  const place = async (
    source: ZipContent | Iterable<ZipEntry>,
  ): Promise<{ archive: string; folder: string }> => {
    count += 1;
    const [archive, folder] = [join(root, `${count}.zip`), join(root, String(count))];
    await mkdir(folder);
    const bytes = 'read' in source ? await source.read(0, source.size) : writeZip(source);
    await pipeline(bytes instanceof Readable ? bytes : [bytes], createWriteStream(archive));
    return { archive, folder };
  };

  test('writes files, folders and links with their modes', async () => {
    const large = randomBytes(3_000_000);
    const { archive, folder } = await place([
      { name: 'empty/', kind: 'directory', mode: 0o755, modified, content: '' },
      file('a/b/run.sh', '#!/bin/sh\n', 0o755),
      file('large', Readable.from([large])),
      { name: 'a/link', kind: 'symlink', mode: 0o777, modified, content: 'b/run.sh' },
    ]);
    await writeFile(join(folder, 'large'), 'as it was before');
    await extractZip(archive, folder);
    assert.deepEqual(readdirSync(folder).toSorted(), ['a', 'empty', 'large']);
    assert.equal(readFileSync(join(folder, 'a/link'), 'utf8'), '#!/bin/sh\n');
    assert.equal(readlinkSync(join(folder, 'a/link')), 'b/run.sh');
    assert.equal(statSync(join(folder, 'a/b/run.sh')).mode & 0o777, 0o755);
    assert.equal(statSync(join(folder, 'large')).mtimeMs, modified.getTime());
    assert.deepEqual(readFileSync(join(folder, 'large')), large);
  });

  test('refuses names that leave the folder, before anything is written', async () => {
    for (const name of ['../out', '/out', 'a/../../out', 'a//b', './a', 'a\0b', '..', '']) {
      const { archive, folder } = await place([file('first', 'x'), file(name, 'x')]);
      await refuses(extractZip(archive, folder), /would leave the folder/);
      assert.deepEqual(readdirSync(folder), [], name);
    }
    assert.ok(!existsSync(join(root, 'out')));
  });

  test('never writes through a link', async () => {
    const outside = join(root, 'outside');
    await mkdir(outside);
    const link = { name: 'a', kind: 'symlink', mode: 0o777, modified, content: outside } as const;
    const first = await place([link, file('a/file', 'x')]);
    await assert.rejects(extractZip(first.archive, first.folder));
    // A link from an earlier archive or from the repository.
    const second = await place([file('a/b/file', 'x')]);
    await symlink(outside, join(second.folder, 'a'));
    await refuses(extractZip(second.archive, second.folder), /leads out/);
    const third = await place([file('file', 'x')]);
    await writeFile(join(outside, 'kept'), 'kept');
    await symlink(join(outside, 'kept'), join(third.folder, 'file'));
    await extractZip(third.archive, third.folder);
    assert.equal(readFileSync(join(third.folder, 'file'), 'utf8'), 'x');
    assert.deepEqual(readdirSync(outside), ['kept']);
    assert.equal(readFileSync(join(outside, 'kept'), 'utf8'), 'kept');
  });

  test('refuses devices and archives over the limits', async () => {
    const device = await place(handmade([{ name: 'a', attributes: 0o020644 }]));
    await refuses(extractZip(device.archive, device.folder), /not a file/);
    const bomb = await place([file('a', Buffer.alloc(1_000)), file('b', Buffer.alloc(1_000))]);
    await refuses(
      extractZip(bomb.archive, bomb.folder, { limits: { entries: 2, total: 1_999 } }),
      /too large in total/,
    );
    await refuses(
      extractZip(bomb.archive, bomb.folder, { limits: { entries: 1, total: 5_000 } }),
      /too many/,
    );
    assert.deepEqual(readdirSync(bomb.folder), []);
  });
});
