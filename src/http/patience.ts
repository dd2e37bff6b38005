/** How long a client may take over a body. (Over the head of a request, Node itself looks.) */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { answerBroken } from './broken.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its body may be long: it may take as long as it goes on. */
    streams?: boolean;
  }
}

/** Bytes a second, on the average of each wait, of a body that goes on. */
const slowest = 1024;

const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const cut = ({ socket }: IncomingMessage, reply: FastifyReply): void => {
  if (reply.raw.headersSent) socket.destroy();
  else answerBroken({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket);
};

const watch = (incoming: IncomingMessage, reply: FastifyReply, wait: number): void => {
  const { socket } = incoming;
  const enough = (slowest * wait) / 1_000;
  let seen = socket.bytesRead;
  const look = (): void => {
    if (incoming.complete || incoming.destroyed) return;
    // Where as much waits as may, it is we who are slow.
    const isOurTurn = incoming.readableLength >= incoming.readableHighWaterMark;
    const isGoingOn = isOurTurn || socket.bytesRead - seen >= enough;
    if (reply.routeOptions.config.streams !== true || !isGoingOn) {
      cut(incoming, reply);
      return;
    }
    seen = socket.bytesRead;
    timer = setTimeout(look, wait).unref();
  };
  let timer = setTimeout(look, wait).unref();
  incoming.once('close', () => clearTimeout(timer));
};

/** @param wait milliseconds after which a body must be whole, or have gone on */
export const limitBodies = (app: FastifyInstance, wait: number): void => {
  app.addHook('onRequest', (request, reply, done) => {
    if (hasBody(request.raw.headers)) watch(request.raw, reply, wait);
    done();
  });
};
