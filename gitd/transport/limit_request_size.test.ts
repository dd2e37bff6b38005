import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { limitCommands, limitNegotiation, maxPushOptions, wholeRequest } from './limit_request_size.ts';
import { packet } from './packet_lines.ts';
import { startWatchdog } from '../exec/transfer_watchdog.ts';

const through = async (chunks: Buffer[], most: number): Promise<Buffer> =>
  await buffer(Readable.from(chunks).compose(limitCommands(most)));

const commands = Buffer.concat([packet('a command\n'), Buffer.from('0000')]);
const options = Buffer.concat([packet('an option'), Buffer.from('0000')]);
const pack = Buffer.concat([Buffer.from('PACK'), Buffer.alloc(10_000, '0001')]);

test('the commands and options of a push are limited in size, its pack is not', async () => {
  const push = Buffer.concat([commands, options, pack]);
  const most = commands.length + options.length + 4;
  assert.deepEqual(await through([push], most), push);
  const bytes = [...push].map((byte) => Buffer.from([byte]));
  assert.deepEqual(await through(bytes, most), push);
  await assert.rejects(through([push], most - 5), { kind: 'too_large' });
  await assert.rejects(through(bytes, commands.length), { kind: 'too_large' });
  await assert.rejects(through([packet('a command\n'), packet('another')], 20), { kind: 'too_large' });
});

test('the options of a push are limited in number, its commands are not', async () => {
  const lines = (count: number): Buffer[] => Array.from({ length: count }, () => packet('a'));
  const push = (made: number, chosen: number): Buffer =>
    Buffer.concat([...lines(made), Buffer.from('0000'), ...lines(chosen), Buffer.from('0000'), pack]);
  const most = push(maxPushOptions + 1, maxPushOptions);
  assert.deepEqual(await through([most], most.length), most);
  await assert.rejects(through([push(1, maxPushOptions + 1)], most.length), { kind: 'too_large' });
});

test('a negotiation and a buffered request are limited in size', async () => {
  const talk = async (length: number): Promise<Buffer> =>
    await buffer(Readable.from([Buffer.alloc(length), Buffer.alloc(1)]).compose(limitNegotiation(10)));
  assert.equal((await talk(9)).length, 10);
  await assert.rejects(talk(10), { kind: 'too_large' });
  const watching = startWatchdog(null);
  const read = async (most: number) => await wholeRequest(Readable.from([commands]), watching, most);
  assert.deepEqual(await read(100), commands);
  await assert.rejects(read(10), { kind: 'too_large' });
  watching.dispose();
});
