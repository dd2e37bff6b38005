/** A minimal client of the v4 API, for the tools of this folder. */

export type Query = { [name: string]: unknown };
export type Api = <T>(line: string, options?: { as?: string; json?: Query }) => Promise<T>;

/** An answer of the API that is not a success. */
export class Refused extends Error {
  readonly status: number;

  constructor(line: string, status: number, text: string) {
    super(`${line} answered ${status}: ${text.slice(0, 300)}`);
    this.status = status;
  }
}

/** @throws with the address and the cause when nothing answers */
const request = async (url: URL, init: RequestInit): Promise<Response> => {
  try {
    return await fetch(url, init);
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    throw new Error(`${url.origin} does not answer (${cause?.code ?? 'no connection'})`, { cause: error });
  }
};

/**
 * Sends requests such as `api('POST /projects', { json })`.
 * @param token of an administrator, with the scopes `api` and `sudo`: `as` names the user to act as
 */
export const openApi =
  (url: string, token: string): Api =>
  async <T>(line: string, { as, json }: { as?: string; json?: Query } = {}): Promise<T> => {
    const [method = 'GET', path = '/'] = line.split(/ (.*)/s);
    const response = await request(new URL(`/api/v4${path}`, url), {
      method,
      headers: {
        'private-token': token,
        ...(as !== undefined && { sudo: as }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Refused(line, response.status, text);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };

/** The answer, or undefined where the API answers 404. */
export const orMissing = async <T>(request: Promise<T>): Promise<T | undefined> => {
  try {
    return await request;
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined;
    throw error;
  }
};
