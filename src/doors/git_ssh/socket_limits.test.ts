/** Tests limits on idle connections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { test } from 'node:test';
import { guardSockets } from './socket_limits.ts';

const limits = { connections: 10, ofOneAddress: 2, signIn: 60_000, signInBytes: 1_000, close: 60_000 };

type Guarded = {
  dial: () => Socket;
  taken: Socket[];
  /** Authenticates a client. */
  release: (client: Socket) => void;
  close: () => Promise<void>;
};

const start = async (overrides: Partial<typeof limits>): Promise<Guarded> => {
  const taken: Socket[] = [];
  const sockets = guardSockets(
    { ...limits, ...overrides },
    { take: (socket) => void taken.push(socket.resume()) },
  );
  sockets.server.listen(0, '127.0.0.1');
  await once(sockets.server, 'listening');
  const { port } = sockets.server.address() as AddressInfo;
  return {
    taken,
    release: ({ localPort = 0 }) => sockets.release({ ip: '127.0.0.1', port: localPort }),
    // Never closes its own end.
    dial: () =>
      connect({ port, host: '127.0.0.1', allowHalfOpen: true })
        .on('error', () => undefined)
        .resume(),
    close: async () => {
      sockets.destroyAll();
      sockets.server.close();
      await once(sockets.server, 'close');
    },
  };
};

test('closes a silent connection', async () => {
  const { dial, close } = await start({ signIn: 1 });
  const socket = dial();
  await once(socket, 'end');
  socket.destroy();
  await close();
});

test('closes a connection that sends too much before it is authenticated, and no other', async () => {
  const { dial, taken, close, release } = await start({});
  const [stranger, user] = [dial(), dial()];
  await Promise.all([once(stranger, 'connect'), once(user, 'connect')]);
  while (taken.length < 2) await new Promise(setImmediate);
  release(user);
  user.write(Buffer.alloc(2_000));
  while (taken.every(({ bytesRead }) => bytesRead < 2_000)) await new Promise(setImmediate);
  const over = once(stranger, 'end');
  stranger.write(Buffer.alloc(2_000));
  await over;
  assert.equal(taken.filter(({ destroyed }) => destroyed).length, 1);
  for (const socket of [stranger, user]) socket.destroy();
  await close();
});

test('closes a connection that the client does not close', async () => {
  const { dial, taken, close } = await start({ close: 1 });
  const socket = dial();
  await once(socket, 'connect');
  while (taken.length === 0) await new Promise(setImmediate);
  const [ours] = taken;
  assert.ok(ours);
  ours.end('bye');
  await once(ours, 'close');
  socket.destroy();
  await close();
});

test('closes connections past the limit of one address, until another one ends', async () => {
  const { dial, taken, close } = await start({});
  const [first, second] = [dial(), dial()];
  await Promise.all([once(first, 'connect'), once(second, 'connect')]);
  const third = dial();
  await once(third, 'end');
  assert.equal(taken.length, 2);
  third.destroy();
  const left = once(taken[0] as Socket, 'close');
  first.end();
  await left;
  const fourth = dial();
  await once(fourth, 'connect');
  while (taken.length < 3) await new Promise(setImmediate);
  for (const socket of [first, second, fourth]) socket.destroy();
  await close();
});
