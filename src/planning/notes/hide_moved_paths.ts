/** Hides the project path in notes on moves and clones from viewers who cannot see the other issue. */
import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { visibleIssues } from '../../core/access/visible.ts';
import type { NoteRow } from './note_row.ts';

const moved = /^(moved|cloned) (to|from) (.+)#(\d{1,15})$/;

type Reference = { verb: string; direction: string; path: string; iid: number; target_id: number };

const parseMoved = ({ system, body, target_id }: NoteRow): Reference | null => {
  const [, verb = '', direction = '', path = '', iid = ''] = (system === 1 ? moved.exec(body) : null) ?? [];
  return verb === '' ? null : { verb, direction, path: path.toLowerCase(), iid: Number(iid), target_id };
};

const makeKey = ({ path, iid }: { path: string; iid: number }): string => `${path}#${iid}`;

/**
 * SQL condition over `issues`: it took part in such a move. A later issue with the same path and iid did not. Clones
 * are not recorded, so any issue at that place counts.
 */
const tookPart = ({ verb, direction, target_id }: Reference) => {
  if (verb === 'cloned') return sql`true`;
  return direction === 'to'
    ? sql`issues.id = (select old.moved_to_id from issues as old where old.id = ${target_id})`
    : sql`issues.moved_to_id is not null`;
};

/** Finds the referenced issues that the caller may see, by key, in one statement. */
const visibleKeys = async ({ db, viewer, platform }: Call, references: Reference[]): Promise<Set<string>> => {
  const pairs = references.map(
    (one) => sql`(routes.path = ${one.path} and issues.iid = ${one.iid} and ${tookPart(one)})`,
  );
  const rows = await db
    .selectFrom('routes')
    .innerJoin('projects', 'projects.id', 'routes.source_id')
    .innerJoin('issues', 'issues.project_id', 'projects.id')
    .select(['routes.path', 'issues.iid'])
    .where('routes.source_type', '=', 'Project')
    .where(sql<boolean>`(${sql.join(pairs, sql` or `)})`)
    .where(visibleIssues(viewer, platform.store.dialect))
    .execute();
  return new Set(rows.map(makeKey));
};

/**
 * Returns the texts to show instead of the stored texts, by note id. References to hidden and to deleted issues are
 * replaced in the same way, so that the caller cannot distinguish them.
 */
export const visibleBodies = async (call: Call, notes: NoteRow[]): Promise<Map<number, string>> => {
  const references = notes.flatMap((note) => {
    const reference = parseMoved(note);
    return reference === null ? [] : [{ id: note.id, reference }];
  });
  if (references.length === 0) return new Map();
  const visible = await visibleKeys(
    call,
    references.map(({ reference }) => reference),
  );
  return new Map(
    references
      .filter(({ reference }) => !visible.has(makeKey(reference)))
      .map(({ id, reference }) => [id, `${reference.verb} ${reference.direction} another project`]),
  );
};
