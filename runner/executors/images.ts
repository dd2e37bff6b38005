/** Images: brought as jobs and administrators want it, with the passwords that a job has for registries. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Image } from '../protocol.ts';
import { expand } from '../variables.ts';
import { type Engine, ask, askJson, engineEnvironment } from './engine.ts';
import type { Setting } from './executor.ts';

export const pullPolicies = ['always', 'if-not-present', 'never'] as const;
export type PullPolicy = (typeof pullPolicies)[number];

const isPolicy = (text: string): text is PullPolicy => pullPolicies.some((one) => one === text);

export type ImageParts = {
  engine: Engine;
  /** What jobs may ask for, and the order where they do not. */
  policies: readonly PullPolicy[];
  setting: Setting;
};

type Login = { auth?: string; identitytoken?: string };
type Logins = Record<string, Login>;

/** Of a file of docker: nothing but passwords, for the rest of it may name programs. */
const loginsOf = (text: string): Logins => {
  const { auths } = JSON.parse(text) as { auths?: Record<string, Record<string, unknown>> };
  const found = Object.entries(auths ?? {}).flatMap(([host, given]): [string, Login][] => {
    const { auth, username, password, identitytoken } = given;
    if (typeof auth === 'string') {
      return [[host, { auth, ...(typeof identitytoken === 'string' && { identitytoken }) }]];
    }
    if (typeof username !== 'string' || typeof password !== 'string') return [];
    return [[host, { auth: Buffer.from(`${username}:${password}`).toString('base64') }]];
  });
  return Object.fromEntries(found);
};

/** Those of whoever runs the engine, which a file of ours would hide. */
const ownLogins = (): Logins => {
  const { HOME = '/root', DOCKER_CONFIG = join(HOME, '.docker'), XDG_RUNTIME_DIR } = engineEnvironment();
  const files = [join(DOCKER_CONFIG, 'config.json')];
  if (XDG_RUNTIME_DIR !== undefined) files.push(join(XDG_RUNTIME_DIR, 'containers/auth.json'));
  const all = files.map((file) => {
    try {
      return loginsOf(readFileSync(file, 'utf8'));
    } catch {
      return {};
    }
  });
  return Object.assign({}, ...all) as Logins;
};

const jobLogins = ({ job, values, say }: Setting): Logins => {
  const sent = (job.credentials ?? []).filter(({ type }) => type === 'registry');
  const ofPayload = sent.map(({ url, username, password }) => [
    url,
    { auth: Buffer.from(`${username}:${password}`).toString('base64') },
  ]);
  const text = values.get('DOCKER_AUTH_CONFIG') ?? '';
  try {
    const logins = text === '' ? {} : loginsOf(text);
    for (const host of Object.keys(logins))
      say(`Authenticating with credentials from $DOCKER_AUTH_CONFIG (${host})`);
    return { ...(Object.fromEntries(ofPayload) as Logins), ...logins };
  } catch {
    say('WARNING: DOCKER_AUTH_CONFIG is no JSON of logins, and is left out', 'yellow');
    return Object.fromEntries(ofPayload) as Logins;
  }
};

/** What the engine reads of a job's secrets: ours alone, and gone with the job. */
export const engineFolder = ({ own }: Setting): string => join(own, 'engine');

export const removeEngineFolder = (setting: Setting): void =>
  rmSync(engineFolder(setting), { recursive: true, force: true });

export const makeEngineFolder = (setting: Setting): void => {
  removeEngineFolder(setting);
  mkdirSync(engineFolder(setting), { mode: 0o700 });
};

type LoginWords = { words: string[]; environment: Record<string, string> };

/** Writes what a pull reads; where a job has no passwords, the engine's own are read as ever. */
export const writeLogins = ({ name }: Engine, setting: Setting): LoginWords => {
  const ours = jobLogins(setting);
  if (Object.keys(ours).length === 0) return { words: [], environment: {} };
  const folder = engineFolder(setting);
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify({ auths: { ...ownLogins(), ...ours } }), { mode: 0o600 });
  return name === 'podman'
    ? { words: ['--authfile', file], environment: {} }
    : { words: [], environment: { DOCKER_CONFIG: folder } };
};

export type Found = {
  name: string;
  id: string;
  /** Who its processes are; empty: root. */
  user: string;
  /** That it says it listens on. */
  ports: number[];
  hasHealthCheck: boolean;
};

type Inspected = {
  Id?: string;
  RepoDigests?: string[] | null;
  User?: string;
  Config?: { User?: string; ExposedPorts?: object | null; Healthcheck?: object | null } | null;
};

const inspect = async (engine: Engine, name: string): Promise<(Found & { digest: string }) | null> => {
  const { code } = await ask(engine, ['image', 'inspect', '--format', '{{.Id}}', '--', name]);
  if (code !== 0) return null;
  const found = await askJson<Inspected>(engine, ['image', 'inspect', '--', name]);
  const ports = Object.keys(found?.Config?.ExposedPorts ?? {}).filter((port) => !port.endsWith('/udp'));
  return {
    name,
    id: found?.Id ?? '',
    user: found?.Config?.User || found?.User || '',
    ports: ports.map((port) => Number.parseInt(port, 10)).filter((port) => port > 0),
    hasHealthCheck: Boolean(found?.Config?.Healthcheck),
    digest: found?.RepoDigests?.[0] ?? '',
  };
};

/** Milliseconds. */
const pullPatience = 30 * 60_000;

const pull = async (
  { engine, setting }: ImageParts,
  name: string,
  platform: string[],
  logins: LoginWords,
) => {
  setting.say(`Pulling ${engine.name} image ${name} ...`);
  const words = ['pull', '--quiet', ...logins.words, ...platform, '--', name];
  const { environment } = logins;
  return await ask(engine, words, { environment, timeout: pullPatience, stop: setting.stop });
};

const policiesFor = ({ policies }: ImageParts, { name, pull_policy }: Image): readonly PullPolicy[] => {
  const asked = pull_policy ?? [];
  const wrong = asked.filter((one) => !isPolicy(one) || !policies.includes(one));
  if (wrong.length > 0) {
    const allowed = `this runner allows [${policies.join(' ')}]`;
    throw new Error(
      `invalid pull policy for image ${JSON.stringify(name)}: [${wrong.join(' ')}]: ${allowed}`,
    );
  }
  return asked.length > 0 ? asked.filter(isPolicy) : policies;
};

const complaintOf = (text: string): string => text.split('\n').at(-1) ?? '';

/** @throws where it cannot be had */
export const bringImage = async (parts: ImageParts, image: Image, logins: LoginWords): Promise<Found> => {
  const { engine, setting } = parts;
  const { say, stop, values } = setting;
  const name = expand(image.name, values).trim();
  if (name === '') throw new Error('the name of the image is empty');
  const platform = platformWords(image, setting);
  const tried = policiesFor(parts, image);
  let why = '';
  // oxlint-disable no-await-in-loop -- one try after another
  for (const policy of tried) {
    const local = policy === 'always' ? null : await inspect(engine, name);
    if (local !== null) say(`Using locally found image version due to "${policy}" pull policy`);
    const { code, complaint } =
      local !== null || policy === 'never'
        ? { code: local === null ? 1 : 0, complaint: 'it is not here' }
        : await pull(parts, name, platform, logins);
    stop.throwIfAborted();
    const found = code === 0 ? (local ?? (await inspect(engine, name))) : null;
    if (found !== null) {
      const digest = found.digest === '' ? '' : ` with digest ${found.digest}`;
      say(`Using ${engine.name} image ${found.id} for ${name}${digest} ...`);
      return found;
    }
    why = complaintOf(complaint);
    say(`WARNING: Failed to pull image with policy "${policy}": ${why}`, 'yellow');
  }
  // oxlint-enable no-await-in-loop
  throw new Error(`failed to pull image "${name}" with specified policies [${tried.join(' ')}]: ${why}`);
};

export const platformWords = ({ executor_opts }: Image, { values }: Setting): string[] => {
  const platform = expand(executor_opts?.docker?.platform ?? '', values);
  return platform === '' ? [] : ['--platform', platform];
};

/** Words before the image, and those that come between it and the command. */
export const entryWords = (
  { entrypoint, executor_opts }: Image,
  { values }: Setting,
): { before: string[]; after: string[] } => {
  const [first, ...rest] = entrypoint ?? [];
  const user = expand(String(executor_opts?.docker?.user ?? ''), values);
  const before = [
    ...(first === undefined ? [] : ['--entrypoint', first]),
    ...(user === '' ? [] : ['--user', user]),
  ];
  return { before, after: rest };
};
