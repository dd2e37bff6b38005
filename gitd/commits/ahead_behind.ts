/** Counts by how many commits branches are ahead of a commit and behind it. */
import { join } from 'node:path';
import { resolveRepositoryPath } from '../disk/storage_paths.ts';
import type { Context, MethodHandler } from '../handler_types.ts';
import { flag, isOid, symmetric } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import { makeLruCache } from '../lru_cache.ts';
import { quotedFolder } from '../odb/quarantine.ts';
import type { Divergence, Oid } from '../protocol_records.ts';
import { requireRepository } from '../storage/require_repository.ts';

const maxIds = 100;
/** Processes of one call. */
const parallel = 2;
const maxMilliseconds = 10_000;

/** Counts by ids; they never change. */
const counts = makeLruCache<Divergence>(50_000);

type Counting = { range: [Oid, Oid]; seconds: number; variables: { [name: string]: string } };

/** @throws GitError for a missing commit, or after `seconds` */
const countOne = async (context: Context, { range, seconds, variables }: Counting): Promise<Divergence> => {
  const { stdout } = await context.exec.run({
    command: 'rev-list',
    args: [flag('--count'), flag('--left-right'), symmetric(...range)],
    dir: context.dir,
    slot: 'interactive',
    seconds,
    signal: context.signal,
    variables,
  });
  const [behind = 0, ahead = 0] = stdout.toString('latin1').trim().split('\t').map(Number);
  return { ahead, behind };
};

/** Lets git read the objects of another repository of the storage. */
const borrowObjects = ({ root }: Context, source: string | undefined) =>
  source === undefined
    ? {}
    : {
        GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedFolder(join(resolveRepositoryPath(root, source), 'objects')),
      };

/** Long histories take long to compare, so commits without a count at the deadline get none. */
export const countAheadBehind: MethodHandler<'commits.ahead_behind'> = async (params, context) => {
  const { base, ids, milliseconds, source } = params;
  if (ids.length > maxIds) throw new GitError('too_large', 'too many in one request');
  if (![base, ...ids].every(isOid)) throw new GitError('invalid', 'not an object id');
  await requireRepository(context);
  const variables = borrowObjects(context, source);
  const toKey = (id: Oid): string => `${context.dir} ${base} ${id}`;
  const divergences = new Map(ids.map((id) => [id, counts.get(toKey(id))]));
  const waiting = [...divergences].flatMap(([id, divergence]) => (divergence === undefined ? [id] : []));
  const deadline = performance.now() + Math.min(milliseconds, maxMilliseconds);
  const work = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const left = deadline - performance.now();
      if (left <= 0) return;
      try {
        const divergence = await countOne(context, { range: [base, id], seconds: left / 1_000, variables });
        divergences.set(id, divergence);
        counts.set(toKey(id), divergence);
      } catch (error) {
        if (!(error instanceof GitError) || context.signal.aborted) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return { result: { counts: ids.map((id) => divergences.get(id) ?? null) } };
};
