/** Hides the reference in notes on links of issues from viewers who cannot see the other issue. */
import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { visibleIssues } from '../../core/access/visible.ts';
import { linkedIssuePhrases } from '../issuables/text/system_note_text.ts';
import type { NoteRow } from './note_row.ts';

const linked = new RegExp(`^(${linkedIssuePhrases.join('|')}) (.*)#(\\d{1,15})$`);

/** `path`: lower case; empty: the project of the note. */
type Reference = { phrase: string; path: string; project_id: number; iid: number };

const parseLinked = ({ system, body, target_type, project_id }: NoteRow): Reference | null => {
  const match = system === 1 && target_type === 'Issue' ? linked.exec(body) : null;
  const [, phrase = '', path = '', iid = ''] = match ?? [];
  if (phrase === '' || project_id === null) return null;
  return { phrase, path: path.toLowerCase(), project_id, iid: Number(iid) };
};

type Place = { project_id: number; path: string; iid: number };

const isAt = ({ path, project_id, iid }: Reference, place: Place): boolean =>
  iid === place.iid && (path === '' ? project_id === place.project_id : path === place.path);

/** Finds the referenced issues that the caller may see, in one statement. */
const visiblePlaces = async ({ db, viewer, platform }: Call, references: Reference[]): Promise<Place[]> => {
  const pairs = references.map(({ path, project_id, iid }) =>
    path === ''
      ? sql`(issues.project_id = ${project_id} and issues.iid = ${iid})`
      : sql`(routes.path = ${path} and issues.iid = ${iid})`,
  );
  return await db
    .selectFrom('routes')
    .innerJoin('projects', 'projects.id', 'routes.source_id')
    .innerJoin('issues', 'issues.project_id', 'projects.id')
    .select(['issues.project_id', 'routes.path', 'issues.iid'])
    .where('routes.source_type', '=', 'Project')
    .where(sql<boolean>`(${sql.join(pairs, sql` or `)})`)
    .where(visibleIssues(viewer, platform.store.dialect))
    .execute();
};

/** Returns replacement texts by note id, for notes whose other issue is hidden from the caller, or deleted. */
export const loadLinkedBodies = async (call: Call, notes: NoteRow[]): Promise<[number, string][]> => {
  const references = notes.flatMap((note) => {
    const reference = parseLinked(note);
    return reference === null ? [] : [{ id: note.id, reference }];
  });
  if (references.length === 0) return [];
  const visible = await visiblePlaces(
    call,
    references.map(({ reference }) => reference),
  );
  return references
    .filter(({ reference }) => !visible.some((place) => isAt(reference, place)))
    .map(({ id, reference }) => [id, `${reference.phrase} another issue`]);
};
