/**
 * Finds the hooks of each change at the end of its transaction, and stores what they will deliver: the snapshot, one
 * pending delivery for each hook, and the work that sends them. Costs next to nothing if no hook exists.
 */
import { randomUUID } from 'node:crypto';
import { type RecordedChange, changesTopic } from '../../core/events/record_event.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import { insertRow, insertRows } from '../../platform/db/insert.ts';
import type { Store, Tx } from '../../platform/db/open.ts';
import { enqueueAll } from '../../platform/queue/enqueue.ts';
import { holdPauses } from '../hooks/pause_lock.ts';
import { hooksTopic } from '../hooks/topic.ts';
import { listNeededFlags } from './confidential_records.ts';
import { type HookFacts, type Scope, forgetHooksVersion, openHooks } from './hook_cache.ts';
import { listCandidates, listMatching, matchesBranch } from './match_hooks.ts';
import { type Plan, makePlans } from './hook_plans.ts';
import type { Snapshot } from './snapshots/snapshot.ts';
import { takeSnapshot } from './snapshots/take_snapshot.ts';
import { keepEvent } from './stored_events.ts';

/** Background work that sends the pending deliveries of a hook and a target. */
export const deliverHooksWork = 'hooks.deliver';

const maxRowsPerInsert = 20;

type MemberSource = { source_type?: string; source_id?: number };

const toScope = ({ kind, project_id, target_id, data, transient }: RecordedChange): Scope => {
  if (project_id !== null) return { project_id };
  if (kind.startsWith('group.')) return { group_id: target_id };
  const { source_type, source_id }: MemberSource = { ...data, ...transient };
  return source_type === 'Namespace' && source_id !== undefined ? { group_id: source_id } : null;
};

type Planned = { change: RecordedChange; plan: Plan };

/** Keeps one plan for each job and pipeline, and one for all refs of a push. */
const combine = (planned: readonly Planned[]): Planned[] => {
  const combined = new Map<string, Planned>();
  planned.forEach(({ change, plan }, at) => {
    const isUpdate = plan.payload === 'repository_update';
    const isStatus = change.kind.endsWith('.status');
    const key = isUpdate ? `update ${change.project_id}` : isStatus ? plan.target : `${at} ${plan.payload}`;
    const first = combined.get(key);
    if (first === undefined || !isUpdate) {
      const own = isUpdate ? { ...change, data: { ...change.data, refs: [change.data] } } : change;
      combined.set(key, { change: own, plan });
      return;
    }
    const { refs } = first.change.data as { refs: unknown[] };
    refs.push(change.data);
  });
  return [...combined.values()];
};

const passesBranchFilter = (hook: HookFacts, { payload, data }: Snapshot): boolean => {
  const { ref } = data as { ref?: string };
  return payload !== 'push' || ref === undefined || matchesBranch(hook, ref.replace(/^refs\/heads\//, ''));
};

const selectExisting = compiled((db, { ids }: { ids: readonly number[] }, dialect) =>
  db
    .selectFrom('hooks')
    .select(['id', 'disabled_until'])
    .where(dialect.oneOf('id', ids))
    .orderBy('id')
    .modifyEnd(dialect.forHold)
    .compile(),
);

const selectPaused = compiled((db, { ids, now }: { ids: readonly number[]; now: number }, dialect) =>
  db
    .selectFrom('hooks')
    .select('id')
    .where(dialect.oneOf('id', ids))
    .where('disabled_until', '>', now)
    .compile(),
);

type ExistingHook = { id: number; disabled_until: number | null };

/**
 * Returns the hooks that pause, and holds their pauses, so that the end of one waits for this transaction and finds what
 * it stores (`endPause`).
 */
const holdPaused = async (tx: Tx, hooks: readonly ExistingHook[]): Promise<Set<number>> => {
  const paused = hooks.filter(({ disabled_until }) => (disabled_until ?? 0) > tx.now);
  if (paused.length === 0) return new Set();
  const ids = paused.map(({ id }) => id);
  await holdPauses(tx, ids);
  // A pause may have ended before it was held.
  return new Set((await selectPaused(tx.db, { ids, now: tx.now })).map(({ id }) => id));
};

/** Enqueues the work of the hooks that do not pause. The others follow when their pause ends. */
const enqueueDeliveries = async (tx: Tx, hooks: readonly ExistingHook[], target: string): Promise<void> => {
  const paused = await holdPaused(tx, hooks);
  const active = hooks.filter(({ id }) => !paused.has(id));
  if (active.length === 0) return;
  await enqueueAll(
    tx,
    deliverHooksWork,
    active.map(({ id }) => makeDeliveryWork(id, target)),
  );
};

/** Stores a change for its hooks, but not for those that were deleted since they were found. */
const storeDeliveries = async (
  tx: Tx,
  found: readonly Pick<HookFacts, 'id'>[],
  { snapshot, event_id, target }: { snapshot: Snapshot; event_id: number | null; target: string },
): Promise<void> => {
  const hooks = await selectExisting(tx.db, { ids: found.map(({ id }) => id) });
  if (hooks.length === 0) return;
  const event = {
    trigger_name: snapshot.payload,
    uuid: randomUUID(),
    snapshot: JSON.stringify(snapshot),
    created_at: tx.now,
  };
  const project_id = snapshot.project?.id ?? null;
  const hook_event_id = await insertRow(tx.db, 'hook_events', { event_id, project_id, ...event });
  keepEvent(tx, hook_event_id, event);
  const rows = hooks.map(({ id: hook_id }) => ({ hook_id, hook_event_id, target, next_attempt_at: tx.now }));
  for (let at = 0; at < rows.length; at += maxRowsPerInsert)
    await insertRows(tx.db, 'hook_deliveries', rows.slice(at, at + maxRowsPerInsert));
  await enqueueDeliveries(tx, hooks, target);
};

/** Prefix of the turns of a hook's work. */
export const turnsOfHook = (hook_id: number): string => `hook ${hook_id} `;

/** The work that sends the pending deliveries of a hook and a target: one at a time, whatever the process. */
export const makeDeliveryWork = (hook_id: number, target: string) => {
  const turn = `${turnsOfHook(hook_id)}${target}`;
  return { payload: { hook_id, target }, options: { unique_key: turn, turn, startsAtOnce: true } };
};

const handlePlan = async (
  tx: Tx,
  { change, plan }: Planned,
  hooksOf: (scope: Scope) => Promise<HookFacts[]>,
): Promise<void> => {
  const candidates = listCandidates(await hooksOf(toScope(change)), plan);
  if (candidates.length === 0) return;
  const snapshot = await takeSnapshot(tx, change, plan);
  const matching = listMatching(candidates, plan, listNeededFlags(plan, snapshot)).filter((hook) =>
    passesBranchFilter(hook, snapshot),
  );
  if (matching.length === 0) return;
  await storeDeliveries(tx, matching, { snapshot, event_id: change.event_id, target: plan.target });
};

/** Handles the changes of one transaction. */
const handleChanges = async (tx: Tx, changes: readonly RecordedChange[]): Promise<void> => {
  const version = changes.find(({ hooks_version }) => hooks_version !== null)?.hooks_version ?? null;
  const hooksOf = await openHooks(tx, version);
  if (hooksOf === null) return;
  const planned: Planned[] = [];
  for (const change of changes) {
    if ((await hooksOf(toScope(change))).length === 0) continue;
    planned.push(...makePlans(change).map((plan) => ({ change, plan })));
  }
  for (const combined of combine(planned)) await handlePlan(tx, combined, hooksOf);
};

/** Starts handing the changes of a store to its hooks. */
export const observeChanges = (store: Store): (() => void) => {
  store.observe(changesTopic, async (tx, items) => await handleChanges(tx, items as RecordedChange[]));
  return store.listen(hooksTopic, () => forgetHooksVersion(store.db));
};
