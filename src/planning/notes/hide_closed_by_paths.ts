/** Hides the project path in `closed via merge request` notes from viewers who cannot see the merge request. */
import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { visibleMergeRequests } from '../../core/access/visible.ts';
import type { NoteRow } from './note_row.ts';

const closed = /^closed via merge request (.+)!(\d{1,15})$/;

type Reference = { path: string; iid: number };

const parseClosedBy = ({ system, body }: NoteRow): Reference | null => {
  const [, path = '', iid = ''] = (system === 1 ? closed.exec(body) : null) ?? [];
  return path === '' ? null : { path: path.toLowerCase(), iid: Number(iid) };
};

const makeKey = ({ path, iid }: Reference): string => `${path}!${iid}`;

/** Finds the referenced merge requests that the caller may see, by key, in one statement. */
const visibleKeys = async ({ db, viewer, platform }: Call, references: Reference[]): Promise<Set<string>> => {
  const pairs = references.map(
    ({ path, iid }) => sql`(routes.path = ${path} and merge_requests.iid = ${iid})`,
  );
  const rows = await db
    .selectFrom('routes')
    .innerJoin('projects', 'projects.id', 'routes.source_id')
    .innerJoin('merge_requests', 'merge_requests.project_id', 'projects.id')
    .select(['routes.path', 'merge_requests.iid'])
    .where('routes.source_type', '=', 'Project')
    .where(sql<boolean>`(${sql.join(pairs, sql` or `)})`)
    .where(visibleMergeRequests(viewer, platform.store.dialect))
    .execute();
  return new Set(rows.map(makeKey));
};

/** Returns replacement texts by note id, for notes whose merge request is hidden from the caller. */
export const loadClosedByBodies = async (call: Call, notes: NoteRow[]): Promise<[number, string][]> => {
  const references = notes.flatMap((note) => {
    const reference = parseClosedBy(note);
    return reference === null ? [] : [{ id: note.id, reference }];
  });
  if (references.length === 0) return [];
  const visible = await visibleKeys(
    call,
    references.map(({ reference }) => reference),
  );
  return references
    .filter(({ reference }) => !visible.has(makeKey(reference)))
    .map(({ id }) => [id, 'closed via merge request of another project']);
};
