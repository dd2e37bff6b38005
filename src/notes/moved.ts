/** A move is noted with the path of the other project, which not everybody who reads the note may know. */
import { sql } from 'kysely';
import type { Call } from '../access/call.ts';
import { visibleIssues } from '../access/visible.ts';
import type { NoteRow } from './json.ts';

const moved = /^moved (to|from) (.+)#(\d{1,15})$/;

type Reference = { direction: string; path: string; iid: number; target_id: number };

const referenceOf = ({ system, body, target_id }: NoteRow): Reference | null => {
  const [, direction = '', path = '', iid = ''] = (system === 1 ? moved.exec(body) : null) ?? [];
  return direction === '' ? null : { direction, path: path.toLowerCase(), iid: Number(iid), target_id };
};

const keyOf = ({ path, iid }: { path: string; iid: number }): string => `${path}#${iid}`;

/** Over `issues`: it took part in such a move. What stands under the same path since then did not. */
const hasMoved = ({ direction, target_id }: Reference) =>
  direction === 'to'
    ? sql`issues.id = (select old.moved_to_id from issues as old where old.id = ${target_id})`
    : sql`issues.moved_to_id is not null`;

/** Which of the issues that are referred to the caller sees, by key, in one statement. */
const visibleKeys = async ({ db, viewer, platform }: Call, references: Reference[]): Promise<Set<string>> => {
  const pairs = references.map(
    (one) => sql`(routes.path = ${one.path} and issues.iid = ${one.iid} and ${hasMoved(one)})`,
  );
  const rows = await db
    .selectFrom('routes')
    .innerJoin('projects', 'projects.id', 'routes.source_id')
    .innerJoin('issues', 'issues.project_id', 'projects.id')
    .select(['routes.path', 'issues.iid'])
    .where('routes.source_type', '=', 'Project')
    .where(sql<boolean>`(${sql.join(pairs, sql` or `)})`)
    .where(visibleIssues(viewer, platform.store.words))
    .execute();
  return new Set(rows.map(keyOf));
};

/**
 * The texts that the caller may read in place of the stored ones, by note id. A reference to an issue that he
 * does not see, or that is not there any more, names nothing: the two cannot be told apart.
 */
export const visibleBodies = async (call: Call, notes: NoteRow[]): Promise<Map<number, string>> => {
  const found = notes.flatMap((note) => {
    const reference = referenceOf(note);
    return reference === null ? [] : [{ id: note.id, reference }];
  });
  if (found.length === 0) return new Map();
  const visible = await visibleKeys(
    call,
    found.map(({ reference }) => reference),
  );
  return new Map(
    found
      .filter(({ reference }) => !visible.has(keyOf(reference)))
      .map(({ id, reference }) => [id, `moved ${reference.direction} another project`]),
  );
};
