/**
 * The hooks of a project, a group or the instance, cached by process. `hooks_version`, which the transaction of a
 * change reads, says whether the cache is current; while it is 0 no hook exists anywhere.
 */
import { sql } from 'kysely';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
import { compiled, getStoreKey } from '../../platform/db/compiled_query.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import { type LruCache, makeLruCache } from '../../platform/lru_cache.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import { eventFlagNames } from '../hooks/event_flags.ts';
import type { HookRow } from '../hooks/queries.ts';

export type HookFacts = Pick<
  HookRow,
  | 'id'
  | 'project_id'
  | 'group_id'
  | 'push_events_branch_filter'
  | 'branch_filter_strategy'
  | (typeof eventFlagNames)[number]
>;

/** Finds hooks that a change may concern, in addition to instance hooks. */
export type Scope = { project_id: number } | { group_id: number } | null;

type Cache = { version: string | null; hooks: LruCache<HookFacts[]> };

const maxCachedHooks = 50_000;

const newHooks = (): LruCache<HookFacts[]> => makeLruCache(maxCachedHooks, (hooks) => hooks.length + 1);

const getCache = memoizePerStore((): Cache => ({ version: null, hooks: newHooks() }));

const columns = [
  'id',
  'project_id',
  'group_id',
  'push_events_branch_filter',
  'branch_filter_strategy',
  ...eventFlagNames,
] as const;

const ofInstance = sql<boolean>`(project_id is null and group_id is null)`;

const hooksOfInstance = compiled((db) =>
  db.selectFrom('hooks').select(columns).where(ofInstance).orderBy('id').compile(),
);

const hooksOfGroup = compiled((db, { group_id }: { group_id: number }) =>
  db
    .selectFrom('hooks')
    .select(columns)
    .where(sql<boolean>`(${ofInstance} or group_id in ${selectAncestors(group_id)})`)
    .orderBy('id')
    .compile(),
);

const hooksOfProject = compiled((db, { project_id }: { project_id: number }) => {
  const namespace = sql<number>`(select namespace_id from projects where id = ${project_id})`;
  const groups = sql<number>`(
    with recursive ancestors (id, parent_id) as (
      select id, parent_id from namespaces where id = ${namespace}
      union
      select namespaces.id, namespaces.parent_id from namespaces join ancestors on namespaces.id = ancestors.parent_id
    ) select id from ancestors)`;
  return db
    .selectFrom('hooks')
    .select(columns)
    .where(sql<boolean>`(${ofInstance} or project_id = ${project_id} or group_id in ${groups})`)
    .orderBy('id')
    .compile();
});

const loadHooks = async ({ db }: Tx, scope: Scope): Promise<HookFacts[]> => {
  if (scope === null) return await hooksOfInstance(db, {});
  return await ('group_id' in scope ? hooksOfGroup(db, scope) : hooksOfProject(db, scope));
};

const toKey = (scope: Scope): string => {
  if (scope === null) return 'instance';
  return 'group_id' in scope ? `group ${scope.group_id}` : `project ${scope.project_id}`;
};

const selectVersion = compiled((db) =>
  db.selectFrom('instance').select('value').where('name', '=', 'hooks_version').compile(),
);

/** Reads `hooks_version`, for transactions that recorded no change. */
const readVersion = async ({ db }: Tx): Promise<string> => (await selectVersion(db, {}))[0]?.value ?? '0';

/** Drops what is known of the version, after a change of hooks. */
export const forgetHooksVersion = (db: Reader): void => void (getCache(getStoreKey(db)).version = null);

/**
 * Returns a function that finds the hooks of a scope; null if there are no hooks at all.
 * @param version as the transaction read it; null: not read, so the last known one counts
 */
export const openHooks = async (
  tx: Tx,
  version: string | null,
): Promise<((scope: Scope) => Promise<HookFacts[]>) | null> => {
  const cache = getCache(getStoreKey(tx.db));
  const current = version ?? cache.version ?? (await readVersion(tx));
  if (current !== cache.version) Object.assign(cache, { version: current, hooks: newHooks() });
  if (current === '0') return null;
  const { hooks } = cache;
  return async (scope) => {
    const key = toKey(scope);
    const cached = hooks.get(key);
    if (cached !== undefined) return cached;
    const loaded = await loadHooks(tx, scope);
    hooks.set(key, loaded);
    return loaded;
  };
};
