/** Answers to git: plain text is shown to the user as `remote: ...`. */
import type { Call } from '../access/call.ts';
import { discard } from '../http/discard.ts';
import { Failure } from '../errors.ts';
import { isGitFailure } from '../git/failure.ts';
import { Answer } from '../http/endpoint.ts';

/** No proxy keeps what depends on who asks. */
export const neverKept = {
  'cache-control': 'no-cache, max-age=0, must-revalidate',
  expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  pragma: 'no-cache',
};

/** What ends a request before git is asked. */
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
  new Refusal(503, 'The repository cannot be reached at the moment. Try again soon.', { 'retry-after': '5' });

const textOf = ({ body, status }: Failure): string => {
  const { message, error } = (body ?? {}) as { message?: unknown; error?: unknown };
  const text = message ?? error;
  // The status stands before it already.
  return typeof text === 'string' ? text.replace(/^\d{3} [A-Z][a-z]+ - /, '') : String(status);
};

/** What was not read of a body is thrown away; where it is long, the connection goes with it. */
const refusalAnswer = async ({ incoming }: Call, { status, message, headers }: Refusal): Promise<Answer> => {
  const isRead = await discard(incoming);
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

/** Runs `serve`; what it refuses is told as text. */
export const answering = async (call: Call, serve: () => Promise<Answer>): Promise<Answer> => {
  try {
    return await serve();
  } catch (error) {
    if (error instanceof Refusal) return await refusalAnswer(call, error);
    if (isGitFailure(error, 'unavailable')) return await refusalAnswer(call, busy());
    if (!(error instanceof Failure)) throw error;
    return await refusalAnswer(call, new Refusal(error.status, textOf(error), error.headers));
  }
};
