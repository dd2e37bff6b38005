/** The secrets of the instance: one file, shared by all of its services. */
import { generateKeyPairSync, hash, randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Secrets } from '../../core/platform.ts';
import type { Config } from '../../platform/config/fields.ts';
import { StartFailure } from '../../platform/errors.ts';
import { writePrivate } from './data_folder.ts';
import { newSshHostKey } from './ssh_host_key.ts';

/**
 * The content of a secrets file. Files of earlier versions have two keys only. `instance`: the id of the instance.
 */
export type StoredSecrets = Pick<Secrets, 'session_key' | 'encryption_key'> &
  Partial<Secrets> & { instance?: string };

export const secretsPath = ({ secrets_file, data }: Pick<Config, 'secrets_file' | 'data'>): string =>
  secrets_file ?? join(data, 'secrets.json');

const isKey = (value: unknown): value is string => typeof value === 'string' && value !== '';

/**
 * Reads the secrets file; null if it does not exist.
 * @throws StartFailure if it is unreadable or lacks a key that every version wrote
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

/** Reads the SSH host key that earlier versions stored in a separate file. */
const readEarlierHostKey = (data: string): string | null => {
  const file = join(data, 'ssh_host_ed25519_key');
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
};

/** Adds the SSH host key to secrets of an earlier version, which stored it in a separate file. */
const addEarlierHostKey = (stored: StoredSecrets, data: string): StoredSecrets => {
  const ssh_host_key = stored.ssh_host_key ?? readEarlierHostKey(data);
  return ssh_host_key === null ? stored : { ...stored, ssh_host_key };
};

/** Adds missing secrets: all secrets at a first start, otherwise secrets that earlier versions lacked. */
export const completeSecrets = (stored: StoredSecrets | null, data: string): StoredSecrets & Secrets => ({
  ...stored,
  session_key: stored?.session_key ?? newKey(),
  encryption_key: stored?.encryption_key ?? newKey(),
  registry_key: stored?.registry_key ?? newRegistryKey(),
  ssh_host_key: stored?.ssh_host_key ?? readEarlierHostKey(data) ?? newSshHostKey(),
});

const names = ['session_key', 'encryption_key', 'registry_key', 'ssh_host_key'] as const;
export type SecretName = (typeof names)[number];

export const isComplete = (stored: StoredSecrets): boolean =>
  names.every((name) => stored[name] !== undefined);

/** Returns one-way fingerprints by which the database recognizes the secrets. */
export const computeFingerprints = (secrets: StoredSecrets): Map<SecretName, string> =>
  new Map(
    names.flatMap((name) => {
      const value = secrets[name];
      if (value === undefined) return [];
      return [[name, hash('sha256', `gantry ${name}\n${value.trim()}`, 'hex')]];
    }),
  );

/**
 * Returns the first secret whose fingerprint the database has recorded and that is another here, or is missing; null:
 * none.
 */
export const findDifferingSecret = (
  recorded: ReadonlyMap<string, string>,
  stored: StoredSecrets,
  data: string,
): { name: SecretName; isMissing: boolean } | null => {
  const present = computeFingerprints(addEarlierHostKey(stored, data));
  const name = names.find((one) => recorded.has(one) && recorded.get(one) !== present.get(one));
  return name === undefined ? null : { name, isMissing: !present.has(name) };
};

const formatSecrets = (secrets: StoredSecrets): string => `${JSON.stringify(secrets, null, 2)}\n`;

const cannotWrite = (file: string, error: unknown): StartFailure =>
  new StartFailure(
    `${file} cannot be written (${(error as Error).message}): start once with a file that can, then share that`,
  );

/**
 * Creates the file. If several services create it concurrently, one succeeds.
 * @returns whether this service created it
 */
export const createSecretsFile = (file: string, secrets: StoredSecrets): boolean => {
  const draft = `${file}.${newKey().slice(0, 12)}`;
  try {
    writePrivate(draft, formatSecrets(secrets));
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cannotWrite(file, error);
  } finally {
    rmSync(draft, { force: true });
  }
};

/** Replaces the file. @throws StartFailure if it is not writable */
export const replaceSecretsFile = (file: string, secrets: StoredSecrets): void => {
  try {
    writePrivate(`${file}.new`, formatSecrets(secrets));
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw cannotWrite(file, error);
  }
};
