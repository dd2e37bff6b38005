/** Converts a request to a visit, and a page's result to an answer. */
import { createHmac } from 'node:crypto';
import { getDiagramServer } from '../../../core/settings/setting_effects.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PageCall } from '../../../core/access/open_call.ts';
import {
  isCsrfToken,
  isSameOrigin,
  deriveCsrfToken,
  generateSecret,
  readCookieSecret,
  sessionCookie,
} from '../../../core/access/credentials/session_token.ts';
import { maxImpersonationAge, maxSessionAge } from '../../../core/access/credentials/session.ts';
import { loadChoices, storeChoices } from '../../../identity/users/preferences/stored_preferences.ts';
import type { FilePart } from '../../../platform/http/body/file_parts.ts';
import { setCookie } from '../../../platform/http/cookies.ts';
import { flashCookie, flashLife, flashOf, flashValue, impersonatorCookie, visitorCookie } from './cookies.ts';
import { pageHeaders } from './page_headers.ts';
import {
  preferencesCookie,
  readPreferences,
  readPreferencesCookie,
  writePreferences,
} from './preferences.ts';
import { pageStream } from './page_stream.ts';
import { layout } from '../parts/frame/layout.ts';
import { assets } from '../assets.ts';
import { type AnyPage, RawPage, Redirect, type SentFile, type View, type Visit } from '../page.ts';

/** Seconds that a browser keeps its preferences: as long as browsers keep a cookie. */
const preferencesLife = 400 * 86_400;

/** A visit with the cookies it has yet to write. */
export type OpenVisit = Visit & {
  /** The secret for forms that the browser loaded before it signed in. */
  visitorSecret: string | null;
  cookies: Map<string, { value: string; maxAge: number | null }>;
  /** Files of the submitted form. */
  files: readonly FilePart[];
  /** Returns the browser's secret, created if missing. */
  secret: () => string;
};

/** A file field without a chosen file sends an empty name. */
const findFiles = (files: readonly FilePart[], field: string): SentFile[] =>
  files.flatMap(({ field: own, name, content }) =>
    own === field && name !== '' && content !== null ? [{ name, content }] : [],
  );

/** An administrator who acts as another user keeps the preferences of their browser. */
const hasOwnPreferences = ({ actor }: PageCall['call']): boolean => actor?.sudo_by_id === null;

/** Loads what the user of a page prefers; null: nothing is stored, so their browser decides. */
const loadPreferences = async ({ call }: PageCall): Promise<string | null> =>
  call.actor !== null && hasOwnPreferences(call) ? await loadChoices(call.db, call.actor.user.id) : null;

export const openVisit = async (request: FastifyRequest, opened: PageCall): Promise<OpenVisit> => {
  const { call, secret, signedInAt, factorDueAt } = opened;
  const stored = await loadPreferences(opened);
  const cookies: OpenVisit['cookies'] = new Map();
  const visitor = readCookieSecret(request.headers, visitorCookie);
  let own = secret ?? visitor;
  const makeVisitor = (): string => {
    const made = generateSecret(call.platform.random);
    cookies.set(visitorCookie, { value: made, maxAge: null });
    own = made;
    return made;
  };
  const secretNow = (): string => own ?? makeVisitor();
  // A page has many forms.
  let csrf: { secret: string; token: string } | null = null;
  const csrfToken = (): string => {
    const now = secretNow();
    if (csrf?.secret !== now) csrf = { secret: now, token: deriveCsrfToken(now) };
    return csrf.token;
  };
  const visit: OpenVisit = {
    call,
    path: request.originalUrl,
    returnPath: request.method === 'GET' || request.method === 'HEAD' ? request.originalUrl : null,
    flash: flashOf(request.headers.cookie, own),
    signedInAt,
    factorDueAt,
    browserKey: (purpose) => createHmac('sha256', secretNow()).update(`key ${purpose}`).digest('base64url'),
    sessionSecret: secret,
    csrfToken,
    file: (field) => findFiles(visit.files, field)[0] ?? null,
    sentFiles: (field) => findFiles(visit.files, field),
    changeSession: (next) => {
      cookies.set(sessionCookie, { value: next ?? '', maxAge: maxSessionAge / 1000 });
      // After a sign-out the browser gets a new secret.
      own = next;
    },
    preferences: readPreferences(stored ?? readPreferencesCookie(request.headers.cookie)),
    changePreferences: async (next) => {
      const value = writePreferences(next);
      if (hasOwnPreferences(call)) await storeChoices(call, value);
      else cookies.set(preferencesCookie, { value, maxAge: preferencesLife });
    },
    impersonatorSecret: readCookieSecret(request.headers, impersonatorCookie),
    keepImpersonator: (own) =>
      void cookies.set(impersonatorCookie, { value: own ?? '', maxAge: maxImpersonationAge / 1000 }),
    visitorSecret: visitor,
    cookies,
    files: [],
    secret: secretNow,
  };
  return visit;
};

/**
 * Verifies the CSRF token of a form. A form of a public page may have been opened before the browser signed in, in
 * another window.
 */
export const isOurForm = (
  visit: OpenVisit,
  { headers }: FastifyRequest,
  { audience, token }: { audience: AnyPage['audience']; token: unknown },
): boolean => {
  const origin = URL.parse(visit.call.baseUrl)?.origin;
  if (origin === undefined || !isSameOrigin(headers, origin)) return false;
  const { sessionSecret, visitorSecret } = visit;
  const secrets = audience === 'anyone' ? [sessionSecret, visitorSecret] : [sessionSecret];
  const sentToken = headers['x-csrf-token'] ?? token;
  return secrets.some((secret) => secret !== null && isCsrfToken(secret, sentToken));
};

const writeCookies = (visit: OpenVisit, reply: FastifyReply): void => {
  const secure = visit.call.baseUrl.startsWith('https:');
  for (const [name, { value, maxAge }] of visit.cookies) {
    void reply.header('set-cookie', setCookie({ name, value, maxAge, secure }));
  }
};

/** The address of the service as the last page was asked for, and its origin. */
let lastBase = { url: '', origin: '' };

const originOf = (baseUrl: string): string => {
  if (lastBase.url !== baseUrl) lastBase = { url: baseUrl, origin: URL.parse(baseUrl)?.origin ?? '' };
  return lastBase.origin;
};

const answerView = async (visit: OpenVisit, reply: FastifyReply, view: View): Promise<FastifyReply> => {
  const page = await layout(visit, view);
  if (visit.flash !== null) visit.cookies.set(flashCookie, { value: '', maxAge: null });
  writeCookies(visit, reply);
  const { after_sign_out_path: afterSignOut } = visit.call.settings;
  // Browsers also apply `form-action` to the redirect that follows a form.
  const away = afterSignOut === null ? [] : [URL.parse(afterSignOut)?.origin ?? "'self'"];
  const diagrams = getDiagramServer(visit.call.settings);
  const origin = originOf(visit.call.baseUrl);
  const headers = pageHeaders({
    formOrigins: [...away, ...(view.formOrigins ?? [])],
    isHttps: visit.call.baseUrl.startsWith('https:'),
    hasMedia: view.hasMedia ?? false,
    imageOrigins: diagrams === null ? [] : [URL.parse(diagrams)?.origin ?? "'self'"],
    // The full addresses: no other file on our origin, such as an upload, can run as a script.
    scripts: [assets().script, assets().editor_tools].map((path) => origin + path),
  });
  return reply
    .code(view.status ?? 200)
    .headers({ ...headers, ...view.headers })
    .send(page.isStreamed ? pageStream(page) : page.body);
};

const answerRedirect = (visit: OpenVisit, reply: FastifyReply, { to, flash }: Redirect): FastifyReply => {
  if (flash !== null) {
    visit.cookies.set(flashCookie, { value: flashValue(visit.secret(), flash), maxAge: flashLife });
  }
  writeCookies(visit, reply);
  // 303, so that a reload does not submit the form again.
  const status = reply.request.method === 'POST' ? 303 : 302;
  return reply.code(status).headers({ location: to, 'cache-control': 'private, no-store' }).send();
};

/** Returns the address by the current path of the project or group; null: the request used it. */
const currentPath = ({ method, params, originalUrl }: FastifyRequest, { home }: View): string | null => {
  const { project, group } = params as { project?: string; group?: string };
  const requested = project === undefined ? `/groups/${group}` : `/${project}`;
  const isOther = home !== undefined && requested !== home && originalUrl.startsWith(requested);
  return method === 'GET' && isOther ? home + originalUrl.slice(requested.length) : null;
};

const answerRaw = (reply: FastifyReply, { body, headers }: RawPage): FastifyReply =>
  reply
    .headers({
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      ...headers,
    })
    .send(body);

export const answer = async (
  visit: OpenVisit,
  reply: FastifyReply,
  made: View | Redirect | RawPage,
): Promise<FastifyReply> => {
  if (made instanceof Redirect) return answerRedirect(visit, reply, made);
  if (!(made instanceof RawPage)) {
    const current = currentPath(reply.request, made);
    if (current !== null) return answerRedirect(visit, reply, new Redirect(current));
  }
  return made instanceof RawPage ? answerRaw(reply, made) : await answerView(visit, reply, made);
};
