/** What closed an issue is noted with the path of its project, which not everybody who reads the note may know. */
import { sql } from 'kysely';
import type { Call } from '../access/call.ts';
import { visibleMergeRequests } from '../access/visible.ts';
import type { NoteRow } from './json.ts';

const closed = /^closed via merge request (.+)!(\d{1,15})$/;

type Reference = { path: string; iid: number };

const referenceOf = ({ system, body }: NoteRow): Reference | null => {
  const [, path = '', iid = ''] = (system === 1 ? closed.exec(body) : null) ?? [];
  return path === '' ? null : { path: path.toLowerCase(), iid: Number(iid) };
};

const keyOf = ({ path, iid }: Reference): string => `${path}!${iid}`;

/** Which of the merge requests that are referred to the caller sees, by key, in one statement. */
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
    .where(visibleMergeRequests(viewer, platform.store.words))
    .execute();
  return new Set(rows.map(keyOf));
};

/** As `visibleBodies` of `moved.ts`: by note id, the texts in place of those that name a request which the caller does not see. */
export const closedBodies = async (call: Call, notes: NoteRow[]): Promise<[number, string][]> => {
  const found = notes.flatMap((note) => {
    const reference = referenceOf(note);
    return reference === null ? [] : [{ id: note.id, reference }];
  });
  if (found.length === 0) return [];
  const visible = await visibleKeys(
    call,
    found.map(({ reference }) => reference),
  );
  return found
    .filter(({ reference }) => !visible.has(keyOf(reference)))
    .map(({ id }) => [id, 'closed via merge request of another project']);
};
