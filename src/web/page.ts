/** What a page is made of. `ARCHITECTURE.md` says how to add one. */
import type { Static, TObject } from 'typebox';
import type { Call } from '../access/call.ts';
import type { Problems } from '../errors.ts';
import type { RawParams } from '../http/params.ts';
import type { Html } from './html.ts';

export type Flash = { kind: 'notice' | 'alert'; text: string };

/** One request for a page, after the questions who asks and whether he means it. */
export type Visit = {
  /** What operations receive: the same as from the API. */
  call: Call;
  /** Path and query that were asked for. */
  path: string;
  /** Said by the page before this one. */
  flash: Flash | null;
  /** When the user last proved who he is; null: nobody signed in. */
  signedInAt: number | null;
  /** For the hidden field of each form; `form` puts it there. */
  csrfToken: () => string;
  /** A key that nothing but this browser's cookie yields. */
  browserKey: (purpose: string) => string;
  /** The cookie of the session; null: none. */
  sessionSecret: string | null;
  /** From this answer on the browser has another session; null: none any more. */
  changeSession: (secret: string | null) => void;
};

export type View = {
  title: string;
  /** What stands in `<main>`, from the `<h1>` on. */
  body: Html;
  status?: number;
  headers?: Record<string, string>;
  /** Origins to which a form of the page may lead, beside our own. */
  formOrigins?: string[];
  /** The page changes by itself: a script of ours brings that, and without scripts it is loaded anew. */
  live?: boolean;
};

/** 303 after a form, else 302. Only a path of ours, or a URL that an administrator or a registered application named. */
export class Redirect {
  readonly to: string;
  readonly flash: Flash | null;

  constructor(to: string, flash: Flash | null = null) {
    this.to = to;
    this.flash = flash;
  }
}

/** @param notice shown on the page that follows */
export const redirect = (to: string, notice?: string): Redirect =>
  new Redirect(to, notice === undefined ? null : { kind: 'notice', text: notice });

type Reply = Promise<View | Redirect>;

export type Page<P extends TObject = TObject> = {
  method: 'GET' | 'POST';
  path: string;
  /** `user`: who is not signed in is sent to sign in, and then back. */
  audience: 'anyone' | 'user' | 'admin';
  params: P;
  handle: (visit: Visit, params: Static<P>) => Reply;
  /** Shows the form again when its parameters cannot be read; without it, an error page. */
  invalid?: (visit: Visit, sent: RawParams, problems: Problems) => Reply;
};

/** Any page, its parameters' types forgotten. */
export type AnyPage = Omit<Page, 'handle'> & {
  // oxlint-disable-next-line typescript/no-explicit-any -- handlers differ in their parameter type
  handle: (visit: Visit, params: any) => Reply;
};

/** Types a page's handler by its declared parameters. */
export const page = <P extends TObject>(declared: Page<P>): AnyPage => declared;
