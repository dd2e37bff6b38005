/** Copies the notes of an issue that is moved or cloned, with the references in their texts rewritten. */
import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/open.ts';
import { linkedElsewhereText, mentionedElsewhereText } from '../../issuables/text/system_note_text.ts';
import type { Target } from '../../issuables/target.ts';
import type { Project } from '../../../projects/projects/find.ts';
import type { LoadedIssue } from '../find.ts';
import { listReferencedIids, rewriteReferences } from './rewrite_references.ts';
import { existingIids } from './rewrite_text.ts';

const notesAtOnce = 200;

type Which = {
  /** False: only the comments of users. */
  withSystemNotes: boolean;
};

const notesAfter = async (tx: Tx, issueId: number, noteId: number, { withSystemNotes }: Which) =>
  await tx.db
    .selectFrom('notes')
    .selectAll()
    .where('target_type', '=', 'Issue')
    .where('target_id', '=', issueId)
    .where('id', '>', noteId)
    .$if(!withSystemNotes, (query) => query.where('system', '=', 0))
    .orderBy('id')
    .limit(notesAtOnce)
    .execute();

type Notes = Awaited<ReturnType<typeof notesAfter>>;
type To = Pick<Target, 'id' | 'project_id'>;

type MovedNote = Pick<Notes[number], 'system' | 'mentioned_by_type' | 'body'>;

const movedBody = ({ system, mentioned_by_type, body }: MovedNote, from: Project, iids: Set<number>) => {
  if (mentioned_by_type !== null) return mentionedElsewhereText(body, from.full_path);
  return system === 1
    ? linkedElsewhereText(body, from.full_path)
    : rewriteReferences(body, from.full_path, iids);
};

/** Inserts copies of notes; returns their ids in the order of the originals. */
const insertCopies = async (tx: Tx, from: Project, notes: Notes, to: To): Promise<number[]> => {
  const comments = notes.filter((note) => note.system === 0);
  const iids = await existingIids(tx, from.id, [
    ...new Set(comments.flatMap((note) => listReferencedIids(note.body))),
  ]);
  const copies = notes.map(({ id: _id, ...note }) => ({
    ...note,
    project_id: to.project_id,
    target_id: to.id,
    body: from.id === to.project_id ? note.body : movedBody(note, from, iids),
  }));
  const rows = await tx.db.insertInto('notes').values(copies).returning('id').execute();
  return rows.map(({ id }) => id).toSorted((a, b) => a - b);
};

/** Copies the awards on comments and the users whom the comments mention. */
const copyAwardsAndMentions = async (tx: Tx, notes: Notes, ids: number[], to: To): Promise<void> => {
  const pairs = notes.map(({ id }, index) => sql`(cast(${id} as bigint), cast(${ids[index]} as bigint))`);
  const copied = sql`with copied (old_id, new_id) as (values ${sql.join(pairs)})`;
  await sql`${copied}
    insert into award_emoji (name, user_id, target_type, target_id, created_at, updated_at)
    select name, user_id, target_type, new_id, created_at, updated_at
    from award_emoji join copied on target_id = old_id where target_type = 'Note'`.execute(tx.db);
  await sql`${copied}
    insert into mentions (target_type, target_id, note_id, user_id)
    select target_type, cast(${to.id} as bigint), new_id, user_id
    from mentions join copied on note_id = old_id where target_type = 'Issue'`.execute(tx.db);
};

/** Copies notes with their authors, times and awards. */
export const copyNotes = async (
  tx: Tx,
  { issue, project }: LoadedIssue,
  to: To,
  which: Which,
): Promise<void> => {
  for (let last: number | undefined = 0; last !== undefined;) {
    const notes: Notes = await notesAfter(tx, issue.id, last, which);
    last = notes.length < notesAtOnce ? undefined : notes.at(-1)?.id;
    if (notes.length === 0) continue;
    const ids = await insertCopies(tx, project, notes, to);
    await copyAwardsAndMentions(tx, notes, ids, to);
  }
};
