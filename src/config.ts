/**
 * Every setting of the process: name, flag, variable, default and meaning. Text in, `Config` out. A flag wins
 * over a variable, a variable over the default. (Settings of the instance live in the database: `settings/`.)
 */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { StartFailure } from './errors.ts';
import { type SignInProvider, readProviders } from './sign_in_providers.ts';

export type Config = {
  data: string;
  listen: { host: string; port: number };
  external_url: string | null;
  database_url: string | null;
  database_schema: string;
  database_connections: number;
  default_branch: string;
  root_password: string | null;
  root_token: string | null;
  trusted_proxies: string[];
  /** Where repositories may be kept. */
  repository_storages: RepositoryStorage[];
  /** Who else may say who somebody is. */
  sign_in_providers: SignInProvider[];
  /** By which name a container registry asks for its tokens. */
  registry: string;
  log_level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
};

/** `path`: absolute; null: a folder of the data folder. */
export type RepositoryStorage = { name: string; path: string | null };

export type ConfigName = keyof Config;
export type Origin = 'flag' | 'environment' | 'default';

type Field<T> = {
  /** `--data`; absent for what must not stand on a command line. */
  flag?: string;
  variable: string;
  /** Text form of the default; null: none. */
  default: string | null;
  meaning: string;
  /** Never printed. */
  secret?: true;
  /** Throws an `Error` whose message continues "<name> ...". */
  read: (text: string) => T;
};

type Fields = { [N in ConfigName]: Field<Config[N]> };

const readListen = (text: string): Config['listen'] => {
  const match = /^(?:(\[[0-9a-f:.]+\]|[^:[\]]*):)?(\d{1,5})$/i.exec(text.trim());
  const port = Number(match?.[2]);
  if (match === null || port > 65_535) throw new Error('must be HOST:PORT, such as 127.0.0.1:8080');
  return { host: (match[1] || '127.0.0.1').replace(/^\[|\]$/g, ''), port };
};

const readUrl = (protocols: string[]): ((text: string) => string) => {
  return (text) => {
    const url = URL.parse(text);
    if (url === null || !protocols.includes(url.protocol)) {
      throw new Error(`must be a URL that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    }
    return text.replace(/\/+$/, '');
  };
};

const readMatching = (pattern: RegExp, wanted: string): ((text: string) => string) => {
  return (text) => {
    if (!pattern.test(text)) throw new Error(`must be ${wanted}`);
    return text;
  };
};

const readAddresses = (text: string): string[] => {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  for (const part of parts) {
    if (isIP(part.split('/')[0] ?? '') === 0)
      throw new Error(`has "${part}", which is no IP address or range`);
  }
  return parts;
};

/** As `readStorages` reads it. */
export const storageText = ({ name, path }: RepositoryStorage): string =>
  path === null ? name : `${name}=${path}`;

const readStorages = (text: string): RepositoryStorage[] => {
  const parts = text.split(',').map((part) => part.trim());
  const storages = parts.map((part) => {
    const match = /^([A-Za-z0-9_-]{1,64})(?:=(.+))?$/.exec(part);
    if (match?.[1] === undefined) throw new Error(`has "${part}", which is not NAME or NAME=FOLDER`);
    return { name: match[1], path: match[2] === undefined ? null : resolve(match[2]) };
  });
  if (new Set(storages.map(({ name }) => name)).size < parts.length) throw new Error('names a storage twice');
  return storages;
};

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const readLevel = (text: string): Config['log_level'] => {
  const level = logLevels.find((one) => one === text);
  if (level === undefined) throw new Error(`must be one of ${logLevels.join(', ')}`);
  return level;
};

const readCount = (text: string): number => {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new Error('must be a whole number from 1 to 999');
  return Number(text);
};

export const fields: Fields = {
  data: {
    flag: '--data',
    variable: 'GANTRY_DATA',
    default: './data',
    meaning: 'folder that holds everything Gantry keeps (created with mode 0700)',
    read: (text) => resolve(text),
  },
  listen: {
    flag: '--listen',
    variable: 'GANTRY_LISTEN',
    default: '127.0.0.1:8080',
    meaning: 'address and port to answer on; port 0 takes any free one',
    read: readListen,
  },
  external_url: {
    flag: '--external-url',
    variable: 'GANTRY_EXTERNAL_URL',
    default: null,
    meaning: 'base of the absolute URLs in answers; without it, the scheme and host that the client used',
    read: readUrl(['http:', 'https:']),
  },
  database_url: {
    variable: 'GANTRY_DATABASE_URL',
    default: null,
    meaning: 'postgres://user:password@host/database; without it, SQLite in the data folder',
    secret: true,
    read: readUrl(['postgres:', 'postgresql:']),
  },
  database_schema: {
    variable: 'GANTRY_DATABASE_SCHEMA',
    default: 'gantry',
    meaning: 'PostgreSQL schema that Gantry has for itself',
    read: readMatching(/^[a-z_][a-z0-9_]{0,62}$/, 'a name of lower-case letters, digits and _'),
  },
  database_connections: {
    variable: 'GANTRY_DATABASE_CONNECTIONS',
    default: '10',
    meaning: 'connections to PostgreSQL at most',
    read: readCount,
  },
  default_branch: {
    variable: 'GANTRY_DEFAULT_BRANCH',
    default: 'main',
    meaning: 'name of the first branch of a repository that the service creates',
    read: readMatching(/^[A-Za-z0-9_][A-Za-z0-9_./-]{0,254}$/, 'a branch name'),
  },
  root_password: {
    variable: 'GANTRY_ROOT_PASSWORD',
    default: null,
    meaning: "first start only: the administrator root's password; without it, one is generated",
    secret: true,
    read: readMatching(/^.{8,128}$/su, '8 to 128 characters'),
  },
  root_token: {
    variable: 'GANTRY_ROOT_TOKEN',
    default: null,
    meaning: 'first start only: text of a personal access token (scopes api and sudo) for root',
    secret: true,
    read: readMatching(/^[\x21-\x7e]{8,255}$/, '8 to 255 printable characters'),
  },
  trusted_proxies: {
    variable: 'GANTRY_TRUSTED_PROXIES',
    default: '',
    meaning: 'addresses or ranges whose X-Forwarded-* headers are believed, separated by commas',
    read: readAddresses,
  },
  repository_storages: {
    variable: 'GANTRY_REPOSITORY_STORAGES',
    default: 'default',
    meaning:
      'storages of repositories, NAME or NAME=FOLDER, separated by commas; a folder in the data folder by default',
    read: readStorages,
  },
  sign_in_providers: {
    variable: 'GANTRY_SIGN_IN_PROVIDERS',
    default: '[]',
    meaning:
      'OpenID Connect providers: a JSON array of {name, label, issuer, client_id, client_secret, scopes}, or a file that has it',
    secret: true,
    read: readProviders,
  },
  registry: {
    variable: 'GANTRY_REGISTRY',
    default: 'container_registry',
    meaning:
      'name of the container registry that takes tokens of /jwt/auth: the service of its auth.token settings',
    read: readMatching(/^[\w.:-]{1,255}$/, 'a name of letters, digits and . _ : -'),
  },
  log_level: {
    flag: '--log-level',
    variable: 'GANTRY_LOG_LEVEL',
    default: 'info',
    meaning: `least severe log line printed: ${logLevels.join(', ')}`,
    read: readLevel,
  },
};

export const configNames = Object.keys(fields) as ConfigName[];

export type Sourced = { config: Config; origin: { [N in ConfigName]: Origin } };

/**
 * @param flags text by setting name, as given on the command line
 * @throws StartFailure for a value that cannot be read, or an unknown GANTRY_ variable (with a suggestion)
 */
export const readConfig = (
  flags: { [N in ConfigName]?: string | undefined },
  environment: NodeJS.ProcessEnv,
): Sourced => {
  refuseUnknown(environment);
  const config: Record<string, unknown> = {};
  const origin: Record<string, Origin> = {};
  for (const name of configNames) {
    const field: Field<unknown> = fields[name];
    const [text, from] = textOf(flags[name], environment[field.variable], field.default);
    origin[name] = from;
    config[name] = text === null ? null : readField(field, from, text);
  }
  return { config, origin } as Sourced;
};

const textOf = (
  flag: string | undefined,
  variable: string | undefined,
  fallback: string | null,
): [string | null, Origin] => {
  if (flag !== undefined) return [flag, 'flag'];
  if (variable !== undefined && variable !== '') return [variable, 'environment'];
  return [fallback, 'default'];
};

const readField = (field: Field<unknown>, from: Origin, text: string): unknown => {
  try {
    return field.read(text);
  } catch (error) {
    const name = from === 'flag' ? field.flag : field.variable;
    const shown = field.secret === true ? '' : ` (it is "${text}")`;
    throw new StartFailure(`${name} ${(error as Error).message}${shown}`);
  }
};

const refuseUnknown = (environment: NodeJS.ProcessEnv): void => {
  const known = configNames.map((name) => fields[name].variable);
  const unknown = Object.keys(environment).find(
    (name) => name.startsWith('GANTRY_') && !name.startsWith('GANTRY_TEST_') && !known.includes(name),
  );
  if (unknown === undefined) return;
  throw new StartFailure(
    `${unknown} is not a setting; those are ${known.join(', ')} (gantry config show tells more)`,
  );
};
