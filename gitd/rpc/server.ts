/** Serves connections: concurrent calls on one connection, each stream on its own. */
import { type Server, type Socket, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type Server as TlsServer, createServer as createTlsServer } from 'node:tls';
import type { MethodHandler, MethodHandlers } from '../handler_types.ts';
import { GitError, classifyError, getMessage } from '../git_error.ts';
import type { Method } from '../protocol.ts';
import { requireInstance } from '../storage/claim_storage.ts';
import { makeDrain } from './count_active_calls.ts';
import { type Frame, writeFrame } from './frames.ts';
import { type Peer, performHandshake } from './handshake.ts';
import { type ServerParts, asGone, makeContext } from './call_context.ts';
import { answerStream } from './answer_stream.ts';

/** Maximum concurrent calls per connection; further calls wait in the socket. */
const maxConcurrentCalls = 1024;
/** Default time limit of a call, in milliseconds. */
const defaultTimeout = 60_000;

type Calls = Map<number, AbortController>;

const findHandler = (methods: MethodHandlers, name: unknown): MethodHandler<Method> => {
  const isKnown = typeof name === 'string' && Object.hasOwn(methods, name);
  if (!isKnown) throw new GitError('invalid', `unknown method ${String(name)}`);
  return methods[name as Method] as MethodHandler<Method>;
};

/** Rejects when the signal aborts, even if the work ignores it. */
const orAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

const answerCall = async (
  parts: ServerParts,
  { socket, peer, calls }: { socket: Socket; peer: Peer; calls: Calls },
  frame: Frame,
): Promise<void> => {
  const { id, method, params, patience: timeout } = frame.header as Record<string, unknown> & { id: number };
  const control = new AbortController();
  calls.set(id, control);
  const limit = typeof timeout === 'number' ? timeout : defaultTimeout;
  const timer = setTimeout(
    () => control.abort(new GitError('limit', `${String(method)} took too long`)),
    limit,
  );
  let end: (() => void) | null = null;
  try {
    end = parts.drain.begin();
    const handler = findHandler(parts.methods, method);
    if (!String(method).startsWith('storage.')) await requireInstance(parts.storage, peer.instance);
    const context = makeContext(parts.storage, { name: method, params }, control.signal);
    const work = handler(params as Parameters<typeof handler>[0], context, frame.body);
    const { result, body } = await orAborted(work, control.signal);
    if (socket.writable) writeFrame(socket, { id, result }, body);
  } catch (caught) {
    const error = await asGone(caught, parts.storage, params);
    const kind = classifyError(error);
    if (kind === 'internal')
      parts.storage.log('a call failed', { method, error: String((error as Error).stack) });
    if (socket.writable) writeFrame(socket, { id, error: { kind, message: getMessage(error) } });
  } finally {
    clearTimeout(timer);
    calls.delete(id);
    end?.();
  }
};

/** Asks a service to send no further calls on this connection, and to close it once it has all answers. */
const announceStop = (socket: Socket): void => {
  if (socket.writable) writeFrame(socket, { stopping: true });
};

const serveCalls = (parts: ServerParts, socket: Socket, peer: Peer, first: Frame): void => {
  const calls: Calls = new Map();
  const gone = new GitError('unavailable', 'the caller has gone');
  peer.onFrame = (frame) => {
    const { cancel } = frame.header;
    if (typeof cancel === 'number') return calls.get(cancel)?.abort(new GitError('unavailable', 'canceled'));
    if (calls.size >= maxConcurrentCalls) socket.pause();
    void answerCall(parts, { socket, peer, calls }, frame).finally(() => {
      if (calls.size < maxConcurrentCalls) socket.resume();
    });
  };
  parts.callers.add(socket);
  socket.on('close', () => {
    parts.callers.delete(socket);
    for (const control of calls.values()) control.abort(gone);
  });
  if (parts.isStopping()) announceStop(socket);
  peer.onFrame(first);
};

const serveStream = (parts: ServerParts, socket: Socket, peer: Peer, frame: Frame): void => {
  try {
    socket.once('close', parts.drain.begin());
  } catch (error) {
    writeFrame(socket, { error: { kind: classifyError(error), message: getMessage(error) } });
    socket.end();
    return;
  }
  answerStream(parts, socket, peer, frame);
};

const serve = (parts: ServerParts, socket: Socket): void => {
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  performHandshake(socket, parts.secret, (peer) => {
    peer.onFrame = (frame) => {
      if (typeof frame.header['stream'] === 'string') serveStream(parts, socket, peer, frame);
      else serveCalls(parts, socket, peer, frame);
    };
  });
};

/** Certificate chain and private key, as PEM. */
export type Certificate = { cert: string; key: string };

/** Path of a Unix socket, or an address, with TLS if it has a certificate. */
export type ListenAt = string | { host: string; port: number; certificate?: Certificate | undefined };

export type Listener = {
  /** Uses another certificate for new connections. */
  renew: (certificate: Certificate) => void;
  /**
   * Stops accepting connections and asks services to leave. Their connections are served until they close them, a few
   * seconds at most; after that, new calls are refused. Resolves when calls in progress have ended.
   */
  drain: () => Promise<void>;
  /** Closes every connection. */
  stop: () => Promise<void>;
};

/** Milliseconds for the handshake of TLS. */
const tlsTimeout = 10_000;

const createAnyServer = (at: ListenAt, onSocket: (socket: Socket) => void): Server | TlsServer =>
  typeof at === 'string' || at.certificate === undefined
    ? createServer({ pauseOnConnect: false }, onSocket)
    : createTlsServer({ ...at.certificate, minVersion: 'TLSv1.3', handshakeTimeout: tlsTimeout }, onSocket);

/** Milliseconds for services to leave. An earlier service does not leave by itself. */
const leaveTimeout = 5_000;

/** Starts to listen. */
export const listen = async (
  options: Omit<ServerParts, 'drain' | 'callers' | 'isStopping'>,
  at: ListenAt,
): Promise<Listener & { port: number }> => {
  let isStopping = false;
  const callers = new Set<Socket>();
  const parts: ServerParts = { ...options, drain: makeDrain(), callers, isStopping: () => isStopping };
  const sockets = new Set<Socket>();
  const server = createAnyServer(at, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serve(parts, socket);
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  if (typeof at === 'string') server.listen(at, resolve);
  else server.listen(at.port, at.host, resolve);
  await promise;
  const address = server.address();
  const drain = async (): Promise<void> => {
    isStopping = true;
    const left = new Promise<void>((resolve) => void server.close(() => resolve()));
    for (const socket of callers) announceStop(socket);
    await Promise.race([left, wait(leaveTimeout, undefined, { ref: false })]);
    await parts.drain.drain();
  };
  const stop = async (): Promise<void> => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await Promise.resolve();
  };
  const renew = (certificate: Certificate): void => {
    if ('setSecureContext' in server) server.setSecureContext(certificate);
  };
  return { renew, drain, stop, port: typeof address === 'object' && address !== null ? address.port : 0 };
};
