/**
 * Adds `mentioned in` notes to issues and merge requests that a text references: one note for each pair of records,
 * and none on a record that the author cannot see. The mentioned record itself does not change.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import { visibleIssues, visibleMergeRequests } from '../../core/access/visible.ts';
import { insertRows } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { TargetType } from '../../platform/db/schema/column_types.ts';
import { type Reference, referencesIn } from '../issuables/text/references.ts';
import { type MentionedBy, mentionedText } from '../issuables/text/system_note_text.ts';
import type { LoadedTarget } from '../issuables/target.ts';
import type { Project } from '../../projects/projects/find.ts';

type ReferencedRecord = { type: TargetType; id: number; project_id: number };

type Mentioning = {
  /** The issue, merge request or commit that contains the text. */
  by: { type: TargetType; id: number; iid: number } | { type: 'Commit'; sha: string };
  project: Pick<Project, 'id' | 'full_path'>;
  text: string;
  author: { id: number; viewer: Viewer };
  baseUrl: string;
  /** Issues that get no note. */
  except?: ReadonlySet<number>;
};

const loadProjectIds = async (
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

/** Loads the referenced records of one kind that exist and that the author may see. */
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

/** Loads all referenced records that the author may see, in one statement. */
const findNamed = async (
  tx: Tx,
  { project, author }: Mentioning,
  references: Reference[],
): Promise<ReferencedRecord[]> => {
  const ids = await loadProjectIds(tx, project, references);
  const conditions = { Issue: visibleIssues, MergeRequest: visibleMergeRequests };
  const parts = (['Issue', 'MergeRequest'] as const).flatMap((type) => {
    const places = references.flatMap((one) => {
      const project_id = ids.get(one.project);
      return one.type === type && project_id !== undefined ? [{ project_id, iid: one.iid }] : [];
    });
    return places.length === 0
      ? []
      : [selectNamed(type, places, conditions[type](author.viewer, tx.dialect))];
  });
  if (parts.length === 0) return [];
  const { rows } = await sql<ReferencedRecord>`${sql.join(parts, sql` union all `)}`.execute(tx.db);
  return rows;
};

const reference = ({ by }: Mentioning): MentionedBy => {
  if (by.type === 'Commit') return { sha: by.sha };
  return by.type === 'Issue' ? { issue_iid: by.iid } : { merge_request_iid: by.iid };
};

const toNoteRow = (tx: Tx, mentioning: Mentioning, { type, id, project_id }: ReferencedRecord) => {
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

/** Adds a note to each record that the text references for the first time. */
export const addMentionNotes = async (tx: Tx, mentioning: Mentioning): Promise<void> => {
  const { by, project, text, baseUrl, except } = mentioning;
  const references = referencesIn(text, { baseUrl, project: project.full_path });
  if (references.length === 0) return;
  const named = await findNamed(tx, mentioning, references);
  const others = named.filter(({ type, id }) => {
    const isItself = by.type !== 'Commit' && by.type === type && by.id === id;
    return !isItself && !(type === 'Issue' && except?.has(id) === true);
  });
  // In a fixed order, so that two transactions with the same references cannot deadlock.
  const rows = others.toSorted((a, b) => a.id - b.id).map((one) => toNoteRow(tx, mentioning, one));
  await insertRows(tx.db, 'notes', rows, 'on conflict do nothing');
};

/** Adds the notes for a text of a target or of a comment on it. The notes name the target. */
export const addTargetMentionNotes = async (
  tx: Tx,
  { viewer, baseUrl }: Pick<Call, 'viewer' | 'baseUrl'>,
  { target, project }: Pick<LoadedTarget, 'target' | 'project'>,
  text: string,
): Promise<void> => {
  const author = { id: viewer.user_id ?? 0, viewer };
  await addMentionNotes(tx, { by: target, project, text, author, baseUrl });
};

type Texts = { title: string; description: string | null };

/** Adds the notes for the changed parts of a title and description. */
export const addCrossReferences = async (
  tx: Tx,
  call: Pick<Call, 'viewer' | 'baseUrl'>,
  loaded: LoadedTarget,
  { before, after }: { before: Texts | null; after: Texts },
): Promise<void> => {
  const changed = (['title', 'description'] as const).filter((name) => after[name] !== before?.[name]);
  await addTargetMentionNotes(tx, call, loaded, changed.map((name) => after[name] ?? '').join('\n'));
};
