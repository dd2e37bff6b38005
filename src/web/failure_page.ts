/** Whether a failure is told to a person, as a page, or to a program, as JSON. */
import type { FastifyRequest } from 'fastify';
import type { Failure } from '../errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers in HTML, whatever the client says that it takes. */
    isPage?: boolean;
  }
}

const wantsPage = ({ url, headers, routeOptions }: FastifyRequest): boolean =>
  routeOptions.config?.isPage === true ||
  (!/^\/api(?:\/|\?|$)/.test(url) && headers.accept?.includes('text/html') === true);

/** What of a failure is a sentence for people. */
const reasonOf = (failure: Failure | null): string | null => {
  const { message } = (failure?.body ?? {}) as { message?: unknown };
  if (typeof message !== 'string') return null;
  return /^\d{3} \w+ - (.+)$/.exec(message)?.[1] ?? null;
};

export type FailurePage = { body: string; headers: Record<string, string> };

/** @param failure null: an error that nobody foresaw */
export const failurePage =
  (isHttps: boolean) =>
  async (request: FastifyRequest, failure: Failure | null): Promise<FailurePage | null> => {
    if (!wantsPage(request)) return null;
    const [{ errorPage }, { pageHeaders }] = await Promise.all([
      import('./error_page.ts'),
      import('./headers.ts'),
    ]);
    const status = failure?.status ?? 500;
    return {
      body: errorPage({ status, reason: reasonOf(failure), requestId: request.id }),
      headers: pageHeaders({ formOrigins: [], isHttps }),
    };
  };
