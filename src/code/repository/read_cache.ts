/**
 * Caches answers of the repository storage that pages and the API need repeatedly. Answers that depend only on object
 * ids never change. Answers about branches and tags are cached until a ref operation begins or ends, or a project
 * changes: every change of a branch or tag does one of these. Other refs change without such a row, so answers that
 * may depend on them are cached until the next database commit. PostgreSQL does not count changes by table, so there
 * all answers about refs are cached until the next commit.
 */
import type { Call } from '../../core/access/call.ts';
import { compiled, getStoreKey, getTableVersion } from '../../platform/db/compiled_query.ts';
import { everyTable, handMadeChangeAge, refTables } from '../../platform/db/keep_until_change.ts';
import { noteReadTables, withoutNoting } from '../../platform/db/read_tables.ts';
import type { Method } from '../../platform/git/protocol_types.ts';
import type { Repository } from '../../platform/git/repository.ts';
import { makeLruCache } from '../../platform/lru_cache.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
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
  'blob.sizes',
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

const maxCharacters = 12 * 1024 * 1024;
/** Longer answers are asked for each time. */
const maxAnswer = 512 * 1024;

type Loaded = { result: unknown; body: Buffer };

/** `branches`: states of branches and tags; `commit`: the last commit; null: no state. */
type Scope = 'branches' | 'commit' | null;

type Kept = Loaded & { scope: Scope; stamp: string | null; until: number; weight: number };

/** By store: another service in this process may count the same states. */
const getCache = memoizePerStore((_store: object) =>
  makeLruCache<Kept>(maxCharacters, ({ weight }) => weight),
);

const selectState = compiled((db, _none: object, dialect) => dialect.state.compile(db));

type Stamps = Record<'branches' | 'commit', string>;

const stampsOfCalls = new WeakMap<Call, Promise<Stamps>>();

const readStamps = async (call: Call): Promise<Stamps> => {
  const branches = getTableVersion(call.db, refTables);
  const commit = getTableVersion(call.db, everyTable);
  if (branches !== null && commit !== null) return { branches, commit };
  const [row] = await withoutNoting(async () => await selectState(call.db, {}));
  const state = row?.state ?? '';
  return { branches: state, commit: state };
};

/** Returns the states at the start of a call, read once: answers are never older than they are. */
const getStamps = async (call: Call): Promise<Stamps> => {
  const pending = stampsOfCalls.get(call);
  if (pending !== undefined) return await pending;
  const read = readStamps(call);
  stampsOfCalls.set(call, read);
  return await read;
};

/** Checks for an answer that could be complete later: objects that are missing now may be pushed. */
const hasGap = (result: unknown): boolean => {
  if (result === null) return true;
  const { commits, sizes } = result as { commits?: unknown[]; sizes?: unknown[] };
  return (commits ?? sizes ?? []).includes(null);
};

const isBranchOrTag = (name: string): boolean =>
  name.startsWith('refs/heads/') || name.startsWith('refs/tags/');

/** A whole id names an object before it names a branch. */
const isWholeId = (revision: string): boolean => /^[0-9a-f]{40}$/i.test(revision);

/** Returns what an answer depends on. */
const getScope = (method: Method, params: object, result: unknown): Scope => {
  if (!ofRefs.has(method)) return null;
  const { names, prefix, revision } = params as { names?: string[]; prefix?: string; revision?: string };
  if (names !== undefined) return names.every(isBranchOrTag) ? 'branches' : 'commit';
  if (prefix !== undefined) return isBranchOrTag(prefix) ? 'branches' : 'commit';
  const ref = (result as { ref?: string | null } | null)?.ref ?? '';
  return isBranchOrTag(ref) && !isWholeId(revision ?? '') ? 'branches' : 'commit';
};

/** Notes what an answer was read from, for answers of endpoints that are cached whole. */
const noteScope = (scope: Scope): void => {
  if (scope !== null) noteReadTables(scope === 'branches' ? refTables : null);
};

const find = async (call: Call, key: string): Promise<Kept | undefined> => {
  const cached = getCache(getStoreKey(call.db)).get(key);
  if (cached === undefined || cached.scope === null) return cached;
  const isCurrent = (await getStamps(call))[cached.scope] === cached.stamp;
  return isCurrent && performance.now() < cached.until ? cached : undefined;
};

const answer = async (
  call: Call,
  repository: Repository,
  [method, params]: [Method, object],
  load: () => Promise<Loaded>,
): Promise<Loaded> => {
  const dependsOnRefs = ofRefs.has(method);
  if (!dependsOnRefs && !ofObjects.has(method)) return await load();
  const key = `${repository.storage} ${repository.path} ${method} ${JSON.stringify(params)}`;
  const cached = await find(call, key);
  if (cached !== undefined) {
    noteScope(cached.scope);
    return cached;
  }
  // Read before the answer, which is therefore never older.
  const stamps = dependsOnRefs ? await getStamps(call) : null;
  const loaded = await withoutNoting(load);
  if (!dependsOnRefs && hasGap(loaded.result)) {
    noteReadTables(null);
    return loaded;
  }
  const scope = getScope(method, params, loaded.result);
  noteScope(scope);
  const length = key.length + loaded.body.length + JSON.stringify(loaded.result).length;
  if (length <= maxAnswer) {
    const stamp = scope === null ? null : (stamps?.[scope] ?? null);
    const until = scope === null ? Infinity : performance.now() + handMadeChangeAge;
    getCache(getStoreKey(call.db)).set(key, { ...loaded, scope, stamp, until, weight: length + 200 });
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
