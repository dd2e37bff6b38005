/** Limits how long a client may take to send a body. Node itself limits the time for the head. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerMalformedRequest } from '../malformed_requests.ts';

/** Minimum bytes per second, averaged over each interval, of a streamed body. */
const slowest = 1024;

const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const cut = ({ socket }: IncomingMessage, reply: FastifyReply): void => {
  if (reply.raw.headersSent) socket.destroy();
  else answerMalformedRequest({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket);
};

const watch = (request: FastifyRequest, reply: FastifyReply, wait: number): void => {
  const incoming = request.raw;
  if (incoming.complete || incoming.destroyed) return;
  const { socket } = incoming;
  const minBytes = (slowest * wait) / 1_000;
  let seen = socket.bytesRead;
  const checkProgress = (): void => {
    if (incoming.complete || incoming.destroyed) return;
    // If the buffer is full, the service is slow, not the client.
    const isOurTurn = incoming.readableLength >= incoming.readableHighWaterMark;
    const isGoingOn = isOurTurn || socket.bytesRead - seen >= minBytes;
    if (request.route?.streams !== true || !isGoingOn) {
      cut(incoming, reply);
      return;
    }
    seen = socket.bytesRead;
    timer = setTimeout(checkProgress, wait).unref();
  };
  let timer = setTimeout(checkProgress, wait).unref();
  incoming.once('close', () => clearTimeout(timer));
};

/**
 * Cuts connections whose body arrives too slowly.
 * @param wait milliseconds within which a body must be complete or, if streamed, make progress
 */
export const limitBodies = (app: FastifyInstance, wait: number): void => {
  app.addHook('onRequest', (request, reply, done) => {
    // Most bodies arrive with the head, and need no timer.
    if (hasBody(request.raw.headers)) setImmediate(watch, request, reply, wait);
    done();
  });
};
