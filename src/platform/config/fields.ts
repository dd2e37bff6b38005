/**
 * Every setting of the process: name, flag, variable, default and meaning. A flag takes precedence over a variable, a
 * variable over the default. Settings of the instance are stored in the database (`core/settings/`).
 */
import { resolve } from 'node:path';
import { type BackupConfig, backupFields } from './backups.ts';
import { type BlobConfig, blobFields } from './blobs.ts';
import { type CompatConfig, compatFields } from './contract_deviations.ts';
import { type GitConfig, gitFields } from './git.ts';
import { type MailConfig, mailFields } from './mail.ts';
import { type OperationsConfig, operationsFields } from './operations.ts';
import { type RunnerConfig, runnerFields } from './runner.ts';
import { type TracingConfig, tracingFields } from './tracing.ts';
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
  readYes,
} from './parse_values.ts';
import { type SignInProvider, readProviders } from './sign_in_providers.ts';

type Others = BackupConfig &
  BlobConfig &
  GitConfig &
  MailConfig &
  OperationsConfig &
  RunnerConfig &
  TracingConfig &
  CompatConfig;

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
  /** Folders or addresses of repository storages. */
  repository_storages: RepositoryStorage[];
  /** Address of the SSH server; null: disabled. */
  ssh_listen: Address | null;
  /** Whether connections of trusted proxies to the SSH server begin with a PROXY header. */
  ssh_proxy_protocol: boolean;
  /** Whether the service loads and shows images of other sites that texts embed. */
  image_proxy: boolean;
  /** SSH address shown to clients; null: the host of the external URL with the port of `ssh_listen`. */
  ssh_external: Address | null;
  /** Maximum megabytes of an artifact file if the project sets no limit; 0: unlimited. */
  artifact_limit: number;
  /** Maximum pipelines per commit, user and minute; 0: unlimited. */
  pipeline_limit: number;
  /** Origins from which pipeline configurations may include files. */
  ci_include_origins: string[];
  /** Maximum jobs of a project that wait or run; 0: unlimited. */
  active_jobs_limit: number;
  /** Secret shared with remote gitd processes. */
  gitd_secret: string | null;
  /** Path of the CA certificates for TLS to remote storages; null: well-known authorities. */
  gitd_ca: string | null;
  /** External OpenID Connect sign-in providers. */
  sign_in_providers: SignInProvider[];
  /** Name by which a container registry requests its tokens; null: projects have no registry. */
  registry: string | null;
  log_level: LogLevel;
};

export type ConfigName = keyof Config;

type Fields = { [N in ConfigName]: Field<Config[N]> };

export const fields: Fields = {
  data: {
    flag: '--data',
    variable: 'GANTRY_DATA',
    default: './data',
    meaning: 'folder of all data of Gantry (created with mode 0700)',
    read: (text) => resolve(text),
  },
  listen: {
    flag: '--listen',
    variable: 'GANTRY_LISTEN',
    default: '127.0.0.1:8080',
    meaning: 'address and port to listen on; port 0 selects any free port',
    read: readAddress,
  },
  ssh_listen: {
    flag: '--ssh-listen',
    variable: 'GANTRY_SSH_LISTEN',
    default: null,
    meaning: 'address and port of the SSH server for git, such as 0.0.0.0:2222; default: SSH is disabled',
    read: readAddress,
  },
  ssh_proxy_protocol: {
    variable: 'GANTRY_SSH_PROXY_PROTOCOL',
    default: 'false',
    meaning:
      'true: SSH connections from GANTRY_TRUSTED_PROXIES begin with a header of the PROXY protocol, version 2, which names the client; or false',
    read: readYes,
  },
  image_proxy: {
    variable: 'GANTRY_IMAGE_PROXY',
    default: 'true',
    meaning:
      'true: images of other sites in texts are loaded by the service and shown, which needs access to the Internet; false: they are links',
    read: readYes,
  },
  ssh_external: {
    flag: '--ssh-external',
    variable: 'GANTRY_SSH_EXTERNAL',
    default: null,
    meaning:
      'host and port at which clients reach SSH; default: the host of the external URL and the port of --ssh-listen',
    read: readAddress,
  },
  artifact_limit: {
    variable: 'GANTRY_ARTIFACT_LIMIT',
    default: '100',
    meaning: 'maximum megabytes of one artifact, unless the project sets max_artifacts_size; 0: no limit',
    read: readMegabytes,
  },
  pipeline_limit: {
    variable: 'GANTRY_PIPELINE_LIMIT',
    default: '25',
    meaning: 'maximum pipelines of one commit that one user may create per minute; 0: no limit',
    read: readLimit,
  },
  ci_include_origins: {
    variable: 'GANTRY_CI_INCLUDE_ORIGINS',
    default: '',
    meaning:
      'origins such as https://ci.example.com from which "include: remote" may fetch files, separated by commas; default: none',
    read: readOrigins,
  },
  active_jobs_limit: {
    variable: 'GANTRY_ACTIVE_JOBS_LIMIT',
    default: '20000',
    meaning: 'maximum waiting and running jobs of one project; 0: no limit',
    read: readLimit,
  },
  external_url: {
    flag: '--external-url',
    variable: 'GANTRY_EXTERNAL_URL',
    default: null,
    meaning: 'base of absolute URLs in responses; default: the scheme and host of the request',
    read: readUrl(['http:', 'https:']),
  },
  database_url: {
    variable: 'GANTRY_DATABASE_URL',
    default: null,
    meaning:
      'postgres://user:password@host/database, also ?connect_timeout=SECONDS; default: SQLite in the data folder',
    secret: true,
    read: readUrl(['postgres:', 'postgresql:']),
  },
  database_schema: {
    variable: 'GANTRY_DATABASE_SCHEMA',
    default: 'gantry',
    meaning: 'PostgreSQL schema, used only by Gantry',
    read: readMatching(/^[a-z_][a-z0-9_]{0,62}$/, 'a name of lower-case letters, digits and _'),
  },
  database_connections: {
    variable: 'GANTRY_DATABASE_CONNECTIONS',
    default: '10',
    meaning: 'maximum connections to PostgreSQL',
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
    meaning: 'first start only: password of the administrator root; default: a generated password',
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
      'file with the secrets of the instance, shared by all its services; default: secrets.json in the data folder',
    read: (text) => resolve(text),
  },
  trusted_proxies: {
    variable: 'GANTRY_TRUSTED_PROXIES',
    default: '',
    meaning: 'addresses or ranges whose X-Forwarded-* headers are trusted, separated by commas',
    read: readNetworks(1),
  },
  repository_storages: {
    variable: 'GANTRY_REPOSITORY_STORAGES',
    default: 'default',
    meaning:
      'storages of repositories, NAME, NAME=FOLDER, NAME=tls://HOST:PORT (a "gantry gitd") or NAME=tcp://HOST:PORT (a "gantry gitd" without TLS), separated by commas; default: a folder in the data folder',
    read: readStorages,
  },
  gitd_secret: {
    variable: 'GANTRY_GITD_SECRET',
    default: null,
    meaning: 'secret shared by the service and each remote "gantry gitd": at least 32 characters',
    secret: true,
    read: readMatching(/^[\x21-\x7e]{32,255}$/, '32 to 255 printable characters'),
  },
  gitd_ca: {
    variable: 'GANTRY_GITD_CA',
    default: null,
    meaning:
      'file with the CA certificates (PEM) of storages at tls:// addresses; default: public authorities',
    read: (text) => resolve(text),
  },
  sign_in_providers: {
    variable: 'GANTRY_SIGN_IN_PROVIDERS',
    default: '[]',
    meaning:
      'OpenID Connect providers: a JSON array of {name, label, issuer, client_id, client_secret, scopes}, or the path of a file with it',
    secret: true,
    read: readProviders,
  },
  registry: {
    variable: 'GANTRY_REGISTRY',
    default: null,
    meaning:
      'name of the container registry that accepts tokens of /jwt/auth (service in its auth.token settings); default: projects have no registry',
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
  ...mailFields,
  ...runnerFields,
  ...tracingFields,
  ...blobFields,
  ...backupFields,
  ...compatFields,
};

export const configNames = Object.keys(fields) as ConfigName[];
