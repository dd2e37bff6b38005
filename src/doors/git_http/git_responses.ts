/** Builds answers to git clients, which show plain text as `remote: ...`. */
import type { Call } from '../../core/access/call.ts';
import { discardBody } from '../../platform/http/body/discard_body.ts';
import { Failure } from '../../platform/errors.ts';
import { isGitFailure } from '../../platform/git/failure.ts';
import { Answer } from '../../platform/http/endpoint.ts';

/** Headers that keep proxies from caching answers that depend on the user. */
export const neverKept = {
  'cache-control': 'no-cache, max-age=0, must-revalidate',
  expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  pragma: 'no-cache',
};

/** Ends a request before git is called. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, text: string, headers: Record<string, string> = {}) {
    super(text);
    this.status = status;
    this.headers = headers;
  }
}

export const challenge = (text = 'HTTP Basic: Access denied'): Refusal =>
  new Refusal(401, text, { 'www-authenticate': 'Basic realm="Gantry"' });

const busy = (): Refusal =>
  new Refusal(503, 'The repository is not available at the moment. Try again later.', { 'retry-after': '5' });

const getText = ({ body, status }: Failure): string => {
  const { message, error } = (body ?? {}) as { message?: unknown; error?: unknown };
  const text = message ?? error;
  // The text repeats the status: cut it off.
  return typeof text === 'string' ? text.replace(/^\d{3} [A-Z][a-z]+ - /, '') : String(status);
};

/** Discards the rest of the body. Closes the connection if the body is long. */
const refusalAnswer = async ({ incoming }: Call, { status, message, headers }: Refusal): Promise<Answer> => {
  const isRead = await discardBody(incoming);
  return new Answer(`${message}\n`, {
    status,
    headers: {
      ...neverKept,
      ...headers,
      'content-type': 'text/plain; charset=utf-8',
      ...(!isRead && { connection: 'close' }),
    },
  });
};

/** Runs `serve`, and answers refusals as text. */
export const answering = async (call: Call, serve: () => Promise<Answer>): Promise<Answer> => {
  try {
    return await serve();
  } catch (error) {
    if (error instanceof Refusal) return await refusalAnswer(call, error);
    if (isGitFailure(error, 'unavailable')) return await refusalAnswer(call, busy());
    if (!(error instanceof Failure)) throw error;
    return await refusalAnswer(call, new Refusal(error.status, getText(error), error.headers));
  }
};
