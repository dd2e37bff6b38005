/** The parts of a page. `README.md` says how to add one. */
import type { Readable } from 'node:stream';
import type { Static, TObject } from 'typebox';
import type { Call } from '../../core/access/call.ts';
import type { Problems } from '../../platform/errors.ts';
import type { RawParams } from '../../platform/http/params.ts';
import type { Html } from './parts/html.ts';
import type { IconName } from './parts/icon.ts';
import type { Preferences } from './request/preferences.ts';

export type Flash = { kind: 'notice' | 'alert'; text: string };

/** A file of a form. */
export type SentFile = {
  /** Name given by the browser; untrusted. */
  name: string;
  content: Buffer;
};

/** A request for a page, after authentication and the CSRF check. */
export type Visit = {
  /** Call passed to operations, as from the API. */
  call: Call;
  /** Requested path and query. */
  path: string;
  /** Path that other forms of the page return to; null if the page answers a form, so that its path shows nothing. */
  returnPath: string | null;
  /** Notice that the previous page left. */
  flash: Flash | null;
  /** When the user last authenticated; null: anonymous. */
  signedInAt: number | null;
  /** When the user needs a second factor that they do not have; null: never. */
  factorDueAt: number | null;
  /** Token for the hidden field of each form; `form` adds it. */
  csrfToken: () => string;
  /** Derives a key from this browser's cookie. */
  browserKey: (purpose: string) => string;
  /** Secret of the session cookie; null: none. */
  sessionSecret: string | null;
  /** Preferences of the user, or of an anonymous visitor's browser. */
  preferences: Preferences;
  /** Stores preferences with the account; of anonymous visitors, in the browser. */
  changePreferences: (preferences: Preferences) => Promise<void>;
  /** Returns the file that a form with `hasFiles` sent in a field; null: none was chosen. */
  file: (field: string) => SentFile | null;
  /** Returns all files of a field that takes several. */
  sentFiles: (field: string) => SentFile[];
  /** Replaces the browser's session with this answer; null ends it. */
  changeSession: (secret: string | null) => void;
  /** Secret of the administrator's own session, which the browser keeps while they act as another user; null: none. */
  impersonatorSecret: string | null;
  /** Keeps the administrator's own session while they act as another user; null: removes it. */
  keepImpersonator: (secret: string | null) => void;
};

export type LinkPreview = {
  description: string;
  /** URL of a picture, such as an avatar. */
  image?: string | null;
  /** Search engines should not list the page. */
  noIndex?: boolean;
};

/** A form for a new record. */
export type CreateLink = { path: string; name: string; icon: IconName };

export type View = {
  title: string;
  /** Content of `<main>`, starting with the `<h1>`. */
  body: Html;
  status?: number;
  headers?: Record<string, string>;
  /** Origins, other than our own, to which forms of the page may lead. */
  formOrigins?: string[];
  /** The page plays audio and video of our own origin. */
  hasMedia?: boolean;
  /** The page updates itself by our script, or by reloading where scripts are off. */
  live?: boolean;
  /** Path of the project or group: a request by a former path, or in another case, is redirected. */
  home?: string;
  /** Header between the top bar and the content, such as the project header. */
  header?: () => Promise<Html>;
  /** What the menu “Create” offers for the place of the page, first. */
  creatable?: { place: string; list: () => Promise<readonly CreateLink[]> };
  /** A second link past the navigation, to a part of the content that comes late. */
  skip?: { to: string; text: string };
  /** The content takes the whole width of the window, as for diffs. */
  isWide?: boolean;
  /** Atom feeds of what the page shows. */
  feeds?: readonly { title: string; path: string }[];
  /** Content of link previews, for pages that anonymous visitors can read. */
  preview?: LinkPreview;
  /** Further elements of `<head>`, such as the `go-import` of a project. */
  head?: Html;
};

/** Returns a view with status 422 where it shows why something was refused, unless it has its own status. */
export const withRefusal = (view: View, isRefused = true): View =>
  isRefused ? { status: 422, ...view } : view;

/**
 * 303 after a form, otherwise 302. The target is a path of this service, or a URL that an administrator or a registered
 * application named.
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

/** A page that is not HTML, such as a file or a feed. */
export class RawPage {
  readonly body: string | Buffer | Readable;
  readonly headers: Record<string, string>;

  /** @param headers `content-type` and others; pages that show content of users also send `content-security-policy` */
  constructor(body: string | Buffer | Readable, headers: Record<string, string>) {
    this.body = body;
    this.headers = headers;
  }
}

type Reply = Promise<View | Redirect | RawPage>;

export type Page<P extends TObject = TObject> = {
  method: 'GET' | 'POST';
  path: string;
  /**
   * `user`: anonymous visitors are redirected to sign in, and then back. `visitor`: the same, unless the page is
   * readable without an account; hidden and missing pages redirect in the same way.
   */
  audience: 'anyone' | 'visitor' | 'user' | 'admin';
  /** Open to users who lack a required second factor; other pages redirect them to its setup. */
  withoutRequiredFactor?: true;
  /** The signed link in its path is sufficient authorization for a form: it needs neither our token nor our origin. */
  isSignedLink?: true;
  /**
   * A feed, which the token in its address authenticates: readers of feeds do not sign in. `atom`: only the form of the
   * page with the query `format=atom`, which must never answer anything but a feed.
   */
  isFeed?: true | 'atom';
  params: P;
  /** @property sent the parameters before parsing */
  handle: (visit: Visit, params: Static<P>, sent: RawParams) => Reply;
  /** Shows the form again when its parameters are invalid; without it, an error page. */
  invalid?: (visit: Visit, sent: RawParams, problems: Problems) => Reply;
};

/** A page without the types of its parameters. */
export type AnyPage = Omit<Page, 'handle'> & {
  // oxlint-disable-next-line typescript/no-explicit-any -- handlers differ in their parameter type
  handle: (visit: Visit, params: any, sent: RawParams) => Reply;
};

/** Types a page's handler by its declared parameters. */
export const page = <P extends TObject>(declared: Page<P>): AnyPage => declared;
