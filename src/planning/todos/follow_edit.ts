/** Updates the search text, todos and change log after an edit of an issue or a merge request. */
import type { Actor } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { type PeopleChange, type ReviewersChange, collectChanges } from '../issuables/shared_edits.ts';
import type { Relations } from '../issuables/lists/rows.ts';
import { storeSearchText } from '../issuables/search/search.ts';
import { type LoadedTarget, type Noun, eventKind } from '../issuables/target.ts';
import { recordMilestoneChange, recordStateChange } from '../issuables/record_resource_events.ts';
import { finishTodos } from './add_todos.ts';
import { addTodosForAddedUsers, addTodosForNewMentions } from './notify_assignees.ts';

type Edited = Relations & {
  id: number;
  title: string;
  description: string | null;
  milestone_id: number | null;
  updated_at: number;
};

export type Edit<R extends Edited> = {
  noun: Noun;
  /** The record after the edit. */
  loaded: LoadedTarget;
  before: R;
  after: R;
  /** The columns that changed. */
  set: { state?: unknown };
  assigned: PeopleChange;
  /** Reviewers of a merge request. */
  reviewers?: ReviewersChange;
  /** True if labels, assignees or reviewers changed. */
  isRelated: boolean;
};

/** Columns whose change marks the editor's own todo on the record as done. */
const handled = ['title', 'description', 'milestone_id', 'target_branch'];

const isHandled = (set: { state?: unknown }, isRelated: boolean): boolean =>
  isRelated || set.state === 'closed' || handled.some((name) => name in set);

const toEventVerb = ({ state }: { state?: unknown }): string => {
  if (state === undefined) return 'updated';
  return state === 'closed' ? 'closed' : 'reopened';
};

const recordResourceEvents = async <R extends Edited>(
  tx: Tx,
  actor: Actor,
  { loaded: { target }, before, after, set }: Edit<R>,
): Promise<void> => {
  const changed = { target, user_id: actor.user.id };
  const milestones = { before: before.milestone_id, after: after.milestone_id };
  await recordMilestoneChange(tx, changed, milestones);
  if (set.state !== undefined) {
    await recordStateChange(tx, changed, set.state === 'closed' ? 'closed' : 'reopened');
  }
};

/** Reviewers who are asked again stay reviewers, so that no list of ids shows it. */
const logRepeatedRequests = (change: ReviewersChange): object =>
  change === null || change.requestedAgain.length === 0
    ? {}
    : { reviews_requested_again: change.requestedAgain };

/** Adds todos, updates the search text and records the event of an edit, in its transaction. */
export const followEdit = async <R extends Edited>(tx: Tx, actor: Actor, edit: Edit<R>): Promise<void> => {
  const { noun, loaded, before, after, set, assigned, reviewers = null, isRelated } = edit;
  if ('title' in set || 'description' in set) {
    await storeSearchText(tx, noun.type, after, false);
    await addTodosForNewMentions(tx, actor.user.id, loaded, { before, after });
  }
  await addTodosForAddedUsers(tx, actor.user.id, loaded, { change: assigned, action: 'assigned' });
  await addTodosForAddedUsers(tx, actor.user.id, loaded, { change: reviewers, action: 'review_requested' });
  if (isHandled(set, isRelated)) await finishTodos(tx, actor.user.id, loaded.target);
  await recordResourceEvents(tx, actor, edit);
  await recordEvent(tx, actor, {
    kind: eventKind(noun, toEventVerb(set)),
    project_id: loaded.project.id,
    target_type: noun.type,
    target_id: after.id,
    data: { ...collectChanges(before, after, set), ...logRepeatedRequests(reviewers) },
    transient: {
      ...('description' in set && { description: [before.description, after.description] }),
      updated_at: [before.updated_at, after.updated_at],
    },
  });
};
