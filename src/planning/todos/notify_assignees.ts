/** Adds todos for assignees, reviewers and mentioned users of an issue or merge request. */
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { TargetType } from '../../platform/db/schema/column_types.ts';
import type { PeopleChange } from '../issuables/shared_edits.ts';
import { storeMentions } from '../issuables/text/store_mentions.ts';
import type { LoadedTarget } from '../issuables/target.ts';
import { type NewTodo, addTodos, mentionTodos } from './add_todos.ts';

type Text = { title: string; description: string | null };

const joinTexts = ({ title, description }: Text): string => `${title}\n${description ?? ''}`;

/** Adds todos for these users, except the actor. */
const todosFor = (ids: readonly number[], actorId: number, todo: Omit<NewTodo, 'user_id'>): NewTodo[] =>
  ids.filter((id) => id !== actorId).map((user_id) => ({ user_id, ...todo }));

/** Adds the todos of a new record: for assignees, reviewers, mentioned users, and the author on request. */
export const addTodosForNewRecord = async (
  tx: Tx,
  authorId: number,
  loaded: LoadedTarget,
  { todo, reviewer_ids = [], ...text }: Text & { todo?: boolean | undefined; reviewer_ids?: number[] },
): Promise<void> => {
  const { target } = loaded;
  const body = text.title;
  const mentioned = await storeMentions(tx, loaded, {
    note_id: 0,
    text: joinTexts(text),
    author_id: authorId,
    isNew: true,
  });
  const assigned = todosFor(target.assignee_ids, authorId, { action: 'assigned', body });
  const requested = todosFor(reviewer_ids, authorId, { action: 'review_requested', body });
  const marked = todo === true ? [{ user_id: authorId, action: 'marked' as const, body }] : [];
  const others = mentionTodos(mentioned, authorId, body);
  await addTodos(tx, authorId, target, [...marked, ...assigned, ...requested, ...others]);
};

const selectMentioned = compiled((db, { type, id }: { type: TargetType; id: number }) =>
  db
    .selectFrom('mentions')
    .select('user_id')
    .where('target_type', '=', type)
    .where('target_id', '=', id)
    .where('note_id', '=', 0)
    .compile(),
);

/** Users that the title and the description mentioned before the edit. They get no second todo. */
const mentionedBefore = async (tx: Tx, { target: { type, id } }: LoadedTarget): Promise<Set<number>> =>
  new Set((await selectMentioned(tx.db, { type, id })).map(({ user_id }) => user_id));

const mayMention = (text: Text): boolean => joinTexts(text).includes('@');

/** Adds todos for users whom an edited title or description mentions for the first time. */
export const addTodosForNewMentions = async (
  tx: Tx,
  actorId: number,
  after: LoadedTarget,
  { before, after: text }: { before: Text; after: Text },
): Promise<void> => {
  if (!mayMention(before) && !mayMention(text)) return;
  const mentionedUsers = await mentionedBefore(tx, after);
  const mentioned = await storeMentions(tx, after, {
    note_id: 0,
    text: joinTexts(text),
    author_id: actorId,
    isNew: mentionedUsers.size === 0,
  });
  const fresh = mentioned.filter(({ user_id }) => !mentionedUsers.has(user_id));
  await addTodos(tx, actorId, after.target, mentionTodos(fresh, actorId, text.title));
};

/** Returns the users whom the record did not name before. */
export const addTodosForAddedUsers = async (
  tx: Tx,
  actorId: number,
  { target }: LoadedTarget,
  { change, action }: { change: PeopleChange; action: NewTodo['action'] },
): Promise<void> => {
  const added = change?.after.filter((id) => !change.before.includes(id)) ?? [];
  await addTodos(tx, actorId, target, todosFor(added, actorId, { action, body: target.title }));
};
