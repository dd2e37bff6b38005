import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { collectGarbage } from '../../test/support/machine/retained_memory.ts';
import { type TestRepository, useStorage } from '../../test/support/repositories/repository_storage.ts';
import { startWatchdog } from '../exec/transfer_watchdog.ts';
import { zeroOid } from '../protocol_records.ts';
import { sendRefs } from './ls_refs.ts';
import { packet } from './packet_lines.ts';
import { parseRequest } from './parse_request.ts';

const storage = useStorage();

const request = parseRequest(
  Buffer.concat([
    packet('command=ls-refs\n'),
    packet('object-format=sha1'),
    Buffer.from('0001'),
    packet('peel\n'),
    Buffer.from('0000'),
  ]),
);

const list = async ({ context, dir }: TestRepository): Promise<Buffer> => {
  const written: Buffer[] = [];
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk);
      done();
    },
  });
  const watching = startWatchdog(null);
  await sendRefs(context, { dir, hidden: { requests: false, pipelines: false }, output, watching }, request);
  watching.dispose();
  const [answer] = written;
  assert.ok(answer !== undefined && written.length === 1);
  return answer;
};

test('a response is cached, in unpooled memory, until a ref changes', async () => {
  const repository = storage.repository();
  const [id] = await repository.commitAll({ a: '1' });
  const first = await list(repository);
  const kept = await list(repository);
  assert.equal(kept.toString(), first.toString());
  assert.equal(await list(repository), kept);
  assert.equal(kept.buffer.byteLength, kept.length);
  await repository.ask('refs.update', { updates: [{ ref: 'refs/heads/x', old: zeroOid, new: id! }] });
  assert.match((await list(repository)).toString(), /refs\/heads\/x/);
});

test('a repository whose refs keep changing has one cached response', async () => {
  const repository = storage.repository();
  const [id] = await repository.commitAll({ a: '1' });
  const answers: WeakRef<Buffer>[] = [];
  for (let at = 0; at < 10; at += 1) {
    const ref = `refs/heads/${at}`;
    await repository.ask('refs.update', { updates: [{ ref, old: zeroOid, new: id! }] });
    await list(repository);
    answers.push(new WeakRef(await list(repository)));
  }
  await collectGarbage();
  assert.equal(answers.filter((answer) => answer.deref() !== undefined).length, 1);
});
