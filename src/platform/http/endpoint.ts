import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Static, TObject, TSchema } from 'typebox';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Permitted callers: without sign-in, with optional sign-in, signed-in users, administrators. */
export type Audience = 'anyone' | 'optional' | 'user' | 'admin';

/** Declaration of an endpoint. `C` is the type of the call that its handler receives. */
export type Endpoint<C, P extends TObject = TObject> = {
  method: Method;
  /** Path below `/api/v4`: `/projects/:id/issues`. */
  path: string;
  /** One line for the documentation. */
  summary: string;
  /** Tag in the documentation: `issues`. */
  area: string;
  audience: Audience;
  /** Sufficient token scopes (any one of them), in addition to `api` (and `read_api` for GET). */
  scopes?: readonly string[];
  /** Accepts job tokens, for records of the job's own project. */
  jobTokens?: true;
  params: P;
  /** Shape of a response, or of one item of a list; null: no body. */
  reply: TSchema | null;
  /** Paginated: takes `page` and `per_page`; the handler returns a `Page`. */
  list?: true;
  /**
   * For a GET: caches responses until a table that the handler read, or a branch or tag that it read, changes. Other
   * reads of a repository are not cached (`code/repository/read_cache.ts`). The handler must read nothing else, have
   * no side effects, and return no `Answer`.
   */
  cached?: true;
  /** Reads a repository, or texts, for long: anonymous callers share few places, and get 429 if too many wait. */
  isExpensive?: true;
  /** Content type of a response that is not JSON: `text/plain`, or any. */
  content?: 'text/plain' | '*/*';
  /** Status of a success, by default 200 for GET, PUT and PATCH, 201 for POST, 204 for DELETE. */
  status?: number;
  /** Further failures for the documentation, which follow from neither audience nor path. */
  refusals?: readonly (403 | 404)[];
  /** Milliseconds after which clients may poll again. `Poll-Interval` reports them, multiplied as the settings say. */
  polled?: number;
  /** Names declared parameters that have no effect on this service, for `Gantry-Ignored-Parameters`. */
  withoutEffect?: (call: C) => readonly string[];
  /** Refuses parameters that it does not declare, which are otherwise named in `Gantry-Ignored-Parameters`. */
  refusesUnknownParams?: true;
  /** `stream`: a form with a file. The handler reads it once it has authorized the caller. */
  body?: 'stream';
  /** Maximum bytes of a body that may be longer than usual. Read only after the caller is authenticated. */
  maxRequestBytes?: number;
  handle: (call: C, params: Static<P>) => Promise<unknown>;
};

/** Parsed parameters of an endpoint, as its handler receives them. */
export type ParamsOf<P extends TObject> = Static<P>;

/** Any endpoint, without its parameter types. */
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

/** A response other than JSON with the endpoint's status. */
export class Answer {
  readonly body: string | Buffer | Readable | object | null;
  readonly status: number | undefined;
  readonly headers: Record<string, string>;
  /** Called when the response ends, with whether it was sent completely. */
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

/** Serialized JSON, as a response or as an item of a list. Sent unchanged. */
export class JsonText {
  /** As it was made, until its bytes are read. */
  #content: string | Buffer;
  #digest: string | undefined;

  constructor(text: string | Buffer, digest?: string) {
    this.#content = text;
    this.#digest = digest;
  }

  get bytes(): Buffer {
    if (typeof this.#content === 'string') this.#content = Buffer.from(this.#content);
    return this.#content;
  }

  /** What a response sends. A text and the head of the response leave in one write. */
  get payload(): string | Buffer {
    return this.#content;
  }

  /**
   * The text in separate memory, for caching. A short text is a view of a shared slab, which the cache would keep
   * whole.
   */
  get detached(): JsonText {
    if (this.bytes.length === this.bytes.buffer.byteLength) return this;
    const bytes = Buffer.allocUnsafeSlow(this.bytes.length);
    this.bytes.copy(bytes);
    return new JsonText(bytes, this.#digest);
  }

  /** Differs if the text differs. */
  get digest(): string {
    return (this.#digest ??= hash('sha1', this.bytes, 'base64url'));
  }
}
