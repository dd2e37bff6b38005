/** Proves a backup: restores it to a scratch folder, compares everything with its manifest, and boots it. */
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Config } from '../../platform/config/fields.ts';
import { StartFailure } from '../../platform/errors.ts';
import type { GitStorages } from '../../platform/git/storages.ts';
import { openStoragesAsGuest } from '../service/open_storages.ts';
import { requireSpace, scratchRemedy } from '../service/require_space.ts';
import { secretsPath } from '../service/secrets.ts';
import { databaseFile } from '../service/open_database.ts';
import { measureRestored } from './checks/backup_sizes.ts';
import { describeDamage } from './checks/find_damage.ts';
import { readContents } from './contents.ts';
import type { Manifest, RepositoryLine } from './manifest.ts';
import { type BackupReader, readObject } from './places/backup_place.ts';
import { openRepository } from './restore_files.ts';
import { type RestoreParts, extractDatabase, restoreBackup } from './restore.ts';
import { countRows, openSnapshot } from './snapshot.ts';

export type VerifyParts = Omit<RestoreParts, 'config' | 'isTrial'> & {
  /** The configuration of the instance, for its secrets if the backup has none. */
  config: Config;
  /** An empty folder that the caller removes. */
  scratch: string;
  /** Starts a service with a configuration, asks it whether it is ready, and stops it. */
  boot: (config: Config) => Promise<void>;
};

/** Returns a configuration in which everything is below the scratch folder, and nothing reaches other systems. */
const isolate = (config: Config, scratch: string, storages: readonly string[]): Config => ({
  ...config,
  data: join(scratch, 'data'),
  listen: { host: '127.0.0.1', port: 0 },
  // The scratch service must not answer for the instance, and this process asks whether it is ready.
  external_url: null,
  monitoring_allow: ['127.0.0.0/8'],
  ssh_listen: null,
  database_url: null,
  secrets_file: null,
  repository_storages: storages.map((name) => ({ name, path: null, address: null })),
  blob_s3_endpoint: null,
  blob_s3_public_endpoint: null,
  blob_s3_bucket: null,
  smtp_url: null,
  confirm_addresses: false,
  runner_executor: 'none',
  quiet: true,
  backup_schedule: null,
  backup_scratch: null,
  // The scratch folder has room for one database.
  upgrade_copy: false,
  log_level: 'silent',
});

const listStorages = (file: string): string[] => {
  const snapshot = openSnapshot(file);
  const rows = snapshot.all<{ name: string }>(
    'select distinct repository_storage as name from projects order by 1',
  );
  snapshot.close();
  return rows.length === 0 ? ['default'] : rows.map(({ name }) => name);
};

const compareCounts = async (file: string, { tables }: Manifest): Promise<void> => {
  const counted = await countRows(file);
  const wrong = Object.keys({ ...counted, ...tables }).find((name) => counted[name] !== tables[name]);
  if (wrong === undefined) return;
  throw new StartFailure(`the table ${wrong} has ${counted[wrong]} rows in place of ${tables[wrong]}`);
};

/** Deletes the rows by which the restored service would act: send webhooks and mail, run jobs and background work. */
const silence = (config: Config): void => {
  const database = new DatabaseSync(databaseFile(config));
  database.exec(
    'delete from work; delete from hooks; delete from integrations; delete from mails; delete from pending_jobs',
  );
  database.close();
};

/** Seconds for git fsck of one repository. */
const fsckTimeout = 3_600;

const checkRepository = async (
  { place, git }: { place: BackupReader; git: GitStorages },
  line: RepositoryLine,
): Promise<void> => {
  const repository = openRepository(git, line);
  const { body } = await repository.read('refs.dump', {});
  const savedRefs = (await readObject(place, line.refs.sha256)).toString();
  const sort = (text: string): string => text.split('\n').toSorted().join('\n');
  if (sort(body.toString()) !== sort(savedRefs))
    throw new StartFailure(`the refs of project ${line.project_id} differ`);
  const { problems } = await repository.ask('repository.check', {}, undefined, { seconds: fsckTimeout });
  if (problems.length > 0)
    throw new StartFailure(`git fsck of project ${line.project_id}: ${problems.slice(0, 3).join('; ')}`);
};

const checkRepositories = async (
  config: Config,
  { place, manifest, onPart, advance }: VerifyParts,
): Promise<void> => {
  onPart('repositories checked', manifest.counts.repositories);
  const git = openStoragesAsGuest(config, manifest.instance);
  try {
    for await (const line of readContents(place, manifest)) {
      if (line.kind !== 'repository') continue;
      await checkRepository({ place, git }, line);
      advance();
    }
  } finally {
    await git.stop();
  }
};

/** Copies the secrets of this instance where the backup has none. */
const provideSecrets = (config: Config, { config: own, manifest }: VerifyParts): void => {
  if (manifest.secrets !== null) return;
  const file = secretsPath(own);
  if (!existsSync(file)) throw new StartFailure(`the backup has no secrets, and ${file} is missing`);
  mkdirSync(config.data, { recursive: true, mode: 0o700 });
  copyFileSync(file, secretsPath(config));
};

const restoreAndCheck = async (parts: VerifyParts): Promise<void> => {
  const { config: own, manifest, scratch, boot, onPart, advance } = parts;
  const folder = join(scratch, 'database');
  const file = await extractDatabase(parts, folder);
  await compareCounts(file, manifest);
  const config = isolate(own, scratch, listStorages(file));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(config.data, { recursive: true, mode: 0o700 });
  provideSecrets(config, parts);
  await restoreBackup({ ...parts, config, isTrial: true });
  await checkRepositories(config, parts);
  silence(config);
  onPart('service started', 1);
  await boot(config);
  advance();
};

/** Runs a step. If it fails because objects are damaged, these are recorded, and the error names them. */
const explainDamage = async <T>({ place, manifest }: VerifyParts, step: () => Promise<T>): Promise<T> => {
  try {
    return await step();
  } catch (error) {
    // git or the database may fail on damaged bytes before their digest is checked.
    const damage = await describeDamage(place, manifest).catch(() => null);
    throw damage === null ? error : new StartFailure(damage);
  }
};

/**
 * Verifies a backup. Damaged objects are recorded in its place, so that the next backup stores them again.
 * @throws StartFailure that says what is wrong
 */
export const verifyBackup = async (parts: VerifyParts): Promise<void> => {
  const { place, manifest } = parts;
  if (manifest.problems.length > 0)
    throw new StartFailure(
      `when the backup was made, files were missing: ${manifest.problems.slice(0, 10).join('; ')}`,
    );
  const bytes = await explainDamage(parts, async () => await measureRestored(place, manifest));
  const remedy = `${scratchRemedy}, or verify on another machine`;
  requireSpace({ folder: parts.scratch, bytes, purpose: `verifying ${manifest.name}`, remedy });
  await explainDamage(parts, async () => await restoreAndCheck(parts));
};
