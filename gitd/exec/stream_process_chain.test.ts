import { randomBytes } from 'node:crypto';
import { PassThrough, Transform, type Duplex } from 'node:stream';
import { before, it } from 'node:test';
import assert from 'node:assert/strict';
import { useRepository } from '../../test/support/repositories/repository_storage.ts';
import { GitError } from '../git_error.ts';
import { flag, oid } from './arguments.ts';
import type { GitProcess } from './spawn.ts';
import { streamProcessChain } from './stream_process_chain.ts';

const { repository } = useRepository();
let blob: string;

before(async () => {
  // More than fits into the buffers of pipes.
  const [commit] = await repository.commitAll({ large: randomBytes(4 * 2 ** 20).toString('hex') });
  blob = await repository.git('rev-parse', `${commit}:large`);
});

const startReading = async (): Promise<GitProcess> =>
  await repository.context.exec.start({
    command: 'cat-file',
    args: [flag('blob'), oid(blob)],
    dir: repository.dir,
    slot: 'interactive',
    seconds: 20,
  });

const startUnpacker = async (): Promise<GitProcess> =>
  await repository.context.exec.start({
    command: 'bzip2',
    args: [flag('-d')],
    dir: null,
    slot: null,
    seconds: 20,
  });

const send = async (processes: GitProcess[], through: Duplex[] = []): Promise<void> => {
  const output = new PassThrough();
  output.resume();
  const { signal } = new AbortController();
  await streamProcessChain({ processes, output, through, signal });
};

const failWith = (error: Error): Transform =>
  new Transform({ transform: (_chunk, _encoding, done) => done(error) });

it('reports the error output of a process that stops reading its input', async () => {
  const processes = [await startReading(), await startUnpacker()];
  await assert.rejects(send(processes), { kind: 'internal', message: /not a bzip2 file/ });
});

it('reports the error of a transform between the process and the reader', async () => {
  const tooLarge = new GitError('too_large', 'more than allowed');
  await assert.rejects(send([await startReading()], [failWith(tooLarge)]), tooLarge);
  await assert.rejects(send([await startReading()], [failWith(new Error('no memory'))]), {
    message: 'no memory',
  });
});

it('reports a reader that closes or fails as unavailable', async () => {
  const { signal } = new AbortController();
  const gone = { kind: 'unavailable', message: 'the reader has gone' };
  const closed = new PassThrough();
  closed.once('data', () => closed.destroy());
  await assert.rejects(
    streamProcessChain({ processes: [await startReading()], output: closed, signal }),
    gone,
  );
  const broken = failWith(new Error('the connection is closed'));
  await assert.rejects(
    streamProcessChain({ processes: [await startReading()], output: broken, signal }),
    gone,
  );
});
