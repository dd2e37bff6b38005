/** The parts of a page. `README.md` says how to add one. */
import type { Static, TObject } from 'typebox';
import type { Call } from '../../core/access/call.ts';
import type { Problems } from '../../platform/errors.ts';
import type { RawParams } from '../../platform/http/params.ts';
import type { Html } from './parts/html.ts';

export type Flash = { kind: 'notice' | 'alert'; text: string };

/** A request for a page, after authentication and the CSRF check. */
export type Visit = {
  /** What operations receive, as from the API. */
  call: Call;
  /** Requested path and query. */
  path: string;
  /** Notice that the previous page left. */
  flash: Flash | null;
  /** When the user last authenticated; null: anonymous. */
  signedInAt: number | null;
  /** When the user needs a second factor that they do not have; null: never. */
  factorDueAt: number | null;
  /** For the hidden field of each form; `form` adds it. */
  csrfToken: () => string;
  /** Derives a key from this browser's cookie. */
  browserKey: (purpose: string) => string;
  /** Secret of the session cookie; null: none. */
  sessionSecret: string | null;
  /** Replaces the browser's session with this answer; null ends it. */
  changeSession: (secret: string | null) => void;
};

export type View = {
  title: string;
  /** Content of `<main>`, starting with the `<h1>`. */
  body: Html;
  status?: number;
  headers?: Record<string, string>;
  /** Origins, other than our own, to which forms of the page may lead. */
  formOrigins?: string[];
  /** The page updates itself by our script, or by reloading where scripts are off. */
  live?: boolean;
};

/**
 * 303 after a form, else 302. The target is a path of ours, or a URL that an administrator or a registered application
 * named.
 */
export class Redirect {
  readonly to: string;
  readonly flash: Flash | null;

  constructor(to: string, flash: Flash | null = null) {
    this.to = to;
    this.flash = flash;
  }
}

/** @param notice shown on the next page */
export const redirect = (to: string, notice?: string): Redirect =>
  new Redirect(to, notice === undefined ? null : { kind: 'notice', text: notice });

type Reply = Promise<View | Redirect>;

export type Page<P extends TObject = TObject> = {
  method: 'GET' | 'POST';
  path: string;
  /** `user`: anonymous visitors are redirected to sign in, and then back. */
  audience: 'anyone' | 'user' | 'admin';
  /** Open to users who lack a required second factor; other pages redirect them to its setup. */
  withoutRequiredFactor?: true;
  params: P;
  handle: (visit: Visit, params: Static<P>) => Reply;
  /** Shows the form again when its parameters are invalid; without it, an error page. */
  invalid?: (visit: Visit, sent: RawParams, problems: Problems) => Reply;
};

/** A page without the types of its parameters. */
export type AnyPage = Omit<Page, 'handle'> & {
  // oxlint-disable-next-line typescript/no-explicit-any -- handlers differ in their parameter type
  handle: (visit: Visit, params: any) => Reply;
};

/** Types a page's handler by its declared parameters. */
export const page = <P extends TObject>(declared: Page<P>): AnyPage => declared;
