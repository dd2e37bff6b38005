/** Makes of a request what a page is called with, and of what it says the answer. */
import { createHmac } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PageCall } from '../access/call.ts';
import {
  isCsrfToken,
  isSameOrigin,
  csrfTokenOf,
  newSecret,
  secretOf,
  sessionCookie,
} from '../access/session_token.ts';
import { longestSession } from '../access/session.ts';
import { setCookie } from '../http/cookies.ts';
import { flashCookie, flashLife, flashOf, flashValue, visitorCookie } from './cookies.ts';
import { pageHeaders } from './headers.ts';
import { layout } from './layout.ts';
import { liveScriptPath } from './live_script.ts';
import { type AnyPage, Redirect, type View, type Visit } from './page.ts';

/** A visit with what it has yet to write into the browser. */
export type OpenVisit = Visit & {
  /** The browser's secret beside its session, where it has one: of forms that it got before it signed in. */
  visitorSecret: string | null;
  cookies: Map<string, { value: string; maxAge: number | null }>;
  /** The browser's own secret, made where there is none. */
  secret: () => string;
};

export const openVisit = (request: FastifyRequest, { call, secret, signedInAt }: PageCall): OpenVisit => {
  const cookies: OpenVisit['cookies'] = new Map();
  const visitor = secretOf(request.headers, visitorCookie);
  let own = secret ?? visitor;
  const makeVisitor = (): string => {
    const made = newSecret(call.platform.random);
    cookies.set(visitorCookie, { value: made, maxAge: null });
    own = made;
    return made;
  };
  const secretNow = (): string => own ?? makeVisitor();
  const visit: OpenVisit = {
    call,
    path: request.originalUrl,
    flash: flashOf(request.headers.cookie, own),
    signedInAt,
    browserKey: (purpose) => createHmac('sha256', secretNow()).update(`key ${purpose}`).digest('base64url'),
    sessionSecret: secret,
    csrfToken: () => csrfTokenOf(secretNow()),
    changeSession: (next) => {
      cookies.set(sessionCookie, { value: next ?? '', maxAge: longestSession / 1000 });
      // What the browser was told with its session it cannot use without: after a sign-out it begins anew.
      own = next;
    },
    visitorSecret: visitor,
    cookies,
    secret: secretNow,
  };
  return visit;
};

/**
 * Whether a form came from our own page, in this browser. One for anybody may have been opened before the browser
 * was signed in, in another window.
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
  const given = headers['x-csrf-token'] ?? token;
  return secrets.some((secret) => secret !== null && isCsrfToken(secret, given));
};

const writeCookies = (visit: OpenVisit, reply: FastifyReply): void => {
  const secure = visit.call.baseUrl.startsWith('https:');
  for (const [name, { value, maxAge }] of visit.cookies) {
    void reply.header('set-cookie', setCookie({ name, value, maxAge, secure }));
  }
};

const answerView = (visit: OpenVisit, reply: FastifyReply, view: View): FastifyReply => {
  const text = layout(visit, view);
  if (visit.flash !== null) visit.cookies.set(flashCookie, { value: '', maxAge: null });
  writeCookies(visit, reply);
  const { after_sign_out_path: afterSignOut } = visit.call.settings;
  // Browsers hold the redirect that follows a form to the same rule as the form.
  const away = afterSignOut === null ? [] : [URL.parse(afterSignOut)?.origin ?? "'self'"];
  const headers = pageHeaders({
    formOrigins: [...away, ...(view.formOrigins ?? [])],
    isHttps: visit.call.baseUrl.startsWith('https:'),
    // By its full address: no other file of ours, such as one that somebody uploaded, is ever a script.
    ...(view.live === true && { script: `${URL.parse(visit.call.baseUrl)?.origin ?? ''}${liveScriptPath}` }),
  });
  return reply
    .code(view.status ?? 200)
    .headers({ ...headers, ...view.headers })
    .send(text);
};

const answerRedirect = (visit: OpenVisit, reply: FastifyReply, { to, flash }: Redirect): FastifyReply => {
  if (flash !== null) {
    visit.cookies.set(flashCookie, { value: flashValue(visit.secret(), flash), maxAge: flashLife });
  }
  writeCookies(visit, reply);
  // A form that was taken is not to be sent again.
  const status = reply.request.method === 'POST' ? 303 : 302;
  return reply.code(status).headers({ location: to, 'cache-control': 'private, no-store' }).send();
};

export const answer = (visit: OpenVisit, reply: FastifyReply, made: View | Redirect): FastifyReply =>
  made instanceof Redirect ? answerRedirect(visit, reply, made) : answerView(visit, reply, made);
