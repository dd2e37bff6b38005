import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startWatchdog } from './transfer_watchdog.ts';

const pace = { seconds: 24, bytes: 1_000 };

const start = ({ mock }: TestContext) => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const watching = startWatchdog(null, pace);
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

test('a stalled transfer is aborted', async (context) => {
  const { after, reason } = start(context);
  await after(23);
  assert.equal(reason(), null);
  await after(1);
  assert.equal(reason(), 'nothing was transferred for 24 s');
});

test('a client that trickles bytes is aborted, a fast enough one continues', async (context) => {
  const { watching, after, reason } = start(context);
  const stream = watching.fromClient().resume();
  await after(100, () => void stream.write(Buffer.alloc(100)));
  assert.equal(reason(), null);
  await after(100, () => void stream.write(Buffer.alloc(1)));
  assert.equal(reason(), tooSlow);
});

test('a client that reads too slowly is aborted', async (context) => {
  const { watching, after, reason } = start(context);
  const stream = watching.toClient();
  stream.write(Buffer.alloc(100));
  await after(100, () => void stream.write(Buffer.alloc(1)));
  assert.equal(reason(), tooSlow);
});

test('a client is not aborted while git works', async (context) => {
  const { watching, after, reason } = start(context);
  watching.fromClient().resume();
  const output = watching.toClient().resume();
  watching.endInput();
  await after(100, () => void output.write(Buffer.alloc(1)));
  assert.equal(reason(), null);
});
