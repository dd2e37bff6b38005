/** The secrets of the instance: one file, the same for every service of it. */
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Secrets } from '../access/call.ts';
import type { Config } from '../config.ts';
import { StartFailure } from '../errors.ts';
import { writePrivate } from './data_folder.ts';
import { newSshHostKey } from './ssh_host_key.ts';

/** What a file holds: those of earlier versions have two keys alone. `instance`: the id of the instance. */
export type StoredSecrets = Pick<Secrets, 'session_key' | 'encryption_key'> &
  Partial<Secrets> & { instance?: string };

export const secretsPath = ({ secrets_file, data }: Pick<Config, 'secrets_file' | 'data'>): string =>
  secrets_file ?? join(data, 'secrets.json');

const isKey = (value: unknown): value is string => typeof value === 'string' && value !== '';

/**
 * null: there is no such file.
 * @throws StartFailure for a file that cannot be read, or that lacks what every version wrote
 */
export const readSecrets = (file: string): StoredSecrets | null => {
  if (!existsSync(file)) return null;
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Partial<StoredSecrets>;
    const { session_key, encryption_key } = value;
    if (!isKey(session_key) || !isKey(encryption_key)) throw new Error('a key is missing');
    return { ...value, session_key, encryption_key };
  } catch (error) {
    throw new StartFailure(`${file} cannot be read (${(error as Error).message}): restore it from a backup`);
  }
};

const newRegistryKey = (): string =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey;

const newKey = (): string => randomBytes(32).toString('hex');

/** Earlier versions kept it beside the secrets. */
const earlierHostKey = (data: string): string | null => {
  const file = join(data, 'ssh_host_ed25519_key');
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
};

/** Makes what is missing: all of it at a first start, and what earlier versions did not have. */
export const completeSecrets = (stored: StoredSecrets | null, data: string): StoredSecrets & Secrets => ({
  ...stored,
  session_key: stored?.session_key ?? newKey(),
  encryption_key: stored?.encryption_key ?? newKey(),
  registry_key: stored?.registry_key ?? newRegistryKey(),
  ssh_host_key: stored?.ssh_host_key ?? earlierHostKey(data) ?? newSshHostKey(),
});

const names = ['session_key', 'encryption_key', 'registry_key', 'ssh_host_key'] as const;
export type SecretName = (typeof names)[number];

/** By which the database tells the secrets apart; nothing of them follows from it. */
export const fingerprintsOf = (secrets: StoredSecrets): Map<SecretName, string> =>
  new Map(
    names.flatMap((name) => {
      const value = secrets[name];
      if (value === undefined) return [];
      return [[name, createHash('sha256').update(`gantry ${name}\n${value.trim()}`).digest('hex')]];
    }),
  );

const textOf = (secrets: StoredSecrets): string => `${JSON.stringify(secrets, null, 2)}\n`;

const cannotWrite = (file: string, error: unknown): StartFailure =>
  new StartFailure(
    `${file} cannot be written (${(error as Error).message}): start once with a file that can, then share that`,
  );

/**
 * Makes the file; of several services that make it at once, one does.
 * @returns whether it was this one
 */
export const createSecretsFile = (file: string, secrets: StoredSecrets): boolean => {
  const draft = `${file}.${newKey().slice(0, 12)}`;
  try {
    writePrivate(draft, textOf(secrets));
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cannotWrite(file, error);
  } finally {
    rmSync(draft, { force: true });
  }
};

/** @throws StartFailure where the file is not for us to write */
export const replaceSecretsFile = (file: string, secrets: StoredSecrets): void => {
  try {
    writePrivate(`${file}.new`, textOf(secrets));
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw cannotWrite(file, error);
  }
};
