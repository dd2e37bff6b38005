/** Moves comments on lines to the same lines in a new version of the merge request. */
import type { Platform } from '../../core/platform.ts';
import type { RepositoryLocation } from '../../platform/git/repository.ts';
import { type Position, parsePosition } from '../notes/position.ts';
import { tracePosition } from './trace_position.ts';
import type { LoadedNoteable } from '../issuables/target.ts';
import {
  type Version,
  type VersionDiff,
  diffBetween,
  isVersion,
  latestVersion,
  loadDiffText,
} from './diff_versions.ts';

/** Limit of positions that are moved per merge request; the rest keep their place. */
const maxPositions = 2000;

/** The positions that notes at the same place share. */
type StoredPosition = { original_position: string | null; position: string };

const loadPlaces = async ({ store }: Platform, mergeRequestId: number): Promise<StoredPosition[]> => {
  const rows = await store.db
    .selectFrom('notes')
    .select(['original_position', 'position'])
    .distinct()
    .where('target_type', '=', 'MergeRequest')
    .where('target_id', '=', mergeRequestId)
    .where('type', '=', 'DiffNote')
    .where('position', 'is not', null)
    .limit(maxPositions)
    .execute();
  return rows.flatMap(({ position, original_position }) =>
    position === null ? [] : [{ original_position, position }],
  );
};

/** Finds the file of the version that corresponds to the commented file. */
const findFile = ({ files }: Version, { old_path, new_path }: Position): VersionDiff | undefined =>
  files.find((file) => file.new_path === new_path) ?? files.find((file) => file.old_path === old_path);

type Diff = (from: string, to: string, paths: [string, string]) => Promise<string | null>;

/** Makes a cached diff loader, so that git computes the diff of a file once for all its comments. */
const cachedDiffLoader = (platform: Platform, project: RepositoryLocation): Diff => {
  const diffs = new Map<string, Promise<string | null>>();
  return async (from, to, [from_path, to_path]) => {
    const key = JSON.stringify([from, to, from_path, to_path]);
    const diff = diffs.get(key) ?? diffBetween(platform, project, { from, from_path, to, to_path });
    diffs.set(key, diff);
    return await diff;
  };
};

type Tracing = { version: Version; diff: Diff; loadText: (file: VersionDiff) => Promise<string> };

/** Returns the position in the new version; null if its line no longer exists. */
const findNewPosition = async (
  position: Position,
  { version, diff, loadText: textOf }: Tracing,
): Promise<Position | null> => {
  const file = findFile(version, position);
  if (file === undefined) return null;
  const { base_sha, start_sha, head_sha } = version;
  const shas = { base_sha, start_sha, head_sha };
  if (position.position_type !== 'text') {
    // Without lines, the file is either unchanged or its position is lost.
    const { old_path, new_path } = file;
    const since = await diff(position.head_sha, head_sha, [position.new_path, new_path]);
    return since === '' ? { ...position, ...shas, old_path, new_path } : null;
  }
  const isRemoved = position.new_line === null;
  const [heads, bases] = await Promise.all([
    isRemoved ? '' : diff(position.head_sha, head_sha, [position.new_path, file.new_path]),
    isRemoved ? diff(position.base_sha, base_sha, [position.old_path, file.old_path]) : '',
  ]);
  if (heads === null || bases === null) return null;
  const shown = { ...file, diff: await textOf(file) };
  return tracePosition(position, { heads, bases }, { file: shown, shas });
};

/** Returns the new position, or the original one if the line is gone: a later version may restore the line. */
const movePosition = async (
  { position, original_position }: StoredPosition,
  tracing: Tracing,
): Promise<string> => {
  const now = parsePosition(position);
  if (now === null || now.head_sha === tracing.version.head_sha) return position;
  const newPosition = await findNewPosition(now, tracing);
  return newPosition === null ? (original_position ?? position) : JSON.stringify(newPosition);
};

/** Prepares the tracing of positions into the newest version; null if the merge request has none. */
const openTracing = async (
  platform: Platform,
  project: RepositoryLocation,
  mergeRequestId: number,
): Promise<Tracing | null> => {
  const version = await latestVersion(platform.store.db, mergeRequestId);
  if (version === null) return null;
  const texts = new Map<VersionDiff, Promise<string>>();
  const loadText = async (file: VersionDiff): Promise<string> => {
    const text = texts.get(file) ?? loadDiffText(platform, project, version, file);
    texts.set(file, text);
    return await text;
  };
  return { version, diff: cachedDiffLoader(platform, project), loadText };
};

/**
 * Returns the position of a new comment in the newest version, if it is on a line of a single commit.
 * @returns the unchanged position for a comment on a version, or if its line is not in the newest version
 */
export const findPresentPosition = async (
  platform: Platform,
  { project, target }: LoadedNoteable,
  position: Position,
): Promise<Position> => {
  if (await isVersion(platform.store.db, target.id, position)) return position;
  const tracing = await openTracing(platform, project, target.id);
  return tracing === null ? position : ((await findNewPosition(position, tracing)) ?? position);
};

/**
 * Moves comments on lines to the same lines of the newest version of a merge request, also after a force push.
 * A comment whose line is gone returns to its original position. Idempotent.
 * @param project the target project of the merge request
 */
export const moveDiscussionPositions = async (
  platform: Platform,
  project: RepositoryLocation,
  mergeRequestId: number,
): Promise<void> => {
  const places = await loadPlaces(platform, mergeRequestId);
  if (places.length === 0) return;
  const tracing = await openTracing(platform, project, mergeRequestId);
  if (tracing === null) return;
  const changes: (StoredPosition & { to: string })[] = [];
  for (const stored of places) {
    const to = await movePosition(stored, tracing);
    if (to !== stored.position) changes.push({ ...stored, to });
  }
  if (changes.length > 0) await store(platform, mergeRequestId, changes);
};

const store = async (
  { store: { write } }: Platform,
  mergeRequestId: number,
  changes: (StoredPosition & { to: string })[],
): Promise<void> => {
  await write(async ({ db }) => {
    for (const { original_position, position, to } of changes) {
      await db
        .updateTable('notes')
        .set({ position: to })
        .where('target_type', '=', 'MergeRequest')
        .where('target_id', '=', mergeRequestId)
        .where('type', '=', 'DiffNote')
        .where('original_position', '=', original_position)
        .where('position', '=', position)
        .execute();
    }
  });
};
