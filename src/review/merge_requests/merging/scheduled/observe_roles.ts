/** Checks waiting merges again when their users get a role (also through a share or a move), or are unblocked. */
import { type RecordedChange, changesTopic } from '../../../../core/events/record_event.ts';
import type { Store, Tx } from '../../../../platform/db/open.ts';
import { enqueueAutoMerge } from '../../../../planning/issuables/auto_merge_work.ts';
import {
  enqueueWaitingMerges,
  enqueueWaitingMergesOfGroup,
} from '../../../../projects/projects/enqueue_waiting_merges.ts';

const memberKinds = ['member.added', 'member.updated'];

/** Returns the user who may now be able to merge; null if there is none. */
const getPromoted = ({ kind, target_id, data = {} }: RecordedChange): number | null => {
  if (memberKinds.includes(kind)) return (data as { user_id: number }).user_id;
  const isPromoted = kind === 'user.unblocked' || (kind === 'user.updated' && 'admin' in data);
  return isPromoted ? target_id : null;
};

const checkMergesOf = async (tx: Tx, userId: number): Promise<void> => {
  const waiting = await tx.db
    .selectFrom('merge_requests')
    .select('id')
    .where('merge_user_id', '=', userId)
    .where('merge_when_pipeline_succeeds', '=', 1)
    .where('state', '=', 'opened')
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute();
  for (const { id } of waiting) await enqueueAutoMerge(tx, id);
};

/** Verbs of changes that may give a role to the members of a group: a share, or a move into another group. */
const placeVerbs = new Set(['shared', 'share_changed', 'transferred']);

const mayGiveRoles = ({ kind }: RecordedChange): boolean => placeVerbs.has(kind.split('.')[1] ?? '');

const checkMergesOfPlace = async (tx: Tx, { kind, target_id }: RecordedChange): Promise<void> => {
  const [place] = kind.split('.');
  if (place === 'project') await enqueueWaitingMerges(tx, target_id);
  if (place === 'group') await enqueueWaitingMergesOfGroup(tx, target_id);
};

/** Starts observing the changes of roles in a store. */
export const observeRoles = (store: Store): void =>
  store.observe(changesTopic, async (tx, items) => {
    const changes = items as RecordedChange[];
    const promoted = changes.map(getPromoted).filter((id) => id !== null);
    for (const id of new Set(promoted)) await checkMergesOf(tx, id);
    for (const change of changes.filter(mayGiveRoles)) await checkMergesOfPlace(tx, change);
  });
