/** Decides whether a failure is answered as a page or as JSON. */
import type { FastifyRequest } from 'fastify';
import type { Failure } from '../../../platform/errors.ts';

const wantsPage = ({ url, headers, route }: FastifyRequest): boolean =>
  route?.isPage === true ||
  (!/^\/api(?:\/|\?|$)/.test(url) && headers.accept?.includes('text/html') === true);

/** Returns the failure's message if it is meant for people. */
export const reasonOf = (failure: Failure | null): string | null => {
  const { message } = (failure?.body ?? {}) as { message?: unknown };
  if (typeof message !== 'string') return null;
  return /^\d{3} \w+ - (.+)$/.exec(message)?.[1] ?? null;
};

/**
 * Returns the path of our page that linked to a request, as reported by the browser; null if it is another site or the
 * same page.
 */
export const backOf = ({ headers: { referer, host }, originalUrl }: FastifyRequest): string | null => {
  const from = referer === undefined ? null : URL.parse(referer);
  if (from === null || from.host !== host) return null;
  const path = from.pathname + from.search;
  return path === originalUrl ? null : path;
};

export type FailurePage = { body: string; headers: Record<string, string> };

/** @param failure null: an unexpected error */
export const failurePage =
  (isHttps: boolean) =>
  async (request: FastifyRequest, failure: Failure | null): Promise<FailurePage | null> => {
    if (!wantsPage(request)) return null;
    const [{ errorPage }, { pageHeaders }] = await Promise.all([
      import('../parts/frame/error_page.ts'),
      import('./page_headers.ts'),
    ]);
    const status = failure?.status ?? 500;
    return {
      body: errorPage({ status, reason: reasonOf(failure), requestId: request.id, back: backOf(request) }),
      headers: pageHeaders({ formOrigins: [], isHttps }),
    };
  };
