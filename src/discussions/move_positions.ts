/** Comments on lines follow their lines into a new version of the merge request. */
import type { Platform } from '../access/call.ts';
import type { RepositoryPlace } from '../git/repository.ts';
import { type Position, positionOf } from '../notes/position.ts';
import { tracePosition } from './trace.ts';
import { type Version, type VersionDiff, diffBetween, diffTextOf, latestVersion } from './versions.ts';

/** Positions of one merge request that are followed at once; more than that stay where they are. */
const mostPositions = 2000;

/** What notes share that stand at the same place. */
type Placed = { original_position: string | null; position: string };

const placesOf = async ({ store }: Platform, mergeRequestId: number): Promise<Placed[]> => {
  const rows = await store.db
    .selectFrom('notes')
    .select(['original_position', 'position'])
    .distinct()
    .where('target_type', '=', 'MergeRequest')
    .where('target_id', '=', mergeRequestId)
    .where('type', '=', 'DiffNote')
    .where('position', 'is not', null)
    .limit(mostPositions)
    .execute();
  return rows.flatMap(({ position, original_position }) =>
    position === null ? [] : [{ original_position, position }],
  );
};

/** The file of the version that the commented one became. */
const fileIn = ({ files }: Version, { old_path, new_path }: Position): VersionDiff | undefined =>
  files.find((file) => file.new_path === new_path) ?? files.find((file) => file.old_path === old_path);

type Diff = (from: string, to: string, paths: [string, string]) => Promise<string | null>;

/** Asks git once for each file and pair of commits, however many comments stand in it. */
const asker = (platform: Platform, project: RepositoryPlace): Diff => {
  const asked = new Map<string, Promise<string | null>>();
  return async (from, to, [from_path, to_path]) => {
    const key = JSON.stringify([from, to, from_path, to_path]);
    const known = asked.get(key) ?? diffBetween(platform, project, { from, from_path, to, to_path });
    asked.set(key, known);
    return await known;
  };
};

type Tracing = { version: Version; diff: Diff; textOf: (file: VersionDiff) => Promise<string> };

/** The position in the version; null: its line is not there. */
const traced = async (position: Position, { version, diff, textOf }: Tracing): Promise<Position | null> => {
  const file = fileIn(version, position);
  if (file === undefined) return null;
  const { base_sha, start_sha, head_sha } = version;
  const shas = { base_sha, start_sha, head_sha };
  if (position.position_type !== 'text') {
    // Of what has no lines it is only known whether it is the same.
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

/** Where its line is lost, it stands again where it was written, and is looked for from there: lines come back. */
const moved = async ({ position, original_position }: Placed, tracing: Tracing): Promise<string> => {
  const now = positionOf(position);
  if (now === null || now.head_sha === tracing.version.head_sha) return position;
  const found = await traced(now, tracing);
  return found === null ? (original_position ?? position) : JSON.stringify(found);
};

/**
 * Moves the comments on lines of a merge request to where their lines are in its newest version, also after a force
 * push; one whose line is gone stands again where it was written. May be done twice.
 * @param project whose merge request it is, the target
 */
export const moveDiscussionPositions = async (
  platform: Platform,
  project: RepositoryPlace,
  mergeRequestId: number,
): Promise<void> => {
  const places = await placesOf(platform, mergeRequestId);
  if (places.length === 0) return;
  const version = await latestVersion(platform.store.db, mergeRequestId);
  if (version === null) return;
  const texts = new Map<VersionDiff, Promise<string>>();
  const textOf = async (file: VersionDiff): Promise<string> => {
    const text = texts.get(file) ?? diffTextOf(platform, project, version, file);
    texts.set(file, text);
    return await text;
  };
  const tracing = { version, diff: asker(platform, project), textOf };
  const changes: (Placed & { to: string })[] = [];
  for (const place of places) {
    // oxlint-disable-next-line no-await-in-loop -- one file after another: a storage has others to serve
    const to = await moved(place, tracing);
    if (to !== place.position) changes.push({ ...place, to });
  }
  if (changes.length > 0) await store(platform, mergeRequestId, changes);
};

const store = async (
  { store: { write } }: Platform,
  mergeRequestId: number,
  changes: (Placed & { to: string })[],
): Promise<void> => {
  await write(async ({ db }) => {
    for (const { original_position, position, to } of changes) {
      // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
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
