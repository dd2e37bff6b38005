import type { FastifyInstance } from 'fastify';

const exposed =
  'Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page, Gantry-Ignored-Parameters';

/**
 * Allows any page to call the API with a token. Cookies are for our own pages only, so credentials are never allowed
 * across origins. Preflights are answered without authentication.
 */
export const addCors = (app: FastifyInstance, prefixes: readonly string[]): void => {
  app.addHook('onRequest', (request, reply, done) => {
    const isOpen = prefixes.some((prefix) => request.url.startsWith(prefix));
    if (request.headers.origin === undefined || !isOpen) {
      done();
      return;
    }
    void reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed });
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) {
      done();
      return;
    }
    void reply
      .code(200)
      .headers({
        'access-control-allow-methods': 'GET, POST, PUT, DELETE, HEAD, OPTIONS',
        'access-control-allow-headers': request.headers['access-control-request-headers'] ?? '',
        'access-control-max-age': '7200',
      })
      .send();
  });
};
