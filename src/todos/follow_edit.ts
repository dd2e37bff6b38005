/** What follows an edit of an issue or a merge request: what it is found by, who is told of it, and what the change log keeps. */
import type { Actor } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { recordEvent } from '../events/record.ts';
import { type PeopleChange, changesOf } from '../issuables/edit.ts';
import type { Relations } from '../issuables/rows.ts';
import { storeSearchText } from '../issuables/search.ts';
import { type Found, type Noun, eventKind } from '../issuables/target.ts';
import { finishTodos } from './add.ts';
import { tellAdded, tellOfText } from './tell.ts';

type Edited = Relations & { id: number; title: string; description: string | null };

export type Edit<R extends Edited> = {
  noun: Noun;
  /** As it is after the edit. */
  found: Found;
  before: R;
  after: R;
  /** The columns that changed. */
  set: { state?: unknown };
  assigned: PeopleChange;
  /** Of a merge request. */
  reviewers?: PeopleChange;
  /** Whether labels, assignees or reviewers changed. */
  isRelated: boolean;
};

/** The changes that say that one has looked after it: his todo on it is done. */
const handled = ['title', 'description', 'milestone_id', 'target_branch'];

const isHandled = (set: { state?: unknown }, isRelated: boolean): boolean =>
  isRelated || set.state === 'closed' || handled.some((name) => name in set);

const verbOf = ({ state }: { state?: unknown }): string => {
  if (state === undefined) return 'updated';
  return state === 'closed' ? 'closed' : 'reopened';
};

/** Tells and keeps what an edit did, in its transaction. */
export const followEdit = async <R extends Edited>(tx: Tx, actor: Actor, edit: Edit<R>): Promise<void> => {
  const { noun, found, before, after, set, assigned, reviewers = null, isRelated } = edit;
  if ('title' in set || 'description' in set) {
    await storeSearchText(tx, noun.type, after, false);
    await tellOfText(tx, actor.user.id, found, after);
  }
  await tellAdded(tx, actor.user.id, found, { change: assigned, action: 'assigned' });
  await tellAdded(tx, actor.user.id, found, { change: reviewers, action: 'review_requested' });
  if (isHandled(set, isRelated)) await finishTodos(tx, actor.user.id, found.target);
  await recordEvent(tx, actor, {
    kind: eventKind(noun, verbOf(set)),
    project_id: found.project.id,
    target_type: noun.type,
    target_id: after.id,
    data: changesOf(before, after, set),
  });
};
