/**
 * Readers of streams that arrive in pieces of any size, of commands over SSH and of names of files, n and 2n times as
 * long: the CPU may grow at most 2.5 times.
 */
import assert from 'node:assert/strict';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { makeFrameReader } from '../../gitd/rpc/frames.ts';
import { awaitOpening } from '../../gitd/transport/first_message.ts';
import { limitCommands } from '../../gitd/transport/limit_request_size.ts';
import { readRequests } from '../../gitd/transport/parse_request.ts';
import { parseGitCommand } from '../../src/doors/git_ssh/parse_command.ts';
import { cleanName } from '../../src/projects/uploads/rules.ts';
import { costFor, growsTwice, leastCost } from './cpu.ts';
import { repeated, texts } from './fragments.ts';

type Slow = { name: string; costs: number[] };

const watching = { signal: new AbortController().signal, touch: () => undefined };

const cut = (text: string, size: number): Buffer[] => {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_one, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
};

/** A client that sends a piece after the other has been read. */
const oneByOne = async function* oneByOne(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    await Promise.resolve();
    yield piece;
  }
};

const drop = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

/** What reads a stream in pieces of any size, with the longest input that is read. */
const readers: Record<
  string,
  { longest: number; size: number; read: (pieces: Buffer[]) => Promise<unknown> }
> = {
  'the first packet of a client': {
    longest: 8 * 1024,
    size: 1,
    read: async (pieces) => {
      const input = Readable.from(oneByOne(pieces), { objectMode: false, highWaterMark: 1 });
      await awaitOpening(input, watching, true).catch(() => undefined);
      input.destroy();
    },
  },
  'requests of a client': {
    longest: 64 * 1024,
    size: 64,
    read: async (pieces) => {
      for await (const request of readRequests(oneByOne(pieces))) if (request.command === 'x') break;
    },
  },
  'requests of a client in one piece': {
    longest: 128 * 1024,
    size: 2 ** 30,
    read: async (pieces) => {
      for await (const request of readRequests(oneByOne(pieces))) if (request.command === 'x') break;
    },
  },
  'commands of a push': {
    longest: 128 * 1024,
    size: 16,
    read: async (pieces) => await pipeline(oneByOne(pieces), limitCommands(), drop()),
  },
  'frames of a peer': {
    longest: 128 * 1024,
    size: 8,
    read: async (pieces) => {
      const reader = makeFrameReader({ header: 2 ** 30, body: 2 ** 30 }, () => undefined);
      await Promise.resolve();
      const head = Buffer.alloc(8);
      head.writeUInt32BE(pieces.reduce((sum, { length }) => sum + length, 1));
      reader.push(head);
      for (const piece of pieces) reader.push(piece);
    },
  },
};
const inReaders = [
  '0004',
  '0005a',
  '0000',
  '00010000',
  'ffff',
  '0032want 1111111111111111111111111111111111111111\n',
];

/**
 * Milliseconds of CPU below which a growth tells nothing: collecting thousands of pieces as garbage takes as long. A
 * reader that reads all pieces again with each of them takes seconds.
 */
const least = 200;

test('pieces of any size', { timeout: 3_600_000 }, async () => {
  const slow: Slow[] = [];
  for (const [name, { longest, size, read }] of Object.entries(readers)) {
    for (const fragment of inReaders) {
      const readAll = async (length: number): Promise<void> => {
        const pieces = cut(repeated(fragment, length), size);
        await Promise.resolve(read(pieces)).catch(() => undefined);
      };
      const cost = async (length: number): Promise<number> =>
        await leastCost(async () => await readAll(length));
      if ((await costFor(async () => await readAll(longest))) < least) continue;
      const costs = await growsTwice({ cost, length: longest, least });
      if (costs !== null) slow.push({ name: `${name}: ${fragment}`, costs });
    }
  }
  assert.deepEqual(slow, []);
});

test('commands over SSH', { timeout: 3_600_000 }, async () => {
  const slow: Slow[] = [];
  for (const fragment of [...texts, '//', "'", "''", "\\'", '.git']) {
    for (const end of ['', 'x', "'"]) {
      const cost = async (length: number): Promise<number> =>
        await leastCost(() => void parseGitCommand(`git-upload-pack ${repeated(fragment, length)}${end}`));
      const costs = await growsTwice({ cost, length: 32 * 1024 }, 32 * 1024);
      if (costs !== null) slow.push({ name: `${fragment}...${end}`, costs });
    }
  }
  assert.deepEqual(slow, []);
});

test('names of uploaded files', { timeout: 3_600_000 }, async () => {
  const slow: Slow[] = [];
  for (const fragment of [...texts, '.', '/', '\\', 'é', '𝒳', '\u202e']) {
    for (const end of ['', '.png']) {
      const cost = async (length: number): Promise<number> =>
        await leastCost(() => void cleanName(`${repeated(fragment, length)}${end}`));
      const costs = await growsTwice({ cost, length: 32 * 1024 }, 64 * 1024);
      if (costs !== null) slow.push({ name: `${fragment}...${end}`, costs });
    }
  }
  assert.deepEqual(slow, []);
});
