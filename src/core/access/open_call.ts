/** Opens the call of a request: authenticates its credential, applies sudo, and loads what the caller may see. */
import type { FastifyRequest } from 'fastify';
import { forbidden, invalid, unauthorized } from '../../platform/errors.ts';
import type { AnyEndpoint } from '../../platform/http/endpoint.ts';
import { getBaseUrl } from '../../platform/http/origin.ts';
import type { RawParams } from '../../platform/http/params.ts';
import type { Platform } from '../platform.ts';
import { getPollInterval } from '../settings/setting_effects.ts';
import { type AuditEntry, type Source, recordAudit } from './audit.ts';
import {
  type SignedIn,
  recordTokenUse,
  requireScope,
  authenticateToken,
  loadSudoTarget,
} from './credentials/authenticate.ts';
import { withAnonymousSlot } from './anonymous_slots.ts';
import type { Actor, Call } from './call.ts';
import { type PresentedCredential, readPresentedCredential } from './credentials/read_credential.ts';
import { authenticateFeedReader, readFeedToken } from './credentials/feed_token.ts';
import { authenticateJobToken } from './credentials/job_token.ts';
import { requireNoOverdueFactor } from './credentials/second_factor_due.ts';
import { getGitClient } from './git_client.ts';
import { makeKeepAnswer } from './keep_answers.ts';
import { getIdleTimeout, recordSessionUse, authenticateSession } from './credentials/session.ts';
import { readCookieSecret, sessionCookie } from './credentials/session_token.ts';
import { type Viewer, anonymous, loadViewer } from './viewer.ts';

const sudoText = (request: FastifyRequest, sent: RawParams): string | null => {
  const target = sent['sudo'] ?? request.headers['sudo'];
  if (target === undefined || target === '') return null;
  if (typeof target === 'string') return target;
  if (typeof target === 'number') return String(target);
  throw invalid({ sudo: ['is invalid'] });
};

type Opened = { actor: Actor | null; viewer: Viewer; names_version: number };

const parseOrigin = (baseUrl: string): string => URL.parse(baseUrl)?.origin ?? baseUrl;

/**
 * Authenticates a credential. Returns null if it is a session that has expired.
 * @throws Failure 401 for a job token on an endpoint that does not accept it, 403 for the session of a user who lacks
 *   a second factor that a group requires
 */
const authenticate = async (
  platform: Platform,
  presented: PresentedCredential | null,
  { jobTokens }: AnyEndpoint<Call>,
): Promise<SignedIn | null> => {
  const { store, clock, settings } = platform;
  if (presented === null) return null;
  const now = clock.now();
  if (presented.kind === 'token') return await authenticateToken(store.db, presented, now);
  if (presented.kind === 'job') {
    if (jobTokens !== true) throw unauthorized();
    return await authenticateJobToken(store.db, presented.text, now);
  }
  const session = await authenticateSession(store.db, presented.secret, { now, settings: settings.current });
  if (session !== null) requireNoOverdueFactor(session.factor_due_at, now);
  return session;
};

const recordUse = ({ store, clock, settings }: Platform, signedIn: SignedIn, ip: string): void => {
  const { kind } = signedIn.credential;
  if (kind === 'session') recordSessionUse(store, signedIn, clock.now(), getIdleTimeout(settings.current));
  else if (kind !== 'job') recordTokenUse(store, signedIn, { now: clock.now(), ip });
};

/** Returns where a request came from. */
export const getSource = ({ ip, headers }: FastifyRequest): Source => ({
  ip,
  userAgent: headers['user-agent'] ?? '',
});

/** Names the route, not the URL, whose query may contain secrets. */
const toSudoAuditEntry = ({ method, route }: FastifyRequest): AuditEntry => ({
  kind: 'sudo.used',
  details: { method, route: route?.url },
});

/**
 * Allows only reads to an impersonating session. Changes go through pages, which refuse forbidden changes.
 * @throws Failure 403
 */
const requireRead = ({ method }: FastifyRequest): void => {
  if (method !== 'GET' && method !== 'HEAD')
    throw forbidden('An impersonating session can only read over the API');
};

/** Authenticates the actor of a request and applies sudo. */
const openActor = async (
  platform: Platform,
  request: FastifyRequest,
  sent: RawParams,
  endpoint: AnyEndpoint<Call>,
): Promise<Opened> => {
  const { store, clock, config } = platform;
  const origin = (): string => parseOrigin(getBaseUrl(request, config.external_url));
  const signedIn = await authenticate(platform, readPresentedCredential(request, sent, origin), endpoint);
  if (signedIn === null) return nobody;
  const { user, credential, viewer, names_version, impersonator } = signedIn;
  if (impersonator !== undefined) requireRead(request);
  if (credential.kind !== 'job') {
    requireScope(credential, request.method === 'HEAD' ? 'GET' : request.method, endpoint.scopes);
  }
  const source = getSource(request);
  recordUse(platform, signedIn, source.ip);
  const sudo = sudoText(request, sent);
  if (sudo === null) {
    const sudo_by_id = impersonator?.id ?? null;
    return { actor: { user, credential, sudo_by_id, source }, viewer, names_version };
  }
  const target = await loadSudoTarget(store.db, signedIn, sudo);
  const actor = { user: target, credential, sudo_by_id: user.id, source };
  await store.write(async (tx) => await recordAudit(tx, actor, source, toSudoAuditEntry(request)));
  return {
    actor,
    viewer: await loadViewer(store.db, target, clock.now()),
    names_version,
  };
};

const nobody: Opened = { actor: null, viewer: anonymous, names_version: NaN };

const makeCall = (platform: Platform, request: FastifyRequest, opened: Opened): Call => {
  const { store, clock, config, settings } = platform;
  const { actor, viewer, names_version } = opened;
  const { ip } = request;
  const userId = actor?.user.id ?? null;
  request.userId = userId;
  request.meter.getClient = () => getGitClient(userId, ip);
  const parts = {
    db: store.db,
    baseUrl: getBaseUrl(request, config.external_url),
    viewer,
    settings: settings.current,
    names_version,
    actor,
    now: clock.now(),
  };
  return {
    ...parts,
    platform,
    write: store.write,
    signedIn: actor !== null,
    admin: actor?.user.admin === 1,
    keepAnswer: makeKeepAnswer(parts),
    runExpensive: async (work) =>
      await withAnonymousSlot({ call: { signedIn: actor !== null, platform, ip } }, work),
    ip,
    userAgent: request.headers['user-agent'] ?? '',
    incoming: request.raw,
    pollInterval: (milliseconds) => getPollInterval(settings.current, milliseconds),
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
  };
};

export const openCall =
  (platform: Platform) =>
  async (request: FastifyRequest, sent: RawParams, declared: AnyEndpoint<Call>): Promise<Call> =>
    makeCall(
      platform,
      request,
      declared.audience === 'anyone' ? nobody : await openActor(platform, request, sent, declared),
    );

export type PageCall = {
  call: Call;
  /** The session cookie; null if nobody is signed in. */
  secret: string | null;
  /** When the user last authenticated, in milliseconds. */
  signedInAt: number | null;
  /** When the user needs a second factor that they lack; null: never. */
  factorDueAt: number | null;
};

const withoutSession = (call: Call): PageCall => ({
  call,
  secret: null,
  signedInAt: null,
  factorDueAt: null,
});

/** Opens the call of a feed, authenticated only by the token in its URL. */
const openFeedCall = async (platform: Platform, request: FastifyRequest): Promise<PageCall> => {
  const { store, clock, secrets } = platform;
  const reader = await authenticateFeedReader(store.db, secrets.session_key, {
    token: readFeedToken(request) ?? '',
    path: request.originalUrl.split('?')[0] ?? '',
    now: clock.now(),
  });
  if (reader === null) return withoutSession(makeCall(platform, request, nobody));
  const { user, credential, viewer, names_version } = reader;
  const actor = { user, credential, sudo_by_id: null, source: getSource(request) };
  return withoutSession(makeCall(platform, request, { actor, viewer, names_version }));
};

/**
 * Opens the call of a page, authenticated only by the session cookie, for any method. Pages that write verify the CSRF
 * token first (`doors/web/request/mount_pages.ts`).
 */
export const openPageCall = async (
  platform: Platform,
  request: FastifyRequest,
  isFeed: boolean,
): Promise<PageCall> => {
  if (isFeed && readFeedToken(request) !== null) return await openFeedCall(platform, request);
  const secret = readCookieSecret(request.headers, sessionCookie);
  const { store, clock, settings } = platform;
  const session =
    secret === null
      ? null
      : await authenticateSession(store.db, secret, { now: clock.now(), settings: settings.current });
  if (session === null) return withoutSession(makeCall(platform, request, nobody));
  const { user, credential, viewer, names_version, signed_in_at, factor_due_at, impersonator } = session;
  recordUse(platform, session, request.ip);
  const actor = { user, credential, sudo_by_id: impersonator?.id ?? null, source: getSource(request) };
  return {
    call: makeCall(platform, request, { actor, viewer, names_version }),
    secret,
    signedInAt: signed_in_at,
    factorDueAt: factor_due_at,
  };
};
