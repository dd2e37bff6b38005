import type { TestService } from './service.ts';

/** The line that the log has of each request. */
type RequestLine = { msg: string; request_id: string; route?: string; statements: number };

/**
 * Waits for the log line of a request, which is written after its answer. The service needs `GANTRY_LOG_LEVEL: 'info'`.
 * @param headers of the answer, which name the request
 */
export const loggedRequest = async (
  gantry: Pick<TestService, 'logged'>,
  headers: Headers,
): Promise<RequestLine> => {
  const id = headers.get('x-request-id');
  for (;;) {
    const text = gantry
      .logged()
      .findLast((line) => id !== null && line.includes(id) && line.includes('"msg":"request"'));
    if (text !== undefined) return JSON.parse(text) as RequestLine;
    await new Promise((resolve) => void setImmediate(resolve));
  }
};

/**
 * Returns the smallest number of statements among some requests of a page: now and then, a request also refreshes what
 * is kept in memory.
 */
export const countStatements = async (
  gantry: Pick<TestService, 'logged'>,
  read: () => Promise<{ headers: Headers }>,
): Promise<number> => {
  const counts: number[] = [];
  for (let at = 0; at < 4; at += 1)
    counts.push((await loggedRequest(gantry, (await read()).headers)).statements);
  return Math.min(...counts);
};
