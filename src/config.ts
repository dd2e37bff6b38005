/**
 * Every setting of the process: name, flag, variable, default and meaning. Text in, `Config` out. A flag wins
 * over a variable, a variable over the default. (Settings of the instance live in the database: `settings/`.)
 */
import { resolve } from 'node:path';
import { type BlobConfig, blobFields, s3Place } from './config_blobs.ts';
import { readVariable, unknownVariables } from './config_environment.ts';
import { type CompatConfig, compatFields } from './config_compat.ts';
import { type GitConfig, gitFields } from './config_git.ts';
import { type OperationsConfig, operationsFields } from './config_operations.ts';
import { type RunnerConfig, runnerFields } from './config_runner.ts';
import {
  type Address,
  type Field,
  type LogLevel,
  type RepositoryStorage,
  logLevels,
  readAddress,
  readCount,
  readLevel,
  readLimit,
  readMatching,
  readMegabytes,
  readNetworks,
  readOrigins,
  readStorages,
  readUrl,
} from './config_values.ts';
import { StartFailure } from './errors.ts';
import { type SignInProvider, readProviders } from './sign_in_providers.ts';

type Others = BlobConfig & GitConfig & OperationsConfig & RunnerConfig & CompatConfig;

export type Config = Others & {
  data: string;
  listen: Address;
  external_url: string | null;
  database_url: string | null;
  database_schema: string;
  database_connections: number;
  default_branch: string;
  root_password: string | null;
  root_token: string | null;
  trusted_proxies: string[];
  /** Absolute; null: `secrets.json` in the data folder. */
  secrets_file: string | null;
  /** Where repositories may be kept. */
  repository_storages: RepositoryStorage[];
  /** Where SSH is answered; null: it is not. */
  ssh_listen: Address | null;
  /** What clients reach it by; null: the host of our URL, and that port. */
  ssh_external: Address | null;
  /** Megabytes of one file that a job leaves, where its project says nothing; 0: any. */
  artifact_limit: number;
  /** Pipelines of one commit that one user has made in a minute; 0: any. */
  pipeline_limit: number;
  /** From where configurations of pipelines may include files over the net. */
  ci_include_origins: string[];
  /** Jobs of one project that wait or run; 0: any. */
  active_jobs_limit: number;
  /** What the service and a gitd elsewhere both know. */
  gitd_secret: string | null;
  /** Who else may say who somebody is. */
  sign_in_providers: SignInProvider[];
  /** Name by which a container registry asks for its tokens; null: projects have no registry. */
  registry: string | null;
  log_level: LogLevel;
};

export type ConfigName = keyof Config;
export type Origin = 'flag' | 'environment' | 'file' | 'default';

type Fields = { [N in ConfigName]: Field<Config[N]> };

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
    read: readAddress,
  },
  ssh_listen: {
    flag: '--ssh-listen',
    variable: 'GANTRY_SSH_LISTEN',
    default: null,
    meaning: 'address and port to answer git over SSH on, such as 0.0.0.0:2222; without it, SSH is off',
    read: readAddress,
  },
  ssh_external: {
    flag: '--ssh-external',
    variable: 'GANTRY_SSH_EXTERNAL',
    default: null,
    meaning:
      'host and port that clients reach SSH by; without it, the host of our URL and the port of --ssh-listen',
    read: readAddress,
  },
  artifact_limit: {
    variable: 'GANTRY_ARTIFACT_LIMIT',
    default: '100',
    meaning:
      'megabytes of one artifact of a job, where its project says nothing (max_artifacts_size); 0: no limit',
    read: readMegabytes,
  },
  pipeline_limit: {
    variable: 'GANTRY_PIPELINE_LIMIT',
    default: '25',
    meaning: 'pipelines of one commit that one user may have made in a minute; 0: no limit',
    read: readLimit,
  },
  ci_include_origins: {
    variable: 'GANTRY_CI_INCLUDE_ORIGINS',
    default: '',
    meaning:
      'places such as https://ci.example.com from which "include: remote" may take files, separated by commas; none by default',
    read: readOrigins,
  },
  active_jobs_limit: {
    variable: 'GANTRY_ACTIVE_JOBS_LIMIT',
    default: '20000',
    meaning: 'jobs of one project that may wait or run at once; 0: no limit',
    read: readLimit,
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
    meaning:
      'postgres://user:password@host/database, also ?connect_timeout=SECONDS; without it, SQLite in the data folder',
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
  secrets_file: {
    variable: 'GANTRY_SECRETS_FILE',
    default: null,
    meaning:
      'file of the secrets of the instance, the same for all its services; without it, secrets.json in the data folder',
    read: (text) => resolve(text),
  },
  trusted_proxies: {
    variable: 'GANTRY_TRUSTED_PROXIES',
    default: '',
    meaning: 'addresses or ranges whose X-Forwarded-* headers are believed, separated by commas',
    read: readNetworks(1),
  },
  repository_storages: {
    variable: 'GANTRY_REPOSITORY_STORAGES',
    default: 'default',
    meaning:
      'storages of repositories, NAME, NAME=FOLDER or NAME=tcp://HOST:PORT (of a "gantry gitd"), separated by commas; a folder in the data folder by default',
    read: readStorages,
  },
  gitd_secret: {
    variable: 'GANTRY_GITD_SECRET',
    default: null,
    meaning: 'what the service and each "gantry gitd" of another machine know alone: 32 characters or more',
    secret: true,
    read: readMatching(/^[\x21-\x7e]{32,255}$/, '32 to 255 printable characters'),
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
    default: null,
    meaning:
      'name of the container registry that takes tokens of /jwt/auth: the service of its auth.token settings; without it, projects say that they have no registry',
    read: readMatching(/^[\w.:-]{1,255}$/, 'a name of letters, digits and . _ : -'),
  },
  log_level: {
    flag: '--log-level',
    variable: 'GANTRY_LOG_LEVEL',
    default: 'info',
    meaning: `least severe log line printed: ${logLevels.join(', ')}`,
    read: readLevel,
  },
  ...gitFields,
  ...operationsFields,
  ...runnerFields,
  ...blobFields,
  ...compatFields,
};

export const configNames = Object.keys(fields) as ConfigName[];

export type Sourced = {
  config: Config;
  origin: { [N in ConfigName]: Origin };
  /** About variables that are ignored; each is one line. */
  warnings: string[];
};

/**
 * @param flags text by setting name, as given on the command line
 * @throws StartFailure for a value that cannot be read
 */
export const readConfig = (
  flags: { [N in ConfigName]?: string | undefined },
  environment: NodeJS.ProcessEnv,
): Sourced => {
  const config: Record<string, unknown> = {};
  const origin: Record<string, Origin> = {};
  for (const name of configNames) {
    const { value, from } = readSetting(fields[name], flags[name], environment);
    origin[name] = from;
    config[name] = value;
  }
  refuseOpenStorage(config as Config);
  s3Place(config as Config);
  return { config, origin, warnings: unknownVariables(Object.values(fields), environment) } as Sourced;
};

type Setting = { value: unknown; from: Origin };

const readSetting = (
  field: Field<unknown>,
  flag: string | undefined,
  environment: NodeJS.ProcessEnv,
): Setting => {
  if (flag !== undefined) return { value: readText(field, field.flag ?? '', flag), from: 'flag' };
  const set = readVariable(field, environment);
  if (set !== null) return { value: readText(field, set.variable, set.text), from: set.origin };
  const { default: text, variable } = field;
  return { value: text === null ? null : readText(field, variable, text), from: 'default' };
};

/** @param name of the flag or variable that holds the text */
const readText = (field: Field<unknown>, name: string, text: string): unknown => {
  try {
    return field.read(text);
  } catch (error) {
    const shown = field.secret === true ? '' : ` (it is "${text}")`;
    throw new StartFailure(`${name} ${(error as Error).message}${shown}`);
  }
};

const refuseOpenStorage = ({ repository_storages, gitd_secret }: Config): void => {
  const away = repository_storages.find(({ address }) => address !== null);
  if (away !== undefined && gitd_secret === null)
    throw new StartFailure(
      `GANTRY_GITD_SECRET is needed: the storage "${away.name}" of GANTRY_REPOSITORY_STORAGES is kept elsewhere`,
    );
};
