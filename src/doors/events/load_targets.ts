/** Loads what activities are about: issues, merge requests, snippets, milestones and comments. */
import type { Call } from '../../core/access/call.ts';
import { commentsJson } from '../../planning/discussions/commits/comments.ts';
import { mixedNotesJson } from '../../planning/notes/json.ts';
import type { ActivityRow } from './list_activities.ts';

type Target = { iid: number | null; title: string | null; type: string };

type NoteJson = Awaited<ReturnType<typeof mixedNotesJson | typeof commentsJson>>[number];

export type LoadedTargets = {
  /** null if the activity has no target, or it is gone. */
  find: (row: ActivityRow) => Target | null;
  findNote: (row: ActivityRow) => NoteJson | null;
};

const tables = {
  Issue: 'issues',
  MergeRequest: 'merge_requests',
  Snippet: 'snippets',
  Milestone: 'milestones',
} as const;

type Recorded = keyof typeof tables;

const key = (type: string, id: number | null): string => `${type} ${id}`;

/** Ids of the records of one kind, as targets or as what comments are on. */
const listIds = (rows: readonly ActivityRow[], type: string, column: 'target' | 'subject'): number[] => {
  const ids = rows
    .filter((row) => row[`${column}_type`] === type)
    .flatMap((row) => row[`${column}_id`] ?? []);
  return [...new Set(ids)];
};

/** Loads titles and iids by kind and id. */
const loadRecords = async (call: Call, rows: readonly ActivityRow[]): Promise<Map<string, Target>> => {
  const records = new Map<string, Target>();
  for (const type of Object.keys(tables) as Recorded[]) {
    const ids = listIds(rows, type, 'subject');
    if (ids.length === 0) continue;
    const targets = await call.db
      .selectFrom(tables[type])
      .select(['id', 'title', type === 'Snippet' ? 'id as iid' : 'iid'])
      .where('id', 'in', ids)
      .execute();
    for (const { id, iid, title } of targets) records.set(key(type, id), { iid, title, type });
  }
  return records;
};

const loadNotes = async (
  call: Call,
  rows: readonly ActivityRow[],
  records: Map<string, Target>,
): Promise<Map<number, NoteJson>> => {
  const ids = listIds(rows, 'Note', 'target');
  if (ids.length === 0) return new Map();
  const notes = await call.db.selectFrom('notes').selectAll().where('id', 'in', ids).execute();
  const json = await mixedNotesJson(
    call,
    ({ target_type, target_id }) => records.get(key(target_type, target_id))?.iid ?? 0,
    notes,
  );
  return new Map(json.map((note) => [note.id, note]));
};

const loadCommitNotes = async (call: Call, rows: readonly ActivityRow[]): Promise<Map<number, NoteJson>> => {
  const ids = listIds(rows, 'CommitComment', 'target');
  if (ids.length === 0) return new Map();
  const comments = await call.db.selectFrom('commit_comments').selectAll().where('id', 'in', ids).execute();
  return new Map((await commentsJson(call, comments)).map((note) => [note.id, note]));
};

const getTitle = ({ data }: ActivityRow): string | null => {
  const { title } = JSON.parse(data) as { title?: string };
  return title ?? null;
};

/** Loads the targets of a page of activities, one statement for each kind. */
export const loadTargets = async (call: Call, rows: readonly ActivityRow[]): Promise<LoadedTargets> => {
  const records = await loadRecords(call, rows);
  const [notes, commitNotes] = await Promise.all([
    loadNotes(call, rows, records),
    loadCommitNotes(call, rows),
  ]);
  const findNote = ({ target_type, target_id }: ActivityRow): NoteJson | null => {
    if (target_type === 'Note') return notes.get(target_id ?? 0) ?? null;
    return target_type === 'CommitComment' ? (commitNotes.get(target_id ?? 0) ?? null) : null;
  };
  const find = (row: ActivityRow): Target | null => {
    const note = findNote(row);
    const subject = records.get(key(row.subject_type, row.subject_id));
    if (note !== null) return { iid: note.id, title: subject?.title ?? null, type: note.type ?? 'Note' };
    if (row.target_type === null) return null;
    return subject ?? { iid: null, title: getTitle(row), type: row.target_type };
  };
  return { find, findNote };
};
