/** What follows an edit of an issue: its search text, who is told of it, and what the change log keeps. */
import type { UpdateObject } from 'kysely';
import type { Actor } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import type { Schema } from '../db/schema.ts';
import { recordEvent } from '../events/record.ts';
import { mention } from '../issuables/mention_rows.ts';
import { addTodos, finishTodos, mentionTodos } from '../todos/add.ts';
import type { FoundIssue } from './find.ts';
import type { FullIssue } from './rows.ts';
import { storeSearchText } from './search.ts';

/** The columns that an edit changes. */
export type Row = UpdateObject<Schema, 'issues'>;

/** Ids before and after; null: unchanged. */
export type Assigned = { before: number[]; after: number[] } | null;

export type Edited = {
  before: FoundIssue;
  after: FoundIssue;
  set: Row;
  assigned: Assigned;
  /** Whether labels or assignees changed. */
  isRelated: boolean;
};

/** Who the title and the description mentioned before: told of it once is enough. */
const mentionedBefore = async (tx: Tx, { target }: FoundIssue): Promise<Set<number>> => {
  const rows = await tx.db
    .selectFrom('mentions')
    .select('user_id')
    .where('target_type', '=', 'Issue')
    .where('target_id', '=', target.id)
    .where('note_id', '=', 0)
    .execute();
  return new Set(rows.map(({ user_id }) => user_id));
};

const notifyOfText = async (tx: Tx, actor: Actor, after: FoundIssue): Promise<void> => {
  const { issue } = after;
  await storeSearchText(tx, issue, false);
  const known = await mentionedBefore(tx, after);
  const text = `${issue.title}\n${issue.description ?? ''}`;
  const mentioned = await mention(tx, after, { note_id: 0, text, isNew: false });
  const fresh = mentioned.filter(({ user_id }) => !known.has(user_id));
  await addTodos(tx, actor.user.id, after.target, mentionTodos(fresh, actor.user.id, issue.title));
};

const notifyAssigned = async (
  tx: Tx,
  actor: Actor,
  { target, issue }: FoundIssue,
  assigned: Assigned,
): Promise<void> => {
  const added = assigned?.after.filter((id) => !assigned.before.includes(id) && id !== actor.user.id) ?? [];
  const todos = added.map((user_id) => ({ user_id, action: 'assigned' as const, body: issue.title }));
  await addTodos(tx, actor.user.id, target, todos);
};

/** What changed, before and after; of a description only that it did. */
const changesOf = (before: FullIssue, after: FullIssue, set: Row): object => {
  const columns = (Object.keys(set) as (keyof Row)[]).filter((name) => name !== 'description');
  const values = columns.map((name) => [
    name,
    [before[name as keyof FullIssue], after[name as keyof FullIssue]],
  ]);
  const idsOf = ({ assignees }: FullIssue): number[] => assignees.map(({ id }) => id);
  const lists = [
    { name: 'labels', values: [before.labels, after.labels] },
    { name: 'assignee_ids', values: [idsOf(before), idsOf(after)] },
  ].filter(({ values: [was, is] }) => String(was) !== String(is));
  return {
    ...Object.fromEntries([...values, ...lists.map(({ name, values: both }) => [name, both])]),
    ...('description' in set && { description: true }),
  };
};

/** The changes that say that one has looked after an issue: his todo on it is done. */
const isHandled = (set: Row, isRelated: boolean): boolean =>
  isRelated || set.state === 'closed' || ['title', 'description', 'milestone_id'].some((name) => name in set);

const eventKind = ({ state }: Row): string => {
  if (state === undefined) return 'issue.updated';
  return state === 'closed' ? 'issue.closed' : 'issue.reopened';
};

/** Tells and keeps what an edit did, in its transaction. */
export const followEdit = async (tx: Tx, actor: Actor, edited: Edited): Promise<void> => {
  const { before, after, set, assigned, isRelated } = edited;
  if ('title' in set || 'description' in set) await notifyOfText(tx, actor, after);
  await notifyAssigned(tx, actor, after, assigned);
  if (isHandled(set, isRelated)) await finishTodos(tx, actor.user.id, after.target);
  await recordEvent(tx, actor, {
    kind: eventKind(set),
    project_id: before.project.id,
    target_type: 'Issue',
    target_id: after.issue.id,
    data: changesOf(before.issue, after.issue, set),
  });
};
