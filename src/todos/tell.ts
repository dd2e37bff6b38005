/** Who is told, by a todo, of what somebody does to an issue or merge request. */
import type { Tx } from '../db/open.ts';
import type { PeopleChange } from '../issuables/edit.ts';
import { mention } from '../issuables/mention_rows.ts';
import type { Found } from '../issuables/target.ts';
import { type NewTodo, addTodos, mentionTodos } from './add.ts';

type Text = { title: string; description: string | null };

const textOf = ({ title, description }: Text): string => `${title}\n${description ?? ''}`;

/** Todos for these users, but not for the one who acts. */
const todosFor = (ids: readonly number[], actorId: number, todo: Omit<NewTodo, 'user_id'>): NewTodo[] =>
  ids.filter((id) => id !== actorId).map((user_id) => ({ user_id, ...todo }));

/** Of a new record: assignees, reviewers, those who are mentioned, and the author where they asked for it. */
export const tellOfNew = async (
  tx: Tx,
  authorId: number,
  found: Found,
  { todo, reviewer_ids = [], ...text }: Text & { todo?: boolean | undefined; reviewer_ids?: number[] },
): Promise<void> => {
  const { target } = found;
  const body = text.title;
  const mentioned = await mention(tx, found, { note_id: 0, text: textOf(text), isNew: true });
  const assigned = todosFor(target.assignee_ids, authorId, { action: 'assigned', body });
  const requested = todosFor(reviewer_ids, authorId, { action: 'review_requested', body });
  const marked = todo === true ? [{ user_id: authorId, action: 'marked' as const, body }] : [];
  const others = mentionTodos(mentioned, authorId, body);
  await addTodos(tx, authorId, target, [...marked, ...assigned, ...requested, ...others]);
};

/** Who the title and the description mentioned before: told of it once is enough. */
const mentionedBefore = async (tx: Tx, { target }: Found): Promise<Set<number>> => {
  const rows = await tx.db
    .selectFrom('mentions')
    .select('user_id')
    .where('target_type', '=', target.type)
    .where('target_id', '=', target.id)
    .where('note_id', '=', 0)
    .execute();
  return new Set(rows.map(({ user_id }) => user_id));
};

/** Those whom an edited title or description mentions for the first time. */
export const tellOfText = async (tx: Tx, actorId: number, after: Found, text: Text): Promise<void> => {
  const known = await mentionedBefore(tx, after);
  const mentioned = await mention(tx, after, { note_id: 0, text: textOf(text), isNew: false });
  const fresh = mentioned.filter(({ user_id }) => !known.has(user_id));
  await addTodos(tx, actorId, after.target, mentionTodos(fresh, actorId, text.title));
};

/** Those whom the record did not name before. */
export const tellAdded = async (
  tx: Tx,
  actorId: number,
  { target }: Found,
  { change, action }: { change: PeopleChange; action: NewTodo['action'] },
): Promise<void> => {
  const added = change?.after.filter((id) => !change.before.includes(id)) ?? [];
  await addTodos(tx, actorId, target, todosFor(added, actorId, { action, body: target.title }));
};
