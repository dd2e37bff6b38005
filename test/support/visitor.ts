/** A headless visitor: keeps cookies and submits forms with the CSRF token of the last page. */
import { deriveCsrfToken, sessionCookie } from '../../src/core/access/credentials/session_token.ts';
import { type Sent, sendRequest } from './send_request.ts';
import type { TestService } from './service.ts';

export type Seen = {
  status: number;
  headers: Headers;
  /** Target of a redirect. */
  location: string | null;
  text: string;
};

/** A file of a form. */
type SentFile = { name: string; content: string | Uint8Array<ArrayBuffer> };

export type Visitor = {
  cookies: Map<string, string>;
  get: (path: string, headers?: Record<string, string>) => Promise<Seen>;
  /** Submits a form with the `authenticity_token` of the last page, another token, or none (null). */
  post: (
    path: string,
    form?: Record<string, string | null>,
    headers?: Record<string, string>,
  ) => Promise<Seen>;
  /** Submits a form with files, by field. */
  postFiles: (
    path: string,
    form: Record<string, string>,
    files: Record<string, SentFile | SentFile[]>,
  ) => Promise<Seen>;
  /** Signs in; fails if the page refuses. */
  signIn: (login: string, password: string) => Promise<Seen>;
};

/** Returns the content of a page, without the header that all pages of a place share. */
export const contentIn = ({ text }: Seen): string => text.slice(text.indexOf('<main'));

const tokenIn = (text: string): string | undefined =>
  /name="authenticity_token" value="([^"]+)"/.exec(text)?.[1];

/** Reads a page until it matches: a page leaves out what git does not answer in time on a busy machine. */
export const getMatching = async (visitor: Visitor, path: string, pattern: RegExp): Promise<string> => {
  for (let tries = 1; ; tries += 1) {
    const { text } = await visitor.get(path);
    if (pattern.test(text) || tries === 20) return text;
  }
};

/** @param session the cookie of a session; absent: the visitor is not signed in */
export const openVisitor = (gantry: Pick<TestService, 'url'>, session?: string): Visitor => {
  const cookies = new Map<string, string>();
  let token: string | undefined;
  if (session !== undefined) {
    cookies.set(sessionCookie, session);
    token = deriveCsrfToken(session);
  }

  const keepCookies = (headers: Headers): void => {
    for (const line of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
  };

  const send = async (path: string, init: Sent): Promise<Seen> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const { status, headers, text } = await sendRequest(gantry.url + path, {
      ...init,
      headers: { accept: 'text/html', ...(cookie !== '' && { cookie }), ...init.headers },
    });
    keepCookies(headers);
    token = tokenIn(text) ?? token;
    return { status, headers, location: headers.get('location'), text };
  };

  const get: Visitor['get'] = async (path, headers = {}) => await send(path, { headers });
  const post: Visitor['post'] = async (path, form = {}, headers = {}) => {
    const fields = Object.entries({ authenticity_token: token ?? null, ...form });
    const pairs = fields.filter((pair): pair is [string, string] => pair[1] !== null);
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    return await send(path, {
      method: 'POST',
      headers: { ...type, origin: gantry.url, ...headers },
      body: new URLSearchParams(pairs).toString(),
    });
  };
  const postFiles: Visitor['postFiles'] = async (path, form, files) => {
    const body = new FormData();
    for (const [name, text] of Object.entries({ authenticity_token: token ?? '', ...form }))
      body.append(name, text);
    for (const [name, sent] of Object.entries(files))
      for (const file of [sent].flat()) body.append(name, new Blob([file.content]), file.name);
    const encoded = new Response(body);
    const headers = { origin: gantry.url, 'content-type': encoded.headers.get('content-type') ?? '' };
    return await send(path, { method: 'POST', headers, body: Buffer.from(await encoded.arrayBuffer()) });
  };
  return {
    cookies,
    get,
    post,
    postFiles,
    signIn: async (login, password) => {
      await get('/users/sign_in');
      const seen = await post('/users/sign_in', { login, password });
      if (seen.status !== 303) throw new Error(`sign-in: ${seen.status}`);
      return seen;
    },
  };
};
