/** One request, after the question who asks: what every handler receives. */
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Static, TObject } from 'typebox';
import type { Config } from '../config.ts';
import type { Reader, Store, Tx } from '../db/open.ts';
import { invalid, unauthorized } from '../errors.ts';
import type { AnyEndpoint, Endpoint } from '../http/endpoint.ts';
import type { BaseCall } from '../http/mount.ts';
import { baseUrlOf } from '../http/origin.ts';
import type { RawParams } from '../http/params.ts';
import type { Settings } from '../settings/fields.ts';
import type { SettingsSource } from '../settings/store.ts';
import type { Clock } from '../time.ts';
import {
  type ActorUser,
  type Credential,
  noteUse,
  requireScope,
  signIn,
  sudoTarget,
} from './authenticate.ts';
import { presentedBy } from './credential.ts';
import { type Viewer, anonymous, loadViewer } from './viewer.ts';

/** What the process is made of, made once by `main.ts`. */
export type Platform = {
  config: Config;
  store: Store;
  settings: SettingsSource;
  clock: Clock;
  random: (bytes: number) => Buffer;
  log: Logger;
  version: string;
  revision: string;
};

export type Actor = {
  user: ActorUser;
  credential: Credential;
  /** The administrator behind a call under sudo. */
  sudo_by_id: number | null;
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
};

/** What the JSON of a record depends on beside the record. */
export type Site = Pick<Call, 'baseUrl' | 'settings'>;

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

/** Who asks, and as whom he looks. */
const openActor = async (
  { store, clock }: Platform,
  request: FastifyRequest,
  sent: RawParams,
  scopes: readonly string[] | undefined,
): Promise<Opened> => {
  const presented = presentedBy(request.headers, sent);
  if (presented === null) return nobody;
  const signedIn = await signIn(store.db, presented, clock.now());
  const { user, credential, viewer, names_version } = signedIn;
  requireScope(credential, request.method === 'HEAD' ? 'GET' : request.method, scopes);
  noteUse(store, credential, clock.now());
  const sudo = sudoText(request, sent);
  if (sudo === null) return { actor: { user, credential, sudo_by_id: null }, viewer, names_version };
  const target = await sudoTarget(store.db, signedIn, sudo);
  return {
    actor: { user: target, credential, sudo_by_id: user.id },
    viewer: await loadViewer(store.db, target, clock.now()),
    names_version,
  };
};

const nobody: Opened = { actor: null, viewer: anonymous, names_version: NaN };

export const openCall = (platform: Platform) => {
  const { store, clock, config, settings } = platform;
  return async (
    request: FastifyRequest,
    sent: RawParams,
    { audience, scopes }: AnyEndpoint<Call>,
  ): Promise<Call> => {
    const { actor, viewer, names_version } =
      audience === 'anyone' ? nobody : await openActor(platform, request, sent, scopes);
    request.userId = actor?.user.id ?? null;
    const now = clock.now();
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
      now,
      ip: request.ip,
      userAgent: request.headers['user-agent'] ?? '',
      header: (name) => {
        const value = request.headers[name];
        return Array.isArray(value) ? value[0] : value;
      },
    };
  };
};
