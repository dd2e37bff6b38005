/** Updates the database after refs of a project have moved: events, activity, background work. */
import type { Platform } from '../../../core/platform.ts';
import { sql } from 'kysely';
import type { Store, Tx } from '../../../platform/db/open.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import { type Oid, type RefUpdate, zeroOid } from '../../../platform/git/protocol_types.ts';
import { type Payload, enqueue } from '../../../platform/queue/enqueue.ts';
import { projectTurn } from '../../../projects/projects/lock_project.ts';
import { adoptDefaultBranch } from '../branches/adopt_default_branch.ts';
import { type DefaultHead, findNewBranchBase, isNewBranch } from './default_head.ts';
import type { Operation } from './operation_types.ts';
import { branchPrefix } from './resolve.ts';

/** Background work that updates merge requests and creates pipelines. */
export const refsMovedWork = 'repository.refs_moved';

export type RefsMoved = {
  project_id: number;
  user_id: number | null;
  kind: string;
  updates: RefUpdate[];
  /** True if the pusher requested no pipeline (`ci.skip`). */
  skip_ci: boolean;
  /** Sealed push options (`ci_push_options.ts`); null if none. */
  sealed_options: string | null;
  /** Commit that new branches start at; null: they have all of their commits; undefined: not known. */
  branch_base?: Oid | null | undefined;
  moved_at: number;
};

/** Parses the payload of `refsMovedWork`, whose updates are JSON. */
export const readRefsMoved = ({
  project_id,
  user_id,
  kind,
  updates,
  skip_ci,
  sealed_options,
  branch_base,
  moved_at,
}: Payload): RefsMoved => ({
  project_id: Number(project_id),
  user_id: user_id === null || user_id === undefined ? null : Number(user_id),
  kind: String(kind),
  updates: JSON.parse(String(updates)) as RefUpdate[],
  skip_ci: skip_ci === true,
  sealed_options: typeof sealed_options === 'string' ? sealed_options : null,
  branch_base: branch_base as Oid | null | undefined,
  moved_at: Number(moved_at ?? 0),
});

/** Maximum events recorded for one push. */
const maxEvents = 50;

/**
 * Chooses the default branch of a project without one. Among several new branches, prefers the instance's default name,
 * then `main` and `master`.
 */
const chooseDefaultBranch = (updates: readonly RefUpdate[], usual: string): string | null => {
  const names = updates
    .filter((update) => update.new !== zeroOid && update.ref.startsWith(branchPrefix))
    .map(({ ref }) => ref.slice(branchPrefix.length));
  return [usual, 'main', 'master'].find((name) => names.includes(name)) ?? names[0] ?? null;
};

const eventKind = ({ old, new: newOid }: RefUpdate): string => {
  if (newOid === zeroOid) return 'ref.deleted';
  return old === zeroOid ? 'ref.created' : 'ref.updated';
};

const recordRefEvents = async (
  tx: Tx,
  operation: Operation,
  branch_base: Oid | null | undefined,
): Promise<void> => {
  const { project_id, cause, updates } = operation;
  const { push_options } = operation.data;
  for (const update of updates.slice(0, maxEvents)) {
    await recordEvent(tx, cause, {
      kind: eventKind(update),
      project_id,
      target_type: 'Project',
      target_id: project_id,
      data: { ref: update.ref, before: update.old, after: update.new },
      transient: {
        ...(Array.isArray(push_options) && { push_options }),
        ...(branch_base !== undefined && isNewBranch(update) && { branch_base }),
      },
    });
  }
};

const isVisible = ({ ref }: RefUpdate): boolean => /^refs\/(?:heads|tags)\//.test(ref);

/**
 * Records the time of the last activity, as the last step of the transaction that completes an operation. Skips a
 * locked project instead of waiting; the background work then records it (`recordActivityAt`).
 */
export const recordActivity = async (tx: Tx, { project_id, updates }: Operation): Promise<void> => {
  if (!updates.some(isVisible)) return;
  await sql`update projects set last_activity_at = ${tx.now} where id in
    (select id from projects where id = ${project_id} and last_activity_at < ${tx.now} ${tx.dialect.skipLocked})`.execute(
    tx.db,
  );
};

/** Records the time of an activity that `recordActivity` skipped. */
export const recordActivityAt = async (store: Store, { project_id, moved_at }: RefsMoved): Promise<void> => {
  const isRecorded = await store.db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', project_id)
    .where('last_activity_at', '>=', moved_at)
    .executeTakeFirst();
  if (isRecorded !== undefined) return;
  await store.write(
    async ({ db }) =>
      await db
        .updateTable('projects')
        .set({ last_activity_at: moved_at })
        .where('id', '=', project_id)
        .where('last_activity_at', '<', moved_at)
        .execute(),
    projectTurn(project_id),
  );
};

/** Runs in the transaction that completes an operation. `operation.updates` must be the updates that git has made. */
export const recordRefsMoved = async (platform: Platform, tx: Tx, operation: Operation): Promise<void> => {
  const { project_id, kind, cause, updates } = operation;
  const visible = updates.filter(isVisible);
  if (visible.length === 0) return;
  const visibleOperation = { ...operation, updates: visible };
  const first = chooseDefaultBranch(visible, platform.config.default_branch);
  if (first !== null) await adoptDefaultBranch(tx, platform, project_id, first);
  // Locks the project at its first write only.
  await tx.db
    .updateTable('projects')
    .set({ repository_written: 1 })
    .where('id', '=', project_id)
    .where('repository_written', '=', 0)
    .execute();
  const { push_options, sealed_options, default_head } = operation.data;
  const branch_base = findNewBranchBase(default_head as DefaultHead | undefined, visible, first);
  await recordRefEvents(tx, visibleOperation, branch_base);
  const user_id = cause?.user.id ?? null;
  const skip_ci = Array.isArray(push_options) && push_options.includes('ci.skip');
  await enqueue(tx, refsMovedWork, {
    project_id,
    user_id,
    kind,
    updates: JSON.stringify(visible),
    skip_ci,
    ...(typeof sealed_options === 'string' && { sealed_options }),
    ...(branch_base !== undefined && { branch_base }),
    moved_at: tx.now,
  });
};
