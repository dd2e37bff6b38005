/** What follows in the database when refs of a project have moved, whoever moved them. */
import type { Platform } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { recordEvent } from '../events/record.ts';
import { type RefUpdate, zeroOid } from '../git/protocol_types.ts';
import { type Payload, enqueue } from '../queue/queue.ts';
import { takeFirstBranch } from './first_branch.ts';
import type { Operation } from './operations.ts';
import { branchPrefix } from './resolve.ts';

/** The background work that merge requests (and pipelines) listen to. */
export const refsMovedWork = 'repository.refs_moved';

export type RefsMoved = {
  project_id: number;
  user_id: number | null;
  kind: string;
  updates: RefUpdate[];
  /** The pusher wants no pipeline. */
  skip_ci: boolean;
  /** Options of the push that carry secrets (`ci_push_options.ts`); null: none. */
  sealed_options: string | null;
  moved_at: number;
};

/** Of the payload of `refsMovedWork`, whose updates are JSON. */
export const readRefsMoved = ({
  project_id,
  user_id,
  kind,
  updates,
  skip_ci,
  sealed_options,
  moved_at,
}: Payload): RefsMoved => ({
  project_id: Number(project_id),
  user_id: user_id === null || user_id === undefined ? null : Number(user_id),
  kind: String(kind),
  updates: JSON.parse(String(updates)) as RefUpdate[],
  skip_ci: skip_ci === true,
  sealed_options: typeof sealed_options === 'string' ? sealed_options : null,
  moved_at: Number(moved_at ?? 0),
});

/** More of one push are not told one by one. */
const mostEvents = 50;

/**
 * The branch that becomes the default one: the first of a project without any. Of several, the one that is named as
 * the instance names them.
 */
const firstBranch = (updates: readonly RefUpdate[], usual: string): string | null => {
  const names = updates
    .filter((update) => update.new !== zeroOid && update.ref.startsWith(branchPrefix))
    .map(({ ref }) => ref.slice(branchPrefix.length));
  return [usual, 'main', 'master'].find((name) => names.includes(name)) ?? names[0] ?? null;
};

const eventKind = ({ old, new: now }: RefUpdate): string => {
  if (now === zeroOid) return 'ref.deleted';
  return old === zeroOid ? 'ref.created' : 'ref.updated';
};

const tell = async (tx: Tx, operation: Operation): Promise<void> => {
  const { project_id, cause, updates } = operation;
  for (const update of updates.slice(0, mostEvents)) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    await recordEvent(tx, cause, {
      kind: eventKind(update),
      project_id,
      target_type: 'Project',
      target_id: project_id,
      data: { ref: update.ref, before: update.old, after: update.new },
    });
  }
};

/** In the transaction that completes an operation; its updates are those that git has made. */
export const refsMoved = async (platform: Platform, tx: Tx, operation: Operation): Promise<void> => {
  const { project_id, kind, cause, updates } = operation;
  const visible = updates.filter(({ ref }) => /^refs\/(?:heads|tags)\//.test(ref));
  if (visible.length === 0) return;
  const told = { ...operation, updates: visible };
  const first = firstBranch(visible, platform.config.default_branch);
  if (first !== null) await takeFirstBranch(tx, platform, project_id, first);
  await tx.db
    .updateTable('projects')
    .set({ last_activity_at: tx.now, repository_written: 1 })
    .where('id', '=', project_id)
    .execute();
  await tell(tx, told);
  const user_id = cause?.user.id ?? null;
  const { push_options, sealed_options } = operation.data;
  const skip_ci = Array.isArray(push_options) && push_options.includes('ci.skip');
  await enqueue(tx, refsMovedWork, {
    project_id,
    user_id,
    kind,
    updates: JSON.stringify(visible),
    skip_ci,
    ...(typeof sealed_options === 'string' && { sealed_options }),
    moved_at: tx.now,
  });
};
