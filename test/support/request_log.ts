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
