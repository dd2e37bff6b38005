/** Restores one project of a backup into the running instance, as a new project with new ids. */
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../../../platform/config/fields.ts';
import { migrate } from '../../../platform/db/migrate.ts';
import type { Store } from '../../../platform/db/open.ts';
import { StartFailure } from '../../../platform/errors.ts';
import { openBytes } from '../../../platform/blob/open_stores.ts';
import { systemClock } from '../../../platform/time.ts';
import { ensureGhost } from '../../../identity/users/ghost_user.ts';
import { getAvatarArea } from '../../../identity/avatars/store_avatar.ts';
import { openAnyStore } from '../../service/open_database.ts';
import { openStoragesAsGuest } from '../../service/open_storages.ts';
import type { Manifest } from '../manifest.ts';
import type { BackupReader } from '../places/backup_place.ts';
import { extractDatabase } from '../restore.ts';
import { type Snapshot, openSnapshot } from '../snapshot.ts';
import { type Copying, copyRows, renewUploadSecrets } from './copy_rows.ts';
import type { RestoredProject } from './column_rules.ts';
import {
  type ProjectRow,
  findPlace,
  insertHidden,
  postponeRemoval,
  publishProject,
  removeHidden,
} from './hidden_project.ts';
import { mapInheritedRecords } from './inherited_records.ts';
import { matchUsers } from './match_users.ts';
import { restoreProjectFiles } from './restore_project_files.ts';
import { restoredTables } from './tables/restored_tables.ts';

export type ProjectRestore = {
  config: Config;
  store: Store;
  log: Logger;
  place: BackupReader;
  manifest: Manifest;
  /** The id of the running instance. */
  instance: string;
  /** Full path in the backup, and in the running instance. */
  from: string;
  to: string;
  /** An empty folder that the caller removes. */
  scratch: string;
  /** Called when a part begins, with the number of its items, and after each of them. */
  onPart: (label: string, total: number) => void;
  advance: () => void;
};

export type ProjectRestored = {
  id: number;
  full_path: string;
  /** Users of the backup whom the instance does not have: the ghost is the author of what they wrote. */
  unknown_users: number;
  /** True if variables were restored: they can be decrypted only in the instance of the backup. */
  with_variables: boolean;
};

/** Extracts the database and brings it to the schema of this version. */
const openMigrated = async (restore: ProjectRestore): Promise<Snapshot> => {
  const { config, scratch } = restore;
  const file = await extractDatabase(restore, `${scratch}/database`);
  const local = { ...config, database_url: null, data: dirname(file) };
  const store = await openAnyStore({ config: local, clock: systemClock, onFatal: () => undefined });
  try {
    await migrate(store);
  } finally {
    await store.close();
  }
  return openSnapshot(file);
};

const findProject = (snapshot: Snapshot, { from, manifest }: ProjectRestore): ProjectRow => {
  const [row] = snapshot.all<ProjectRow>(
    'select * from projects where lower(full_path) = lower(?) and deleted_at is null',
    from,
  );
  if (row === undefined) throw new StartFailure(`the backup ${manifest.name} has no project "${from}"`);
  return row;
};

/** Returns the storage of the project, or the first one where that is not configured. */
const chooseStorage = ({ repository_storages }: Config, named: string): string =>
  repository_storages.some(({ name }) => name === named) ? named : (repository_storages[0]?.name ?? named);

const newAvatar = (avatar: string | null): string | null => {
  if (avatar === null) return null;
  const [sha256 = '', name = ''] = avatar.split('/');
  return `${sha256}/${randomBytes(16).toString('hex')}.${name.split('.')[1] ?? 'png'}`;
};

type Filling = { restore: ProjectRestore; copying: Copying; row: ProjectRow; target: ProjectRow };

const fillRows = async ({ restore, copying }: Filling): Promise<boolean> => {
  const { onPart, advance, manifest, instance } = restore;
  const withSealed = manifest.instance === instance;
  onPart('tables restored', restoredTables.length);
  await renewUploadSecrets(copying, () => randomBytes(16).toString('hex'));
  await copyRows(copying, withSealed, async (table) => {
    advance();
    if (table === 'milestones') await mapInheritedRecords(copying);
  });
  return withSealed;
};

const fillFiles = async ({ restore, copying, row, target }: Filling): Promise<void> => {
  const { config, store, log, place, manifest, instance, onPart, advance } = restore;
  const { snapshot, project } = copying;
  const { repositories, blobs: files, logs } = manifest.counts;
  onPart('files of the backup searched', repositories + files + logs);
  const git = openStoragesAsGuest(config, instance);
  const { blobs, traces, close } = await openBytes({ config, store, log, instance, isGuest: true });
  const jobs = snapshot.all<{ id: number; trace_key: string | null }>(
    'select id, trace_key from jobs where project_id = ?',
    row.id,
  );
  const avatar =
    row.avatar === null || target.avatar === null
      ? null
      : { from: getAvatarArea(row.avatar), to: getAvatarArea(target.avatar) };
  const traceKeys = new Map(jobs.map((job) => [job.id, job.trace_key]));
  const parts = { place, manifest, blobs, traces, git, project, location: target, traceKeys, avatar };
  try {
    await restoreProjectFiles(parts, advance);
  } finally {
    await close();
    await git.stop();
  }
};

const loadTopics = (snapshot: Snapshot, id: number): string[] =>
  snapshot
    .all<{ name: string }>(
      'select name from project_topics join topics on topics.id = topic_id where project_id = ? order by position',
      id,
    )
    .map(({ name }) => name);

/** Milliseconds between two renewals of the time after which an abandoned project is removed. */
const renewalPause = 60_000;

const fill = async (
  restore: ProjectRestore,
  snapshot: Snapshot,
  { row, id }: { row: ProjectRow; id: number },
): Promise<Omit<ProjectRestored, 'id' | 'full_path'>> => {
  const { store, manifest, instance } = restore;
  const users = await matchUsers(store.db, snapshot, manifest.instance === instance);
  const ghostId = await store.write(async (tx) => await ensureGhost(tx, null));
  const ids = new Map<string, Map<number, number>>();
  const project: RestoredProject = { oldId: row.id, id, ids, users, ghostId, uploadSecrets: new Map() };
  const creator_id = row.creator_id === null ? null : (users.ids.get(row.creator_id) ?? null);
  const target = await store.db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await store.write(
    async ({ db }) => await db.updateTable('projects').set({ creator_id }).where('id', '=', id).execute(),
  );
  const filling = { restore, copying: { store, snapshot, project }, row, target };
  const with_variables = await fillRows(filling);
  await fillFiles(filling);
  const [all] = snapshot.all<{ count: number }>('select count(*) as count from users');
  return { unknown_users: (all?.count ?? 0) - users.ids.size, with_variables };
};

/** Fills the hidden project, and publishes it. After a failure, the service removes it. */
const fillAndPublish = async (
  restore: ProjectRestore,
  snapshot: Snapshot,
  target: Parameters<typeof publishProject>[1] & { row: ProjectRow },
): Promise<ProjectRestored> => {
  const { store } = restore;
  const { id, row } = target;
  const renewal = setInterval(() => void postponeRemoval(store, id).catch(() => undefined), renewalPause);
  try {
    const filled = await fill(restore, snapshot, { row, id });
    const full_path = await publishProject(store, target, loadTopics(snapshot, row.id));
    return { id, full_path, ...filled };
  } catch (error) {
    await removeHidden(store, id).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(renewal);
  }
};

/**
 * Restores a project next to a running service. It is visible once it is whole.
 * @throws StartFailure if the path is taken, or the backup has no such project or is damaged
 */
export const restoreProject = async (restore: ProjectRestore): Promise<ProjectRestored> => {
  const { store, config, to } = restore;
  const place = await findPlace(store, to);
  const snapshot = await openMigrated(restore);
  try {
    const row = findProject(snapshot, restore);
    const repository_storage = chooseStorage(config, row.repository_storage);
    const project = { ...row, creator_id: null, repository_storage, avatar: newAvatar(row.avatar) };
    const id = await insertHidden(store, { ...place, project });
    return await fillAndPublish(restore, snapshot, { ...place, project, id, row });
  } finally {
    snapshot.close();
  }
};
