/**
 * Who names an issue or merge request in a text leaves a note there: what mentions it. One for each pair, however
 * often it is named; none where the author does not see what he names. The target itself does not change by it.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../access/call.ts';
import type { Viewer } from '../access/viewer.ts';
import { visibleIssues, visibleMergeRequests } from '../access/visible.ts';
import { insertRows } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import type { TargetType } from '../db/schema.ts';
import { type Reference, referencesIn } from '../issuables/references.ts';
import { type MentionedBy, mentionedText } from '../issuables/system_note_text.ts';
import type { Found } from '../issuables/target.ts';
import type { Project } from '../projects/find.ts';

type Named = { type: TargetType; id: number; project_id: number };

type Mentioning = {
  /** What mentions: an issue or merge request, or a commit. */
  by: { type: TargetType; id: number; iid: number } | { type: 'Commit'; sha: string };
  project: Pick<Project, 'id' | 'full_path'>;
  text: string;
  author: { id: number; viewer: Viewer };
  baseUrl: string;
  /** Issues that something else is noted on. */
  except?: ReadonlySet<number>;
};

const projectIds = async (
  tx: Tx,
  own: Mentioning['project'],
  references: Reference[],
): Promise<Map<string, number>> => {
  const ownPath = own.full_path.toLowerCase();
  const paths = new Set(references.map(({ project }) => project));
  paths.delete(ownPath);
  const rows =
    paths.size === 0
      ? []
      : await tx.db
          .selectFrom('routes')
          .select(['path', 'source_id'])
          .where('path', 'in', [...paths])
          .where('source_type', '=', 'Project')
          .execute();
  return new Map([
    [ownPath, own.id],
    ...rows.map(({ path, source_id }): [string, number] => [path, source_id]),
  ]);
};

const tables = { Issue: 'issues', MergeRequest: 'merge_requests' } as const;

/** Those of one kind that there are, as far as the author sees them. */
const selectNamed = (
  type: TargetType,
  places: { project_id: number; iid: number }[],
  visible: RawBuilder<boolean>,
): RawBuilder<unknown> => {
  const table = sql.table(tables[type]);
  const own = (column: string) => sql.ref(`${tables[type]}.${column}`);
  const named = places.map(
    ({ project_id, iid }) => sql`(${own('project_id')} = ${project_id} and ${own('iid')} = ${iid})`,
  );
  return sql`select ${sql.lit(type)} as type, ${own('id')} as id, ${own('project_id')} as project_id
    from ${table} join projects on projects.id = ${own('project_id')}
    where (${sql.join(named, sql` or `)}) and ${visible}`;
};

/** All that are named and seen, in one statement. */
const findNamed = async (
  tx: Tx,
  { project, author }: Mentioning,
  references: Reference[],
): Promise<Named[]> => {
  const ids = await projectIds(tx, project, references);
  const conditions = { Issue: visibleIssues, MergeRequest: visibleMergeRequests };
  const parts = (['Issue', 'MergeRequest'] as const).flatMap((type) => {
    const places = references.flatMap((one) => {
      const project_id = ids.get(one.project);
      return one.type === type && project_id !== undefined ? [{ project_id, iid: one.iid }] : [];
    });
    return places.length === 0 ? [] : [selectNamed(type, places, conditions[type](author.viewer, tx.words))];
  });
  if (parts.length === 0) return [];
  const { rows } = await sql<Named>`${sql.join(parts, sql` union all `)}`.execute(tx.db);
  return rows;
};

const reference = ({ by }: Mentioning): MentionedBy => {
  if (by.type === 'Commit') return { sha: by.sha };
  return by.type === 'Issue' ? { issue_iid: by.iid } : { merge_request_iid: by.iid };
};

const noteOn = (tx: Tx, mentioning: Mentioning, { type, id, project_id }: Named) => {
  const { by, project, author } = mentioning;
  const elsewhere = project_id === project.id ? undefined : project.full_path;
  return {
    project_id,
    target_type: type,
    target_id: id,
    author_id: author.id,
    body: mentionedText({ ...reference(mentioning), project: elsewhere }),
    system: 1 as const,
    created_at: tx.now,
    updated_at: tx.now,
    mentioned_by_type: by.type,
    mentioned_by_project_id: project.id,
    mentioned_by_id: by.type === 'Commit' ? null : by.id,
    mentioned_by_sha: by.type === 'Commit' ? by.sha : null,
  };
};

/** Notes, on all that a text names for the first time, what mentions it. */
export const noteMentions = async (tx: Tx, mentioning: Mentioning): Promise<void> => {
  const { by, project, text, baseUrl, except } = mentioning;
  const references = referencesIn(text, { baseUrl, project: project.full_path });
  if (references.length === 0) return;
  const named = await findNamed(tx, mentioning, references);
  const others = named.filter(({ type, id }) => {
    const isItself = by.type !== 'Commit' && by.type === type && by.id === id;
    return !isItself && !(type === 'Issue' && except?.has(id) === true);
  });
  // In one order: two who name the same ones do not wait for each other.
  const rows = others.toSorted((a, b) => a.id - b.id).map((one) => noteOn(tx, mentioning, one));
  await insertRows(tx.db, 'notes', rows, 'on conflict do nothing');
};

/** Of a text of an issue or merge request, or of a comment on it: it is the target that mentions. */
export const noteMentionsIn = async (
  tx: Tx,
  { viewer, baseUrl }: Pick<Call, 'viewer' | 'baseUrl'>,
  { target, project }: Found,
  text: string,
): Promise<void> => {
  const author = { id: viewer.user_id ?? 0, viewer };
  await noteMentions(tx, { by: target, project, text, author, baseUrl });
};

type Texts = { title: string; description: string | null };

/** Of a title and a description: of those parts that are not as they were. */
export const noteMentionsOf = async (
  tx: Tx,
  call: Pick<Call, 'viewer' | 'baseUrl'>,
  found: Found,
  { before, after }: { before: Texts | null; after: Texts },
): Promise<void> => {
  const changed = (['title', 'description'] as const).filter((name) => after[name] !== before?.[name]);
  await noteMentionsIn(tx, call, found, changed.map((name) => after[name] ?? '').join('\n'));
};
