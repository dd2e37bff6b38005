import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { watch } from './watch.ts';

const pace = { seconds: 24, bytes: 1_000 };

const start = ({ mock }: TestContext) => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const watching = watch(null, pace);
  const after = async (seconds: number, each: () => void = () => undefined): Promise<void> => {
    for (let at = 0; at < seconds; at += 1) {
      each();
      await new Promise((done) => setImmediate(done));
      mock.timers.tick(1_000);
    }
  };
  const reason = (): string | null => {
    const { signal } = watching;
    return signal.aborted ? (signal.reason as Error).message : null;
  };
  return { watching, after, reason };
};

const tooSlow = 'the client is too slow';

test('a transfer without a byte ends', async (context) => {
  const { after, reason } = start(context);
  await after(23);
  assert.equal(reason(), null);
  await after(1);
  assert.equal(reason(), 'nothing was transferred for 24 s');
});

test('a client that sends a byte now and then ends, one that sends enough goes on', async (context) => {
  const { watching, after, reason } = start(context);
  const stream = watching.fromClient().resume();
  await after(100, () => void stream.write(Buffer.alloc(100)));
  assert.equal(reason(), null);
  await after(100, () => void stream.write(Buffer.alloc(1)));
  assert.equal(reason(), tooSlow);
});

test('a client that reads little ends, though bytes are sent', async (context) => {
  const { watching, after, reason } = start(context);
  const stream = watching.toClient();
  stream.write(Buffer.alloc(100));
  await after(100, () => void stream.write(Buffer.alloc(1)));
  assert.equal(reason(), tooSlow);
});

test('a client is not blamed while git works', async (context) => {
  const { watching, after, reason } = start(context);
  watching.fromClient().resume();
  const output = watching.toClient().resume();
  watching.endInput();
  await after(100, () => void output.write(Buffer.alloc(1)));
  assert.equal(reason(), null);
});
