/**
 * Passes the bytes of a stream to an HTTP response from the memory that they were read into. Fresh memory for each read
 * is garbage for V8, which marks its whole heap for every 30 MB of it.
 */
import { ServerResponse } from 'node:http';
import { type Receiver, makeReceiver } from '../../../gitd/rpc/socket_streams.ts';
import { type Line, readBytes } from './dial.ts';

/** Bytes of a piece that is copied: a longer one keeps the whole memory of its read. */
const maxCopiedBytes = readBytes / 2;

/**
 * Makes the receiver of a line. If its stream is piped to a response, the line is read again only once the response has
 * written everything.
 */
export const makeLineReceiver = (line: Line, onUnread: () => void): Receiver => {
  const { socket, keepMemory } = line;
  if (keepMemory === null) return makeReceiver(socket, onUnread);
  let response: ServerResponse | null = null;
  /** Writes of the response that still use the memory. */
  let writes = 0;
  const resume = (): void => {
    if (writes === 0) socket.resume();
  };
  const receiver = makeReceiver({ pause: () => socket.pause(), resume }, onUnread);
  const { readable, push } = receiver;
  const pipe = readable.pipe.bind(readable);

  const onWritten = (): void => {
    if (writes > 0) writes -= 1;
    resume();
  };
  const onClose = (): void => {
    // Not every write of a response that is cut calls back.
    writes = 0;
    resume();
  };
  const passTo = (to: ServerResponse): void => {
    const early = readable.read() as Buffer | null;
    if (early !== null) to.write(early);
    response = to;
    to.once('close', onClose);
    readable.once('end', () => to.end());
    readable.resume();
  };
  const keepOrCopy = (data: Buffer): Buffer => {
    if (data.length <= maxCopiedBytes) return Buffer.from(data);
    keepMemory();
    return data;
  };

  readable.pipe = <W extends NodeJS.WritableStream>(to: W, options?: { end?: boolean }): W => {
    if (!((to as unknown) instanceof ServerResponse)) return pipe(to, options);
    passTo(to as unknown as ServerResponse);
    return to;
  };
  return {
    ...receiver,
    push: (data) => {
      if (response === null || response.destroyed) return push(keepOrCopy(data));
      writes += 1;
      socket.pause();
      response.write(data, onWritten);
    },
  };
};
