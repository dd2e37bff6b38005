/** Parts of the process: created once by `app/main.ts` and passed to everything else. */
import type { Logger } from 'pino';
import type { AppendFiles } from '../platform/blob/append_files.ts';
import type { Blobs } from '../platform/blob/blob_files.ts';
import type { Config } from '../platform/config/fields.ts';
import type { Sourced } from '../platform/config/read_config.ts';
import type { Store } from '../platform/db/open.ts';
import type { GitStorages } from '../platform/git/storages.ts';
import type { SettingsSource } from './settings/settings_store.ts';
import type { Clock } from '../platform/time.ts';

/** Keys of the instance. Never stored in the database. */
export type Secrets = {
  /** 32 random bytes each, hexadecimal. */
  session_key: string;
  encryption_key: string;
  /** PEM private key that signs the tokens of the container registry. */
  registry_key: string;
  /** OpenSSH private key: the SSH host key of the instance. */
  ssh_host_key: string;
};

export type Platform = {
  config: Config;
  /** Where each setting comes from. */
  configOrigin: Sourced['origin'];
  store: Store;
  settings: SettingsSource;
  secrets: Secrets;
  blobs: Blobs;
  /** Job logs. */
  traces: AppendFiles;
  git: GitStorages;
  clock: Clock;
  random: (bytes: number) => Buffer;
  log: Logger;
  version: string;
  revision: string;
  /** Public base URL, for texts that no request causes. */
  baseUrl: () => string;
  /** Returns whether the web interface has a page, such as `GET /-/projects/:project/pipelines`. */
  hasPage: (line: string) => boolean;
};
