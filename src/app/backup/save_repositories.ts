/** Adds the repositories, each as a chain of packs and a list of refs. */
import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Reader } from '../../platform/db/open.ts';
import { StartFailure } from '../../platform/errors.ts';
import { isGitFailure } from '../../platform/git/failure.ts';
import type { Repository, RepositoryLocation } from '../../platform/git/repository.ts';
import { forEachConcurrently } from '../../platform/for_each_concurrently.ts';
import { type GitStorages, getRepositoryPath } from '../../platform/git/storages.ts';
import type { RepositoryLine, StoredObject } from './manifest.ts';
import { readObject } from './places/backup_place.ts';
import { type Refs, formatRefs, parseRefs, setInternalRefs, undoMoves } from './refs_at_point.ts';
import { type Saving, addObject, concurrency } from './save_blobs.ts';

export type SavingRepositories = Saving & {
  git: GitStorages;
  /** The running database. */
  db: Reader;
};

type Row = RepositoryLocation & { full_path: string };

/** Packs of a chain. Then the repository is written whole, so that old packs can be removed. */
const maxPacks = 30;
/** Seconds to list the refs of a repository. */
const listTimeout = 300;

const readRefs = async (saving: SavingRepositories, repository: Repository, row: Row): Promise<Refs> => {
  const { body } = await repository.read('refs.dump', {}, { seconds: listTimeout });
  const { db, snapshot } = saving;
  const refs = await undoMoves(parseRefs(body.toString()), { db, snapshot, projectId: row.id });
  return setInternalRefs(refs, snapshot, row.id);
};

const removeMissing = (refs: Refs, missing: ReadonlySet<string>, onLost: (name: string) => void): void => {
  for (const [name, id] of refs) {
    if (!missing.has(id)) continue;
    refs.delete(name);
    if (/^refs\/(?:heads|tags)\//.test(name)) onLost(name);
  }
};

/**
 * Adds a pack of the objects that `tips` reach and `not` does not; null if there are none. Also returns the tips that
 * do not exist.
 */
const addPack = async (
  saving: Saving,
  repository: Repository,
  range: { tips: string[]; not: string[] },
): Promise<{ pack: StoredObject | null; missing: string[] }> => {
  if (range.tips.length === 0) return { pack: null, missing: [] };
  const stream = await repository.stream('pack.dump', range);
  try {
    stream.writable.end();
    const stored = await addObject(saving, stream.readable);
    const { missing } = await stream.result;
    return { pack: stored.size === 0 ? null : stored, missing };
  } finally {
    stream.destroy();
  }
};

type Earlier = { packs: StoredObject[]; ids: string[] };

/** Finds a repository in the backup before; null: it is not there, or some of its objects are missing or damaged. */
const findEarlier = ({ earlier, objects }: Saving, path: string): RepositoryLine | null => {
  const line = earlier.get(`repository ${path}`);
  if (line?.kind !== 'repository') return null;
  return [...line.packs, line.refs].every(objects.has) ? line : null;
};

/** Loads what the backup before has of a repository. */
const loadEarlier = async ({ place }: Saving, line: RepositoryLine | null): Promise<Earlier> => {
  const nothing = { packs: [], ids: [] };
  if (line === null || line.packs.length >= maxPacks) return nothing;
  try {
    const refs = parseRefs((await readObject(place, line.refs.sha256)).toString());
    return { packs: line.packs, ids: [...new Set(refs.values())] };
  } catch (error) {
    if (error instanceof StartFailure) return nothing; // damaged
    throw error;
  }
};

type Saved = { line: RepositoryLine; refs: number };

const saveRepository = async (saving: SavingRepositories, row: Row): Promise<Saved> => {
  const repository = saving.git.repository(row);
  const path = getRepositoryPath(row);
  const refs = await readRefs(saving, repository, row);
  const earlierLine = findEarlier(saving, path);
  if (earlierLine?.refs.sha256 === hash('sha256', formatRefs(refs)))
    return { line: { ...earlierLine, project_id: row.id, storage: row.repository_storage }, refs: refs.size };
  const { packs, ids } = await loadEarlier(saving, earlierLine);
  const had = new Set(ids);
  const tips = [...new Set(refs.values())].filter((id) => !had.has(id));
  const { pack, missing } = await addPack(saving, repository, { tips, not: ids });
  removeMissing(refs, new Set(missing), (name) =>
    saving.report(`${row.full_path}: git does not have what ${name} names`),
  );
  const line: RepositoryLine = {
    kind: 'repository',
    project_id: row.id,
    storage: row.repository_storage,
    path,
    packs: pack === null ? packs : [...packs, pack],
    refs: await addObject(saving, Readable.from([Buffer.from(formatRefs(refs))])),
  };
  return { line, refs: refs.size };
};

/** @returns the number of repositories and of their refs */
export const saveRepositories = async (
  saving: SavingRepositories,
): Promise<{ repositories: number; refs: number }> => {
  const counts = { repositories: 0, refs: 0 };
  const rows = saving.snapshot.each<Row>(
    `select id, full_path, repository_storage, repository_path, repository_written from projects
      where repository_written = 1 and deleted_at is null order by id`,
  );
  await forEachConcurrently(rows, concurrency, async (row) => {
    try {
      const { line, refs } = await saveRepository(saving, row);
      counts.repositories += 1;
      counts.refs += refs;
      await saving.write(line);
    } catch (error) {
      if (!isGitFailure(error) || error.kind === 'unavailable') throw error;
      saving.report(`${row.full_path}: its repository could not be read (${error.message})`);
    }
    saving.advance();
  });
  return counts;
};
