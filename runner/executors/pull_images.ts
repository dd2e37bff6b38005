/** Pulls images by the policies of job and administrator, with the job's registry logins. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Image } from '../coordinator/protocol.ts';
import { expandVariables } from '../job_variables.ts';
import { type Engine, runEngine, runEngineJson, engineEnvironment } from './container_engine.ts';
import type { Setting } from './executor.ts';

export const pullPolicies = ['always', 'if-not-present', 'never'] as const;
export type PullPolicy = (typeof pullPolicies)[number];

const isPolicy = (text: string): text is PullPolicy => pullPolicies.some((one) => one === text);

export type ImageParts = {
  engine: Engine;
  /** Policies that jobs may request, and the default order. */
  policies: readonly PullPolicy[];
  setting: Setting;
};

type Login = { auth?: string; identitytoken?: string };
type Logins = Record<string, Login>;

/** Parses the logins of a docker configuration. Ignores the rest, which may name programs. */
const parseLogins = (text: string): Logins => {
  const { auths } = JSON.parse(text) as { auths?: Record<string, Record<string, unknown>> };
  const logins = Object.entries(auths ?? {}).flatMap(([host, login]): [string, Login][] => {
    const { auth, username, password, identitytoken } = login;
    if (typeof auth === 'string') {
      return [[host, { auth, ...(typeof identitytoken === 'string' && { identitytoken }) }]];
    }
    if (typeof username !== 'string' || typeof password !== 'string') return [];
    return [[host, { auth: Buffer.from(`${username}:${password}`).toString('base64') }]];
  });
  return Object.fromEntries(logins);
};

/** Reads the logins of the engine's own user, which our file would hide. */
const ownLogins = (): Logins => {
  const { HOME = '/root', DOCKER_CONFIG = join(HOME, '.docker'), XDG_RUNTIME_DIR } = engineEnvironment();
  const files = [join(DOCKER_CONFIG, 'config.json')];
  if (XDG_RUNTIME_DIR !== undefined) files.push(join(XDG_RUNTIME_DIR, 'containers/auth.json'));
  const logins = files.map((file) => {
    try {
      return parseLogins(readFileSync(file, 'utf8'));
    } catch {
      return {};
    }
  });
  return Object.assign({}, ...logins) as Logins;
};

const jobLogins = ({ job, values, say }: Setting): Logins => {
  const sent = (job.credentials ?? []).filter(({ type }) => type === 'registry');
  const ofPayload = sent.map(({ url, username, password }) => [
    url,
    { auth: Buffer.from(`${username}:${password}`).toString('base64') },
  ]);
  const text = values.get('DOCKER_AUTH_CONFIG') ?? '';
  try {
    const logins = text === '' ? {} : parseLogins(text);
    for (const host of Object.keys(logins))
      say(`Authenticating with credentials from $DOCKER_AUTH_CONFIG (${host})`);
    return { ...(Object.fromEntries(ofPayload) as Logins), ...logins };
  } catch {
    say('WARNING: DOCKER_AUTH_CONFIG is not valid and is ignored', 'yellow');
    return Object.fromEntries(ofPayload) as Logins;
  }
};

/** Folder with the job's logins; removed with the job. */
export const engineFolder = ({ own }: Setting): string => join(own, 'engine');

export const removeEngineFolder = (setting: Setting): void =>
  rmSync(engineFolder(setting), { recursive: true, force: true });

export const makeEngineFolder = (setting: Setting): void => {
  removeEngineFolder(setting);
  mkdirSync(engineFolder(setting), { mode: 0o700 });
};

type LoginWords = { words: string[]; environment: Record<string, string> };

/** Writes the logins for a pull. Without logins of the job, the engine's own are used. */
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

export type LocalImage = {
  name: string;
  id: string;
  /** User of its processes; empty: root. */
  user: string;
  /** Ports that it declares. */
  ports: number[];
  hasHealthCheck: boolean;
};

type Inspected = {
  Id?: string;
  RepoDigests?: string[] | null;
  User?: string;
  Config?: { User?: string; ExposedPorts?: object | null; Healthcheck?: object | null } | null;
};

const inspect = async (engine: Engine, name: string): Promise<(LocalImage & { digest: string }) | null> => {
  const { code } = await runEngine(engine, ['image', 'inspect', '--format', '{{.Id}}', '--', name]);
  if (code !== 0) return null;
  const inspected = await runEngineJson<Inspected>(engine, ['image', 'inspect', '--', name]);
  const ports = Object.keys(inspected?.Config?.ExposedPorts ?? {}).filter((port) => !port.endsWith('/udp'));
  return {
    name,
    id: inspected?.Id ?? '',
    user: inspected?.Config?.User || inspected?.User || '',
    ports: ports.map((port) => Number.parseInt(port, 10)).filter((port) => port > 0),
    hasHealthCheck: Boolean(inspected?.Config?.Healthcheck),
    digest: inspected?.RepoDigests?.[0] ?? '',
  };
};

/** Milliseconds. */
const pullTimeout = 30 * 60_000;

const pull = async (
  { engine, setting }: ImageParts,
  name: string,
  platform: string[],
  logins: LoginWords,
) => {
  setting.say(`Pulling ${engine.name} image ${name} ...`);
  const args = ['pull', '--quiet', ...logins.words, ...platform, '--', name];
  const { environment } = logins;
  return await runEngine(engine, args, { environment, timeout: pullTimeout, stop: setting.stop });
};

const policiesFor = ({ policies }: ImageParts, { name, pull_policy }: Image): readonly PullPolicy[] => {
  const requested = pull_policy ?? [];
  const wrong = requested.filter((one) => !isPolicy(one) || !policies.includes(one));
  if (wrong.length > 0) {
    const allowed = `this runner allows [${policies.join(' ')}]`;
    throw new Error(
      `invalid pull policy for image ${JSON.stringify(name)}: [${wrong.join(' ')}]: ${allowed}`,
    );
  }
  return requested.length > 0 ? requested.filter(isPolicy) : policies;
};

const getLastLine = (text: string): string => text.split('\n').at(-1) ?? '';

/** Pulls an image or uses the local one, by policy. @throws if it is not available */
export const pullImage = async (parts: ImageParts, image: Image, logins: LoginWords): Promise<LocalImage> => {
  const { engine, setting } = parts;
  const { say, stop, values } = setting;
  const name = expandVariables(image.name, values).trim();
  if (name === '') throw new Error('the name of the image is empty');
  const platform = platformArguments(image, setting);
  const tried = policiesFor(parts, image);
  let why = '';
  for (const policy of tried) {
    const local = policy === 'always' ? null : await inspect(engine, name);
    if (local !== null) say(`Using locally found image version due to "${policy}" pull policy`);
    const { code, complaint } =
      local !== null || policy === 'never'
        ? { code: local === null ? 1 : 0, complaint: 'it is not here' }
        : await pull(parts, name, platform, logins);
    stop.throwIfAborted();
    const image = code === 0 ? (local ?? (await inspect(engine, name))) : null;
    if (image !== null) {
      const digest = image.digest === '' ? '' : ` with digest ${image.digest}`;
      say(`Using ${engine.name} image ${image.id} for ${name}${digest} ...`);
      return image;
    }
    why = getLastLine(complaint);
    say(`WARNING: Failed to pull image with policy "${policy}": ${why}`, 'yellow');
  }
  throw new Error(`failed to pull image "${name}" with specified policies [${tried.join(' ')}]: ${why}`);
};

export const platformArguments = ({ executor_opts }: Image, { values }: Setting): string[] => {
  const platform = expandVariables(executor_opts?.docker?.platform ?? '', values);
  return platform === '' ? [] : ['--platform', platform];
};

/** Arguments before the image, and between the image and the command. */
export const entrypointArguments = (
  { entrypoint, executor_opts }: Image,
  { values }: Setting,
): { before: string[]; after: string[] } => {
  const [first, ...rest] = entrypoint ?? [];
  const user = expandVariables(String(executor_opts?.docker?.user ?? ''), values);
  const before = [
    ...(first === undefined ? [] : ['--entrypoint', first]),
    ...(user === '' ? [] : ['--user', user]),
  ];
  return { before, after: rest };
};
