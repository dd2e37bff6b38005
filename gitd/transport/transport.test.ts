/** Tests parts of the transport in isolation. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../../test/support/until.ts';
import { GitError } from '../git_error.ts';
import { makeReportHold } from './hold_report.ts';
import { parseHookCall } from './hook_channel.ts';
import { type Source, openPackCache } from './pack_cache.ts';
import { type Packet, packet, readPacketAt } from './packet_lines.ts';
import { refProblems } from './push_rules.ts';
import { parseFetch, parseRequest, readRequests } from './parse_request.ts';

const folder = mkdtempSync(join(tmpdir(), 'gantry-transport-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const zero = '0'.repeat(40);
const one = '1'.repeat(40);

/** Parses complete input. */
const parsePackets = (bytes: Buffer): Packet[] => {
  const packets: Packet[] = [];
  for (let at = 0; at < bytes.length;) {
    const packet = readPacketAt(bytes, at);
    assert.ok(packet !== null);
    packets.push(packet.packet);
    at = packet.next;
  }
  return packets;
};

test('written packets can be parsed, malformed ones are refused', () => {
  const bytes = Buffer.concat([packet('a\n'), Buffer.from('0001'), packet(''), Buffer.from('0000')]);
  const kinds = parsePackets(bytes).map((one) => (one.kind === 'data' ? one.data.toString() : one.kind));
  assert.deepEqual(kinds, ['a\n', 'delim', '', 'flush']);
  for (const wrong of ['0003', 'zzzz', 'fff1']) {
    assert.throws(() => readPacketAt(Buffer.from(wrong), 0), GitError, wrong);
  }
  for (const part of ['0005', '000']) assert.equal(readPacketAt(Buffer.from(part), 0), null);
  assert.throws(() => packet('x'.repeat(65_517)), GitError);
});

const requestOf = (capabilities: string[], args: string[]): Buffer =>
  Buffer.concat([
    ...capabilities.map((line) => packet(`${line}\n`)),
    Buffer.from('0001'),
    ...args.map((line) => packet(line)),
    Buffer.from('0000'),
  ]);

test('equal requests of different clients have the same key, other requests do not', () => {
  const keyOf = (agent: string, ...args: string[]): string =>
    parseRequest(requestOf(['command=fetch', `agent=${agent}`, 'object-format=sha1'], args)).key;
  assert.equal(keyOf('git/2.39', `want ${one}\n`, 'done\n'), keyOf('git/2.50', `want ${one}`, 'done'));
  assert.notEqual(keyOf('x', `want ${one}`, 'done'), keyOf('x', `want ${zero}`, 'done'));
  assert.notEqual(keyOf('x', `want ${one}`, 'done'), keyOf('x', `want ${one}`, 'thin-pack', 'done'));
  assert.notEqual(keyOf('x', 'a\nb'), keyOf('x', 'a', 'b'));
});

test('a fetch request is parsed into its wants and haves', () => {
  const fetched = (...args: string[]) => parseFetch(parseRequest(requestOf(['command=fetch'], args)));
  assert.deepEqual(fetched(`want ${one}`, `want ${one}`, 'done'), {
    wants: [one],
    hasHaves: false,
    done: true,
    asksRefs: false,
  });
  assert.equal(fetched(`have ${one}`).hasHaves, true);
  assert.equal(fetched('deepen-not refs/heads/x').asksRefs, true);
  for (const odd of ['want HEAD', 'want ', `want ${one}0`, 'want -x'])
    assert.throws(() => fetched(odd), { kind: 'invalid' }, odd);
  const twice = requestOf(['command=fetch', 'command=ls-refs'], []);
  assert.throws(() => parseRequest(twice), { kind: 'invalid' });
});

test('requests are parsed however they are split, several in a row, with a size limit', async () => {
  const bytes = Buffer.concat([
    requestOf(['command=ls-refs'], ['peel']),
    requestOf(['command=fetch'], ['done']),
  ]);
  for (const length of [1, 7, 1000]) {
    const pieces = [];
    for (let at = 0; at < bytes.length; at += length) pieces.push(bytes.subarray(at, at + length));
    const commands = [];
    for await (const { command, args } of readRequests(Readable.from(pieces)))
      commands.push([command, ...args]);
    assert.deepEqual(commands, [
      ['ls-refs', 'peel'],
      ['fetch', 'done'],
    ]);
  }
  const read = async (pieces: Buffer[]): Promise<void> => {
    for await (const _request of readRequests(Readable.from(pieces))) continue;
  };
  await assert.rejects(read([bytes.subarray(0, bytes.length - 1)]), { kind: 'invalid' });
  const haves = Buffer.concat(Array.from({ length: 100 }, () => packet(`have ${one}\n`)));
  await assert.rejects(read(Array.from({ length: 2_200 }, () => haves)), { kind: 'too_large' });
});

const hookCall = (...parts: string[]): ReturnType<typeof parseHookCall> =>
  parseHookCall(Buffer.from(parts.join('')));

test('a hook message is parsed only when complete, including push options with line ends', () => {
  const line = `${zero} ${one} refs/heads/x\n`;
  assert.equal(hookCall('pre-receive\0/q\0'), null);
  assert.equal(hookCall('pre-receive\0/q\0', '1\0'), null);
  assert.equal(hookCall('pre-receive\0/q\0', '0\0', line), null);
  assert.deepEqual(hookCall('pre-receive\0/q\0', '2\0', 'a\n.\n\0', 'b\0', line, '\0'), {
    hook: 'pre-receive',
    quarantine: '/q',
    push_options: ['a\n.\n', 'b'],
    updates: [{ ref: 'refs/heads/x', old: zero, new: one }],
  });
  assert.deepEqual(hookCall('post-receive\0\0', '0\0', '\0')?.updates, []);
  assert.throws(() => hookCall('other\0\0', '0\0', '\0'), { kind: 'internal' });
});

test('no ref name can end a hook message, and no push option can pass as an update', () => {
  const update = `${zero} ${one} refs/heads/x`;
  assert.equal(hookCall('pre-receive\0/q\0', '0\0', `${update}\n.\n`), null);
  assert.throws(() => hookCall('pre-receive\0/q\0', '0\0', `${update}\n.\n${update}\n\0`), GitError);
  const options = [...Array(1_000).keys()].map((at) => `${at}\0`).join('');
  const posing = `${one} ${zero} refs/heads/y\0`;
  const call = (): unknown => hookCall('pre-receive\0/q\0', '1001\0', options, posing, `${update}\n\0`);
  assert.throws(call, { kind: 'too_large' });
  assert.throws(() => hookCall('pre-receive\0/q\0', '0\0', posing, `${update}\n\0`), GitError);
});

test('names that differ only in case are refused, among the updates and against existing refs', () => {
  const made = (ref: string, old = zero, next = one) => ({ ref, old, new: next });
  const there = new Map([['refs/heads/main', 'refs/heads/main']]);
  const isRefused = (...updates: ReturnType<typeof made>[]): boolean => refProblems(updates, there) !== null;
  assert.equal(isRefused(made('refs/heads/main', one, zero)), false);
  assert.equal(isRefused(made('refs/heads/MAIN')), true);
  assert.equal(isRefused(made('refs/tags/MAIN')), false);
  assert.equal(isRefused(made('refs/heads/main', one, zero), made('refs/heads/MAIN')), false);
  assert.equal(isRefused(made('refs/heads/x'), made('refs/heads/X')), true);
  assert.equal(isRefused(made('refs/heads/\u00e9'), made('refs/heads/E\u0301'.toLowerCase())), true);
  assert.equal(isRefused(made('refs/heads/-x', one, zero)), false);
  assert.equal(
    refProblems(
      Array.from({ length: 10_001 }, (_n, at) => made(`refs/heads/${at}`)),
      there,
    )?.length,
    1,
  );
});

test('names with very many folders, and very long names together, are refused, of deletions too', () => {
  const deletion = (ref: string) => ({ ref, old: one, new: zero });
  const lines = (...refs: string[]): string => (refProblems(refs.map(deletion), new Map()) ?? []).join();
  assert.equal(lines(`refs/heads/${'a/'.repeat(126)}b`), '');
  assert.match(lines(`refs/heads/${'a/'.repeat(200)}b`), /too long/);
  assert.match(lines(`refs/heads/${'a'.repeat(1_100)}`), /^refs\/heads\/a{89}…: this name is too long\.$/);
  const many = Array.from({ length: 2_200 }, (_ref, at) => `refs/heads/${at}${'a'.repeat(990)}`);
  assert.match(lines(...many), /2 MB together/);
});

test('a report hold delays output until released or settled, and fails if settling fails', async () => {
  const said = async (settle: () => Promise<void>, release: boolean): Promise<string> => {
    const { stream, hold, ...gate } = makeReportHold(settle);
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    const ended = new Promise<void>((resolve, reject) => stream.on('end', resolve).on('error', reject));
    stream.write('a');
    hold();
    stream.write('b');
    await wait(5);
    assert.equal(Buffer.concat(chunks).toString(), 'a');
    if (release) gate.release();
    stream.end('c');
    await ended;
    return Buffer.concat(chunks).toString();
  };
  assert.equal(await said(async () => assert.fail('not needed'), true), 'abc');
  let settled = 0;
  assert.equal(await said(async () => void (settled += 1), false), 'abc');
  assert.equal(settled, 1);
  await assert.rejects(
    said(async () => await Promise.reject(new Error('gone')), false),
    /gone/,
  );
});

/** Creates a source whose output and end the test controls. */
const slowSource = () => {
  const output = new PassThrough();
  const ended = Promise.withResolvers<void>();
  ended.promise.catch(() => undefined);
  let runs = 0;
  const source: Source = async (signal) => {
    runs += 1;
    signal.addEventListener('abort', () => output.destroy(signal.reason as Error));
    return await Promise.resolve({ output, ended: ended.promise });
  };
  return { source, output, ended, runs: () => runs };
};

const reader = () => {
  const output = new PassThrough();
  const chunks: Buffer[] = [];
  output.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
  return { output, text: () => Buffer.concat(chunks).toString() };
};

const never = { signal: new AbortController().signal, touch: () => undefined };

test('concurrent and later requests for the same pack share one run', async () => {
  const cache = await openPackCache({
    folder: join(folder, 'shared'),
    budget: 1_000,
    maxFiles: 100,
    age: 60_000,
  });
  const { source, output, ended, runs } = slowSource();
  const [first, second, third] = [reader(), reader(), reader()];
  const one = cache.serve('k', first.output, source, never);
  output.write('abc');
  await until('the first has it', () => first.text() === 'abc');
  assert.deepEqual([cache.holds('k'), cache.holds('other')], [true, false], 'while it grows');
  const two = cache.serve('k', second.output, source, never);
  await until('the second has it', () => second.text() === 'abc');
  output.end('def');
  ended.resolve();
  await Promise.all([one, two]);
  await cache.serve('k', third.output, source, never);
  await until('all have it', () => [first, second, third].every(({ text }) => text().length === 6));
  assert.deepEqual([first.text(), second.text(), third.text()], ['abcdef', 'abcdef', 'abcdef']);
  assert.deepEqual([runs(), cache.counts], [1, { misses: 1, hits: 2 }]);
  cache.close();
});

test('a reader that leaves does not end the run for others, and a failure is not cached', async () => {
  const cache = await openPackCache({
    folder: join(folder, 'leaving'),
    budget: 1_000,
    maxFiles: 100,
    age: 60_000,
  });
  const { source, output, ended } = slowSource();
  const leaving = new AbortController();
  const [gone, staying] = [reader(), reader()];
  const left = cache.serve('k', gone.output, source, { ...never, signal: leaving.signal });
  const stayed = cache.serve('k', staying.output, source, never);
  output.write('abc');
  await until('both read', () => gone.text() === 'abc' && staying.text() === 'abc');
  leaving.abort(new GitError('unavailable', 'gone'));
  await assert.rejects(left, /gone/);
  output.end('def');
  ended.reject(new GitError('internal', 'git failed'));
  await stayed;
  await until('it has the rest', () => staying.text().length >= 6);
  assert.equal(staying.text(), 'abcdef');
  const again = slowSource();
  again.output.end('xyz');
  again.ended.resolve();
  const next = reader();
  await cache.serve('k', next.output, again.source, never);
  await until('it has the new answer', () => next.text().length >= 3);
  assert.equal(next.text(), 'xyz');
  cache.close();
});

test('a stalled reader ends on abort', async () => {
  const cache = await openPackCache({
    folder: join(folder, 'stalled'),
    budget: 1_000,
    maxFiles: 100,
    age: 60_000,
  });
  const { source, output, ended } = slowSource();
  output.end('abc');
  ended.resolve();
  const leaving = new AbortController();
  const written = Promise.withResolvers<void>();
  const stalled = new Writable({ highWaterMark: 1, write: () => written.resolve() });
  const left = cache.serve('k', stalled, source, { ...never, signal: leaving.signal });
  await written.promise;
  leaving.abort(new GitError('limit', 'nothing has moved'));
  await assert.rejects(left, /nothing has moved/);
  cache.close();
});

test('files are evicted by size and age, and those of an earlier process are removed', async () => {
  const place = join(folder, 'swept');
  const cache = await openPackCache({ folder: place, budget: 10, maxFiles: 100, age: 60_000 });
  const fill = async (name: string, text: string): Promise<void> => {
    const { source, output, ended } = slowSource();
    output.end(text);
    ended.resolve();
    await cache.serve(name, reader().output, source, never);
  };
  await fill('a', '123456');
  await fill('b', '123456');
  assert.deepEqual(['a', 'b'].map(cache.holds), [false, true]);
  await until('the first is removed', () => readdirSync(place).length === 1);
  cache.close();
  await until('the second is removed', () => readdirSync(place).length === 0);
  writeFileSync(join(place, 'left'), 'by an earlier process');
  const brief = await openPackCache({ folder: place, budget: 100, maxFiles: 100, age: 10 });
  assert.deepEqual(readdirSync(place), []);
  const { source, output, ended, runs } = slowSource();
  output.end('x');
  ended.resolve();
  await brief.serve('a', reader().output, source, never);
  await until('it is too old', () => !brief.holds('a'));
  const other = slowSource();
  other.output.end('y');
  other.ended.resolve();
  await brief.serve('a', reader().output, other.source, never);
  assert.deepEqual([runs(), other.runs()], [1, 1]);
  brief.close();
});

test('files are evicted by number, however small they are', async () => {
  const place = join(folder, 'many');
  const cache = await openPackCache({ folder: place, budget: 1_000, maxFiles: 2, age: 60_000 });
  for (const name of ['a', 'b', 'c', 'd']) {
    const { source, output, ended } = slowSource();
    output.end(name);
    ended.resolve();
    await cache.serve(name, reader().output, source, never);
  }
  assert.deepEqual(['a', 'b', 'c', 'd'].map(cache.holds), [false, false, true, true]);
  await until('the first two are removed', () => readdirSync(place).length === 2);
  cache.close();
});
