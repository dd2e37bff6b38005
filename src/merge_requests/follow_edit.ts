/** What follows an edit of a merge request: what it is found by, who is told of it, and what the change log keeps. */
import type { UpdateObject } from 'kysely';
import type { Actor } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import type { Schema } from '../db/schema.ts';
import { recordEvent } from '../events/record.ts';
import { type Assigned, changesOf } from '../issuables/edit.ts';
import { storeSearchText } from '../issuables/search.ts';
import { finishTodos } from '../todos/add.ts';
import { tellAssigned, tellOfText } from '../todos/tell.ts';
import type { FoundMergeRequest } from './find.ts';

/** The columns that an edit changes. */
export type Row = UpdateObject<Schema, 'merge_requests'>;

export type Edited = {
  before: FoundMergeRequest;
  after: FoundMergeRequest;
  set: Row;
  assigned: Assigned;
  /** Whether labels or assignees changed. */
  isRelated: boolean;
};

/** The changes that say that one has looked after it: his todo on it is done. */
const handled = ['title', 'description', 'milestone_id', 'target_branch'] as const;

const isHandled = (set: Row, isRelated: boolean): boolean =>
  isRelated || set.state === 'closed' || handled.some((name) => name in set);

const eventKind = ({ state }: Row): string => {
  if (state === undefined) return 'merge_request.updated';
  return state === 'closed' ? 'merge_request.closed' : 'merge_request.reopened';
};

/** Tells and keeps what an edit did, in its transaction. */
export const followEdit = async (tx: Tx, actor: Actor, edited: Edited): Promise<void> => {
  const { before, after, set, assigned, isRelated } = edited;
  if ('title' in set || 'description' in set) {
    await storeSearchText(tx, 'MergeRequest', after.merge_request, false);
    await tellOfText(tx, actor.user.id, after, after.merge_request);
  }
  await tellAssigned(tx, actor.user.id, after, assigned);
  if (isHandled(set, isRelated)) await finishTodos(tx, actor.user.id, after.target);
  await recordEvent(tx, actor, {
    kind: eventKind(set),
    project_id: before.project.id,
    target_type: 'MergeRequest',
    target_id: after.merge_request.id,
    data: changesOf(before.merge_request, after.merge_request, set),
  });
};
