/**
 * Caches answers of the repository storage that pages and the API need repeatedly. Answers that depend only on object
 * ids never change. Answers that depend on refs are cached until the next database commit, because every change of refs
 * ends with a commit.
 */
import type { Call } from '../../core/access/call.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Method } from '../../platform/git/protocol_types.ts';
import type { Repository } from '../../platform/git/repository.ts';
import { makeLruCache } from '../../platform/lru_cache.ts';
import { type Project, findProjectFor } from '../../projects/projects/find.ts';
import { type Code, openCode } from './find_code.ts';

/** Their parameters name objects by id. */
const ofObjects: ReadonlySet<Method> = new Set<Method>([
  'commits.list',
  'commits.get',
  'commits.merge_base',
  'commits.merged',
  'commits.stats',
  'tree.list',
  'blob.at',
  'blame.file',
  'contributors.list',
  'diff.files',
]);
const ofRefs: ReadonlySet<Method> = new Set<Method>([
  'refs.get',
  'refs.list',
  'refs.names',
  'revision.resolve',
]);

/** Milliseconds after which refs are read again, for changes made to the repository by hand. */
const maxAge = 10_000;
const maxCharacters = 12 * 1024 * 1024;
/** Longer answers are asked for each time. */
const maxAnswer = 512 * 1024;

type Kept = { result: unknown; body: Buffer; stamp: string | null; until: number; weight: number };

const kept = makeLruCache<Kept>(maxCharacters, ({ weight }) => weight);

const selectState = compiled((db, _none: object, dialect) => dialect.state.compile(db));

const stamps = new WeakMap<Call, Promise<string>>();

/** Returns the state of the database at the start of a call, read once: answers are never older than it. */
const getStamp = async (call: Call): Promise<string> => {
  const known = stamps.get(call);
  if (known !== undefined) return await known;
  const read = selectState(call.db, {}).then(([row]) => row?.state ?? '');
  stamps.set(call, read);
  return await read;
};

/** Checks for an answer that could be complete later: objects that are missing now may be pushed. */
const hasGap = (result: unknown): boolean => {
  if (result === null) return true;
  const { commits } = result as { commits?: unknown[] };
  return commits?.includes(null) === true;
};

const answer = async (
  call: Call,
  repository: Repository,
  [method, params]: [Method, object],
  load: () => Promise<{ result: unknown; body: Buffer }>,
): Promise<{ result: unknown; body: Buffer }> => {
  const dependsOnRefs = ofRefs.has(method);
  if (!dependsOnRefs && !ofObjects.has(method)) return await load();
  const stamp = dependsOnRefs ? await getStamp(call) : null;
  const key = `${repository.storage} ${repository.path} ${method} ${JSON.stringify(params)}`;
  const cached = kept.get(key);
  if (cached !== undefined && cached.stamp === stamp && performance.now() < cached.until) return cached;
  const loaded = await load();
  if (!dependsOnRefs && hasGap(loaded.result)) return loaded;
  const length = key.length + loaded.body.length + JSON.stringify(loaded.result).length;
  if (length <= maxAnswer) {
    const until = dependsOnRefs ? performance.now() + maxAge : Infinity;
    kept.set(key, { ...loaded, stamp, until, weight: length + 200 });
  }
  return loaded;
};

const none = Buffer.alloc(0);

/** Wraps a repository for reads of one call, which must not change its refs. Answers are shared: do not change them. */
const withCache = (call: Call, repository: Repository): Repository => ({
  ...repository,
  ask: async (method, params, body, options) => {
    const load = async () => ({
      result: (await repository.ask(method, params, body, options)) as unknown,
      body: none,
    });
    const { result } = await answer(call, repository, [method, params], load);
    return result as Awaited<ReturnType<typeof repository.ask<typeof method>>>;
  },
  read: async (method, params, options) => {
    const load = async () => await repository.read(method, params, options);
    const { result, body } = await answer(call, repository, [method, { ...params, read: 1 }], load);
    return { result: result as Awaited<ReturnType<typeof repository.ask<typeof method>>>, body };
  },
});

/** Like `openCode`, with cached answers: for read-only calls. */
export const openCachedCode = (call: Call, project: Project): Code => {
  const code = openCode(call, project);
  return { ...code, repository: withCache(call, code.repository) };
};

/** Like `findCode` for reading, with cached answers: for read-only calls. */
export const findCachedCode = async (call: Call, id: number | string): Promise<Code> =>
  openCachedCode(call, await findProjectFor(call, id, 'read_code'));
