/** Activities: the changes of the log that the events API and the activity pages show. */
import { sql } from 'kysely';
import { insertRows } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { ActivitiesTable, ActivityAction, ActivitySubject } from '../../platform/db/schema/core.ts';
import type { Cause } from '../access/audit.ts';
import type { Change } from './change.ts';

type Activity = Pick<
  ActivitiesTable,
  'action' | 'target_type' | 'target_id' | 'subject_type' | 'subject_id'
> & {
  author_id?: number;
  data?: object;
};

type Data = Record<string, unknown>;
type Derive = (change: Change, data: Data) => Activity | null;

/** An activity on a record with its own visibility rule. */
const onRecord =
  (subject_type: ActivitySubject, action: ActivityAction): Derive =>
  ({ target_id }) => ({ action, target_type: subject_type, target_id, subject_type, subject_id: target_id });

/** An activity without a target. */
const inProject =
  (subject_type: ActivitySubject, action: ActivityAction): Derive =>
  () => ({ action, target_type: null, target_id: null, subject_type, subject_id: null });

const ofMember =
  (action: ActivityAction): Derive =>
  (change, data) => {
    const activity = inProject('Member', action)(change, data);
    return activity === null ? null : { ...activity, author_id: Number(data['user_id']) };
  };

const onNote: Derive = ({ target_id }, { noteable_type, noteable_id }) => ({
  action: 'commented',
  target_type: 'Note',
  target_id,
  subject_type: noteable_type as ActivitySubject,
  subject_id: Number(noteable_id),
});

const onCommit: Derive = ({ target_id }) => ({
  action: 'commented',
  target_type: 'CommitComment',
  target_id,
  subject_type: 'Commit',
  subject_id: null,
});

const push: Derive = (change, data) => {
  const activity = inProject('Commit', 'pushed')(change, data);
  return activity === null ? null : { ...activity, data };
};

const ofMilestoneUpdate: Derive = (change, { state }) => {
  if (!Array.isArray(state)) return null;
  return onRecord('Milestone', state[1] === 'closed' ? 'closed' : 'reopened')(change, {});
};

const ofMilestoneDeletion: Derive = (change, { title }) => {
  const activity = onRecord('Milestone', 'destroyed')(change, {});
  return activity === null ? null : { ...activity, data: { title } };
};

/** Maps each kind of change to an activity. Other kinds create no activity. */
const derivations: Record<string, Derive> = {
  'issue.created': onRecord('Issue', 'created'),
  'issue.closed': onRecord('Issue', 'closed'),
  'issue.reopened': onRecord('Issue', 'reopened'),
  'merge_request.created': onRecord('MergeRequest', 'created'),
  'merge_request.closed': onRecord('MergeRequest', 'closed'),
  'merge_request.reopened': onRecord('MergeRequest', 'reopened'),
  'merge_request.merged': onRecord('MergeRequest', 'merged'),
  'merge_request.approved': onRecord('MergeRequest', 'approved'),
  'milestone.created': onRecord('Milestone', 'created'),
  'milestone.updated': ofMilestoneUpdate,
  'milestone.deleted': ofMilestoneDeletion,
  'note.created': onNote,
  'commit_comment.created': onCommit,
  'ref.created': push,
  'ref.updated': push,
  'ref.deleted': push,
  'project.created': inProject('Project', 'created'),
  'member.added': ofMember('joined'),
  'member.removed': ofMember('left'),
  'member.expired': ofMember('expired'),
};

/** Deletions that end all activity on the record, by the columns that refer to it. */
const deletions: Record<string, 'subject' | 'target'> = {
  'issue.deleted': 'subject',
  'merge_request.deleted': 'subject',
  'milestone.deleted': 'subject',
  'note.deleted': 'target',
  'commit_comment.deleted': 'target',
};

const deleteActivities = async (tx: Tx, { kind, target_type, target_id }: Change): Promise<void> => {
  const columns = deletions[kind];
  if (columns === undefined) return;
  const query = tx.db
    .deleteFrom('activities')
    .where(`${columns}_type`, '=', target_type as ActivitySubject)
    .where(`${columns}_id`, '=', target_id);
  // The condition of the index `activities_target`.
  await (
    columns === 'target' ? query.where(sql<boolean>`target_type in ('Note', 'CommitComment')`) : query
  ).execute();
};

/** Stores the activity of a change, if it has one, and deletes the activities of a record that the change deletes. */
export const recordActivity = async (tx: Tx, cause: Cause | null, change: Change): Promise<void> => {
  await deleteActivities(tx, change);
  const activity = derivations[change.kind]?.(change, (change.data ?? {}) as Data) ?? null;
  if (activity === null || change.project_id === null) return;
  const { author_id = cause?.user.id, data = {}, ...columns } = activity;
  if (author_id === undefined) return;
  const row = { created_at: tx.now, project_id: change.project_id, author_id, ...columns };
  await insertRows(tx.db, 'activities', [{ ...row, data: JSON.stringify(data) }]);
};
