/** Loads the contents of pending mails that their user may read now. */
import type { Selectable } from 'kysely';
import { visibleNotes } from '../../planning/notes/visible.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import type { Store } from '../../platform/db/open.ts';
import type { MailsTable } from '../../platform/db/schema/mail.ts';
import type { MailContent, MailNote } from './compose.ts';
import { type Subject, loadSubjects, subjectKey } from './subjects.ts';

export type MailRow = Selectable<MailsTable>;

const loadNotes = async (
  { db, dialect }: Store,
  viewer: Viewer,
  ids: readonly number[],
): Promise<Map<number, MailNote>> => {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('notes')
    .select(['id', 'body', 'internal'])
    .where(dialect.oneOf('id', ids))
    .where(visibleNotes(db, viewer))
    .execute();
  return new Map(rows.map(({ id, body, internal }) => [id, { body, isInternal: internal === 1 }]));
};

const loadActors = async ({ db, dialect }: Store, ids: readonly number[]) => {
  if (ids.length === 0) return new Map<number, { name: string; username: string }>();
  const rows = await db
    .selectFrom('users')
    .select(['id', 'name', 'username'])
    .where(dialect.oneOf('id', ids))
    .execute();
  return new Map(rows.map(({ id, ...names }) => [id, names]));
};

const listIds = (ids: readonly (number | null)[]): number[] => [...new Set(ids.filter((id) => id !== null))];

/** Key of the mails about a day on which an issue is due. */
export const toDueKey = (issueId: number, due_date: string): string => `issue-due-${issueId}-${due_date}`;

/** Returns whether a mail about a due issue still holds: the issue may be closed by now, or due on another day. */
const isStillDue = ({ event_key, target_id }: MailRow, { due_date = null }: Subject): boolean =>
  due_date !== null && event_key === toDueKey(target_id ?? 0, due_date);

/**
 * Returns the contents of mails whose record and comment exist and are visible to the user, by id of the mail; except
 * mails about issues that are no longer due on that day.
 */
export const loadVisibleMailContents = async (
  store: Store,
  viewer: Viewer,
  rows: readonly MailRow[],
): Promise<Map<number, MailContent>> => {
  const [subjects, notes, actors] = await Promise.all([
    loadSubjects(store, rows),
    loadNotes(store, viewer, listIds(rows.map(({ note_id }) => note_id))),
    loadActors(store, listIds(rows.map(({ actor_id }) => actor_id))),
  ]);
  const contents = rows.flatMap((row) => {
    const { id, kind, event_key, reason, target_type, target_id, note_id, actor_id } = row;
    const subject = subjects.get(subjectKey(row));
    const note = note_id === null ? null : notes.get(note_id);
    if (subject?.isVisibleTo(viewer) !== true || note === undefined) return [];
    if (target_type === null || target_id === null) return [];
    if (kind === 'issue.due' && !isStillDue(row, subject)) return [];
    const actor = actor_id === null ? null : (actors.get(actor_id) ?? null);
    const shown = { id, kind, event_key, reason, target_type, target_id, note_id };
    return [[id, { ...shown, subject, actor, note }] as const];
  });
  return new Map(contents);
};
