import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { awaitOpening, makeOpeningParser, skipAdvertisement } from './first_message.ts';
import { packet } from './packet_lines.ts';

const [zero, one] = ['0'.repeat(40), '1'.repeat(40)];
const flush = Buffer.from('0000');
const make = packet(`${zero} ${one} refs/heads/a\0report-status`);
const remove = packet(`${one} ${zero} refs/heads/a\0report-status`);

test('a push begins with its first object, or with commands that only delete', () => {
  const opening = (...parts: Buffer[]): string => makeOpeningParser(true)(Buffer.concat(parts));
  assert.equal(opening(flush), 'nothing');
  assert.equal(opening(make), 'incomplete');
  assert.equal(opening(make, flush), 'incomplete');
  assert.equal(opening(make, flush, Buffer.from('P')), 'begun');
  assert.equal(opening(remove, flush), 'begun');
  assert.equal(opening(remove, make, flush), 'incomplete');
  assert.equal(opening(...Array.from({ length: 300 }, () => make)), 'begun');
  assert.throws(() => opening(Buffer.from('GET / HTTP/1.1')), { kind: 'invalid' });
});

test('bytes read ahead stay readable', async () => {
  const watching = { signal: new AbortController().signal, touch: () => undefined };
  const input = new PassThrough();
  const waiting = awaitOpening(input, watching, true);
  for (const part of [make.subarray(0, 10), make.subarray(10), flush, Buffer.from('PACK')]) {
    input.write(part);
    await new Promise((done) => setImmediate(done));
  }
  assert.equal(await waiting, true);
  input.end('rest');
  const said = Buffer.concat([make, flush, Buffer.from('PACKrest')]);
  assert.deepEqual(await buffer(input), said);
  const cut = new PassThrough();
  cut.end(make);
  await assert.rejects(awaitOpening(cut, watching, true), { kind: 'invalid' });
  const silent = new PassThrough();
  silent.end();
  assert.equal(await awaitOpening(silent, watching, true), false);
});

test('an advertisement is skipped, however it is split', async () => {
  const all = Buffer.concat([packet('a ref\n'), packet('another\n'), flush, packet('NAK\n'), flush]);
  for (const length of [1, 9, 1000]) {
    const stream = skipAdvertisement();
    for (let at = 0; at < all.length; at += length) stream.write(all.subarray(at, at + length));
    stream.end();
    assert.equal((await buffer(stream)).toString(), '0008NAK\n0000');
  }
});
