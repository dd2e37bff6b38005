/** What follows an edit of an issue: its search text, who is told of it, and what the change log keeps. */
import type { UpdateObject } from 'kysely';
import type { Actor } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import type { Schema } from '../db/schema.ts';
import { recordEvent } from '../events/record.ts';
import { type Assigned, changesOf } from '../issuables/edit.ts';
import { storeSearchText } from '../issuables/search.ts';
import { finishTodos } from '../todos/add.ts';
import { tellAssigned, tellOfText } from '../todos/tell.ts';
import type { FoundIssue } from './find.ts';

/** The columns that an edit changes. */
export type Row = UpdateObject<Schema, 'issues'>;

export type Edited = {
  before: FoundIssue;
  after: FoundIssue;
  set: Row;
  assigned: Assigned;
  /** Whether labels or assignees changed. */
  isRelated: boolean;
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
  if ('title' in set || 'description' in set) {
    await storeSearchText(tx, 'Issue', after.issue, false);
    await tellOfText(tx, actor.user.id, after, after.issue);
  }
  await tellAssigned(tx, actor.user.id, after, assigned);
  if (isHandled(set, isRelated)) await finishTodos(tx, actor.user.id, after.target);
  await recordEvent(tx, actor, {
    kind: eventKind(set),
    project_id: before.project.id,
    target_type: 'Issue',
    target_id: after.issue.id,
    data: changesOf(before.issue, after.issue, set),
  });
};
