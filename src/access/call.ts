/** One request, after the question who asks: what every handler receives. */
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Static, TObject } from 'typebox';
import type { AppendFiles } from '../blob/append_files.ts';
import type { Blobs } from '../blob/files.ts';
import type { Config } from '../config.ts';
import type { Reader, Store, Tx } from '../db/open.ts';
import { type Audited, type Source, recordAudit } from './audit.ts';
import { invalid, unauthorized } from '../errors.ts';
import type { GitStorages } from '../git/storages.ts';
import type { AnyEndpoint, Endpoint } from '../http/endpoint.ts';
import type { BaseCall } from '../http/mount.ts';
import { baseUrlOf } from '../http/origin.ts';
import type { RawParams } from '../http/params.ts';
import type { Settings } from '../settings/fields.ts';
import { pollInterval } from '../settings/governed.ts';
import type { SettingsSource } from '../settings/store.ts';
import type { Clock } from '../time.ts';
import {
  type ActorUser,
  type Credential,
  type SignedIn,
  noteUse,
  requireScope,
  signIn,
  sudoTarget,
} from './authenticate.ts';
import { type Presented, presentedBy } from './credential.ts';
import { signInJob } from './job_token.ts';
import { idleLimit, noteSeen, openSession } from './session.ts';
import { secretOf, sessionCookie } from './session_token.ts';
import { type Viewer, anonymous, loadViewer } from './viewer.ts';

/** Keys of the instance. Never stored in the database. */
export type Secrets = {
  /** 32 random bytes each, hexadecimal. */
  session_key: string;
  encryption_key: string;
  /** Private key, as PEM, that signs the tokens of the container registry. */
  registry_key: string;
  /** Private key, in the form of OpenSSH, by which SSH clients know the instance. */
  ssh_host_key: string;
};

/** What the process is made of, made once by `main.ts`. */
export type Platform = {
  config: Config;
  store: Store;
  settings: SettingsSource;
  secrets: Secrets;
  blobs: Blobs;
  /** What jobs print. */
  traces: AppendFiles;
  git: GitStorages;
  clock: Clock;
  random: (bytes: number) => Buffer;
  log: Logger;
  version: string;
  revision: string;
  /** Whether the web interface has a page: `GET /-/projects/:project/pipelines`. */
  hasPage: (line: string) => boolean;
};

export type Actor = {
  user: ActorUser;
  credential: Credential;
  /** The administrator behind a call under sudo. */
  sudo_by_id: number | null;
  source: Source;
};

export type Call = BaseCall & {
  platform: Platform;
  db: Reader;
  /** Runs one transaction; answers once it is durable. */
  write: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  viewer: Viewer;
  /** The instance's settings as they were when the call began. */
  settings: Settings;
  /**
   * Rises with every change of a name that records show (`db/migrations/revisions.ts`); as it was when the call
   * began. NaN, which is never the same, where nobody signed in.
   */
  names_version: number;
  /** null: nobody signed in. Endpoints for users read `call.user`. */
  actor: Actor | null;
  now: number;
  ip: string;
  userAgent: string;
  header: (name: string) => string | undefined;
  /** The request as it comes in: for those who read its body themselves. */
  incoming: IncomingMessage;
};

/** What the JSON of a record depends on beside the record. */
export type Site = Pick<Call, 'baseUrl' | 'settings'>;

/** The same, where the JSON depends on the day. */
export type DatedSite = Site & Pick<Call, 'now'>;

/** Types an endpoint's handler by its declared parameters. */
export const endpoint = <P extends TObject>(declared: Endpoint<Call, P>): AnyEndpoint<Call> => declared;

export type ParamsOf<P extends TObject> = Static<P>;

/** The signed-in user; endpoints whose audience is `user` or `admin` always have one. */
export const actorOf = (call: Call): Actor => {
  if (call.actor === null) throw unauthorized();
  return call.actor;
};

export const userOf = (call: Call): ActorUser => actorOf(call).user;

const sudoText = (request: FastifyRequest, sent: RawParams): string | null => {
  const given = sent['sudo'] ?? request.headers['sudo'];
  if (given === undefined || given === '') return null;
  if (typeof given === 'string') return given;
  if (typeof given === 'number') return String(given);
  throw invalid({ sudo: ['is invalid'] });
};

type Opened = { actor: Actor | null; viewer: Viewer; names_version: number };

const originOf = (baseUrl: string): string => URL.parse(baseUrl)?.origin ?? baseUrl;

/**
 * Whose credential this is; null: of nobody, as with a session that has ended.
 * @throws Failure 401 for the token of a job where the endpoint takes none
 */
const signedInBy = async (
  platform: Platform,
  presented: Presented | null,
  { jobTokens }: AnyEndpoint<Call>,
): Promise<SignedIn | null> => {
  const { store, clock, settings } = platform;
  if (presented === null) return null;
  const now = clock.now();
  if (presented.kind === 'token') return await signIn(store.db, presented, now);
  if (presented.kind === 'job') {
    if (jobTokens !== true) throw unauthorized();
    return await signInJob(store.db, presented.text, now);
  }
  return await openSession(store.db, presented.secret, { now, settings: settings.current });
};

const noteUseOf = ({ store, clock, settings }: Platform, signedIn: SignedIn): void => {
  const { kind } = signedIn.credential;
  if (kind === 'session') noteSeen(store, signedIn, clock.now(), idleLimit(settings.current));
  else if (kind !== 'job') noteUse(store, signedIn, clock.now());
};

const sourceOf = ({ ip, headers }: FastifyRequest): Source => ({
  ip,
  userAgent: headers['user-agent'] ?? '',
});

/** Without what a query may hold of secrets. */
const sudoUse = ({ method, routeOptions }: FastifyRequest): Audited => ({
  kind: 'sudo.used',
  details: { method, route: routeOptions.url },
});

/** Who asks, and as whom he looks. */
const openActor = async (
  platform: Platform,
  request: FastifyRequest,
  sent: RawParams,
  endpoint: AnyEndpoint<Call>,
): Promise<Opened> => {
  const { store, clock, config } = platform;
  const origin = (): string => originOf(baseUrlOf(request, config.external_url));
  const signedIn = await signedInBy(platform, presentedBy(request, sent, origin), endpoint);
  if (signedIn === null) return nobody;
  const { user, credential, viewer, names_version } = signedIn;
  if (credential.kind !== 'job') {
    requireScope(credential, request.method === 'HEAD' ? 'GET' : request.method, endpoint.scopes);
  }
  noteUseOf(platform, signedIn);
  const sudo = sudoText(request, sent);
  const source = sourceOf(request);
  if (sudo === null) return { actor: { user, credential, sudo_by_id: null, source }, viewer, names_version };
  const target = await sudoTarget(store.db, signedIn, sudo);
  const actor = { user: target, credential, sudo_by_id: user.id, source };
  await store.write(async (tx) => await recordAudit(tx, actor, source, sudoUse(request)));
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
  request.userId = actor?.user.id ?? null;
  return {
    platform,
    db: store.db,
    write: store.write,
    signedIn: actor !== null,
    admin: actor?.user.admin === 1,
    baseUrl: baseUrlOf(request, config.external_url),
    viewer,
    settings: settings.current,
    names_version,
    actor,
    now: clock.now(),
    ip: request.ip,
    userAgent: request.headers['user-agent'] ?? '',
    incoming: request.raw,
    pollInterval: (milliseconds) => pollInterval(settings.current, milliseconds),
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

/** What a page is called with. */
export type PageCall = {
  call: Call;
  /** The cookie of the session; null: nobody signed in. */
  secret: string | null;
  /** When the user last proved who he is. */
  signedInAt: number | null;
};

/**
 * The call of a page: by its session alone, and whatever the method. A page that writes asks for the CSRF token
 * before anything else (`web/mount.ts`).
 */
export const openPageCall = async (platform: Platform, request: FastifyRequest): Promise<PageCall> => {
  const secret = secretOf(request.headers, sessionCookie);
  const { store, clock, settings } = platform;
  const session =
    secret === null
      ? null
      : await openSession(store.db, secret, { now: clock.now(), settings: settings.current });
  if (session === null) return { call: makeCall(platform, request, nobody), secret: null, signedInAt: null };
  const { user, credential, viewer, names_version, signed_in_at } = session;
  noteUseOf(platform, session);
  const actor = { user, credential, sudo_by_id: null, source: sourceOf(request) };
  return {
    call: makeCall(platform, request, { actor, viewer, names_version }),
    secret,
    signedInAt: signed_in_at,
  };
};
