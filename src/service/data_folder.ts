import { generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Secrets } from '../access/call.ts';
import { StartFailure } from '../errors.ts';

/** Creates the folder (mode 0700) where it is missing; refuses one that cannot be written or that others can read. */
export const prepareFolder = (folder: string): void => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!statSync(folder).isDirectory()) throw new Error('it is not a folder');
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    chmodSync(folder, 0o700);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartFailure(
      `the data folder ${folder} cannot be used (${why}): mend it, or name another with --data`,
    );
  }
};

/** Holds the folder for this process; the system lets go of it however the process ends. */
export const lockFolder = (folder: string): { release: () => void } => {
  const lock = new DatabaseSync(join(folder, 'lock'));
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch {
    lock.close();
    throw new StartFailure(`another Gantry runs on ${folder}: stop it, or name another folder with --data`);
  }
  return { release: () => lock.close() };
};

const secretsFile = 'secrets.json';

const newRegistryKey = (): string =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey;

const textOf = (secrets: Secrets): string => `${JSON.stringify(secrets, null, 2)}\n`;

/**
 * Reads the secrets, or makes them at the first start.
 * @param isFirstStart whether the database is empty: beside one that is not, a missing file is a loss, not a start
 */
export const openSecrets = (folder: string, isFirstStart: boolean): Secrets => {
  const file = join(folder, secretsFile);
  if (existsSync(file)) return completeSecrets(file);
  if (!isFirstStart) {
    throw new StartFailure(
      `${file} is missing beside a database in use: restore it from the backup of this folder`,
    );
  }
  const key = (): string => randomBytes(32).toString('hex');
  const secrets = { session_key: key(), encryption_key: key(), registry_key: newRegistryKey() };
  writePrivate(file, textOf(secrets));
  return secrets;
};

/** Those of an older version, which knew fewer, are added to. */
const completeSecrets = (file: string): Secrets => {
  const kept = readSecrets(file);
  if (kept.registry_key !== undefined) return { ...kept, registry_key: kept.registry_key };
  const secrets = { ...kept, registry_key: newRegistryKey() };
  writePrivate(`${file}.new`, textOf(secrets));
  renameSync(`${file}.new`, file);
  return secrets;
};

type KeptSecrets = Omit<Secrets, 'registry_key'> & { registry_key?: string };

/** @throws StartFailure for a file that cannot be read, or that lacks what every version wrote */
export const readSecrets = (file: string): KeptSecrets => {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Partial<Secrets>;
    const { session_key, encryption_key } = value;
    if (typeof session_key !== 'string' || typeof encryption_key !== 'string')
      throw new Error('a key is missing');
    return { ...value, session_key, encryption_key };
  } catch (error) {
    throw new StartFailure(`${file} cannot be read (${(error as Error).message}): restore it from a backup`);
  }
};

/** A file that only its owner can read, on disk before this returns. */
export const writePrivate = (file: string, text: string): void => {
  writeFileSync(file, text, { mode: 0o600, flush: true });
};
