import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Static, TObject, TSchema } from 'typebox';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Who may call: nobody need sign in, signing in changes the answer, a user, an administrator. */
export type Audience = 'anyone' | 'optional' | 'user' | 'admin';

/** What an endpoint promises. `C` is the call that its handler receives. */
export type Endpoint<C, P extends TObject = TObject> = {
  method: Method;
  /** Below `/api/v4`: `/projects/:id/issues`. */
  path: string;
  /** One line for the documentation. */
  summary: string;
  /** Tag of the documentation: `issues`. */
  area: string;
  audience: Audience;
  /** Token scopes any of which suffices, beside `api` (and `read_api` for GET). */
  scopes?: readonly string[];
  /** Takes the token of a job, too, for what is of the job's own project. */
  jobTokens?: true;
  params: P;
  /** Shape of one answer, or of one item of a list; null: no body. */
  reply: TSchema | null;
  /** Paginated: takes `page` and `per_page`, the handler answers a `Page`. */
  list?: true;
  /** Content type of an answer that is no JSON: `text/plain`, or any of them. */
  content?: 'text/plain' | '*/*';
  /** Other than GET, PUT and PATCH 200, POST 201, DELETE 204. */
  status?: number;
  /** Refusals that follow neither from the audience nor from the path, for the documentation. */
  refusals?: readonly (403 | 404)[];
  /** Milliseconds after which clients may ask again, told in `Poll-Interval` as the settings multiply them. */
  polled?: number;
  /** `stream`: a form with a file, that the handler reads itself once it knows that the caller may send one. */
  body?: 'stream';
  /** Bytes of a body, where it may be longer than usual: such a one is read once it is known that its sender may call. */
  largest?: number;
  handle: (call: C, params: Static<P>) => Promise<unknown>;
};

/** Any endpoint, its parameters' types forgotten. */
export type AnyEndpoint<C> = Omit<Endpoint<C>, 'handle'> & {
  // oxlint-disable-next-line typescript/no-explicit-any -- handlers differ in their parameter type
  handle: (call: C, params: any) => Promise<unknown>;
};

const usualStatus: Record<Method, number> = {
  GET: 200,
  POST: 201,
  PUT: 200,
  PATCH: 200,
  DELETE: 204,
};

export const statusOfEndpoint = (endpoint: { method: Method; status?: number | undefined }): number =>
  endpoint.status ?? usualStatus[endpoint.method];

/** An answer that is not plain JSON with the usual status. */
export class Answer {
  readonly body: string | Buffer | Readable | object | null;
  readonly status: number | undefined;
  readonly headers: Record<string, string>;
  /** Told once it is over whether all of it was sent. */
  readonly onSent: ((isWhole: boolean) => void) | undefined;

  constructor(
    body: string | Buffer | Readable | object | null,
    options: {
      status?: number;
      headers?: Record<string, string>;
      onSent?: (isWhole: boolean) => void;
    } = {},
  ) {
    this.body = body;
    this.status = options.status;
    this.headers = options.headers ?? {};
    this.onSent = options.onSent;
  }
}

/** JSON made before, as an answer or as an item of a list: goes out as it is. */
export class JsonText {
  readonly bytes: Buffer;
  #digest: string | undefined;

  constructor(text: string | Buffer, digest?: string) {
    this.bytes = typeof text === 'string' ? Buffer.from(text) : text;
    this.#digest = digest;
  }

  /**
   * The same in memory of its own, to be kept: what is made of a short text lies in a slab with others, and would
   * keep all of them.
   */
  get alone(): JsonText {
    const bytes = Buffer.allocUnsafeSlow(this.bytes.length);
    this.bytes.copy(bytes);
    return new JsonText(bytes, this.#digest);
  }

  /** Differs where the text does. */
  get digest(): string {
    return (this.#digest ??= hash('sha1', this.bytes, 'base64url'));
  }
}
