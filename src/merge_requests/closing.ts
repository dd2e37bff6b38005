/** Which issues a merge request closes: its title, its description and the messages of its commits say so. */
import { actingViewer } from '../access/acting.ts';
import type { Platform } from '../access/call.ts';
import { canSeeIssue } from '../access/visible.ts';
import type { Viewer } from '../access/viewer.ts';
import { insertRows } from '../db/insert.ts';
import type { Reader, Tx } from '../db/open.ts';
import type { Cause } from '../events/record.ts';
import { type ClosingReference, closingReferences } from '../issuables/closing_pattern.ts';
import type { ClosedBy } from '../issuables/system_note_text.ts';
import { closeIssues } from '../issues/close.ts';
import type { Project } from '../projects/find.ts';
import type { FoundMergeRequest } from './find.ts';
import type { VersionCommit } from './version_json.ts';

/** An issue that is named, with what tells who sees it. */
export type NamedIssue = Awaited<ReturnType<typeof issuesNamed>>[number];

type Owner = Pick<Project, 'id' | 'full_path' | 'forked_from_project_id'>;

const projectIds = async (db: Reader, paths: string[]): Promise<Map<string, number>> => {
  if (paths.length === 0) return new Map();
  const rows = await db
    .selectFrom('routes')
    .select(['path', 'source_id'])
    .where('path', 'in', paths)
    .where('source_type', '=', 'Project')
    .execute();
  return new Map(rows.map(({ path, source_id }) => [path, source_id]));
};

const issuesOf = (db: Reader, named: { 'issues.project_id': number; 'issues.iid': number }[]) =>
  db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select([
      'issues.id',
      'issues.iid',
      'issues.project_id',
      'issues.author_id',
      'issues.confidential',
      'issues.deleted_at',
      'projects.full_path',
      'projects.namespace_id',
      'projects.visibility',
      'projects.issues_access_level',
    ])
    .where('issues.deleted_at', 'is', null)
    .where('projects.deleted_at', 'is', null)
    .where('projects.issues_access_level', '<>', 'disabled')
    .where((is) => is.or(named.map((one) => is.and(one))))
    .execute();

/** The issues of these references that there are, in their order; none of the project that this one is a fork of. */
const issuesNamed = async (db: Reader, owner: Owner, references: ClosingReference[]) => {
  const own = owner.full_path.toLowerCase();
  const paths = new Set(references.map(({ project }) => project.toLowerCase()));
  paths.delete(own);
  const ids = (await projectIds(db, [...paths])).set(own, owner.id);
  const named = references.flatMap(({ project, iid }) => {
    const project_id = ids.get(project.toLowerCase());
    const isNamed = project_id !== undefined && project_id !== owner.forked_from_project_id;
    return isNamed ? [{ 'issues.project_id': project_id, 'issues.iid': iid }] : [];
  });
  if (named.length === 0) return [];
  const places = named.map((one) => `${one['issues.project_id']}#${one['issues.iid']}`);
  const found = await issuesOf(db, named);
  const placeOf = (issue: { project_id: number; iid: number }): number =>
    places.indexOf(`${issue.project_id}#${issue.iid}`);
  return found.toSorted((a, b) => placeOf(a) - placeOf(b));
};

const baseUrlOf = ({ config }: Pick<Platform, 'config'>): string => config.external_url ?? '';

/** The issues that a text says it closes, whoever sees them. `#1` is of the owner. */
export const closingIssuesOf = async (
  platform: Pick<Platform, 'config'>,
  db: Reader,
  owner: Owner,
  { text, baseUrl = baseUrlOf(platform) }: { text: string; baseUrl?: string | undefined },
): Promise<NamedIssue[]> => {
  const namespace = owner.full_path.slice(0, owner.full_path.lastIndexOf('/'));
  return await issuesNamed(
    db,
    owner,
    closingReferences(text, { baseUrl, namespace, project: owner.full_path }),
  );
};

/** All that a request says: its title, its description, and the messages of its commits. */
export const closingText = async (
  db: Reader,
  { title, description, diff_id }: { title: string; description: string | null; diff_id: number | null },
): Promise<string> => {
  const row =
    diff_id === null
      ? undefined
      : await db
          .selectFrom('merge_request_diff_texts')
          .select('commits')
          .where('diff_id', '=', diff_id)
          .executeTakeFirst();
  const commits = JSON.parse(row?.commits ?? '[]') as VersionCommit[];
  return [title, description ?? '', ...commits.map(({ message }) => message)].join('\n');
};

/** The issues that a request closes when it is merged; none unless into the default branch. */
export const closingIssues = async (
  platform: Pick<Platform, 'config'>,
  db: Reader,
  { merge_request, project }: Pick<FoundMergeRequest, 'merge_request' | 'project'>,
  baseUrl?: string,
): Promise<NamedIssue[]> => {
  if (merge_request.target_branch !== project.default_branch) return [];
  const text = await closingText(db, merge_request);
  return await closingIssuesOf(platform, db, project, { text, baseUrl });
};

/** Keeps which issues a request closes, for those who ask an issue. */
export const storeClosingIssues = async (
  platform: Pick<Platform, 'config'>,
  tx: Tx,
  found: Pick<FoundMergeRequest, 'merge_request' | 'project'>,
  baseUrl?: string,
): Promise<void> => {
  const { id } = found.merge_request;
  const issues = await closingIssues(platform, tx.db, found, baseUrl);
  const stored = tx.db.selectFrom('merge_requests_closing_issues').where('merge_request_id', '=', id);
  const before = new Set((await stored.select('issue_id').execute()).map(({ issue_id }) => issue_id));
  const after = new Set(issues.map((issue) => issue.id));
  // Only what changes is written: each row ages the lists of issues.
  const removed = [...before.difference(after)];
  if (removed.length > 0) {
    const links = tx.db.deleteFrom('merge_requests_closing_issues').where('merge_request_id', '=', id);
    await links.where('issue_id', 'in', removed).execute();
  }
  const rows = [...after.difference(before)].map((issue_id) => ({ merge_request_id: id, issue_id }));
  await insertRows(tx.db, 'merge_requests_closing_issues', rows);
};

/** Those of the issues that a viewer sees, as far as roles alone tell and his own. */
export const seenBy = async (db: Reader, viewer: Viewer, issues: NamedIssue[]): Promise<NamedIssue[]> => {
  if (issues.length === 0 || viewer.user_id === null) return [];
  const rows = await db
    .selectFrom('assignees')
    .select('target_id')
    .where('target_type', '=', 'Issue')
    .where(
      'target_id',
      'in',
      issues.map(({ id }) => id),
    )
    .where('user_id', '=', viewer.user_id)
    .execute();
  const assigned = new Set(rows.map(({ target_id }) => target_id));
  return issues.filter((issue) => {
    const { project_id, namespace_id, visibility, issues_access_level } = issue;
    const facts = { id: project_id, namespace_id, visibility, issues_access_level, deleted_at: null };
    const assignee_ids = assigned.has(issue.id) && viewer.user_id !== null ? [viewer.user_id] : [];
    return canSeeIssue(viewer, facts, { ...issue, assignee_ids });
  });
};

/** Closes the issues in the name of the user who caused it, each only if he may. */
export const closeAs = async (
  tx: Tx,
  cause: Cause,
  issues: readonly NamedIssue[],
  by: (project: Project) => ClosedBy,
): Promise<void> => {
  if (issues.length === 0) return;
  const viewer = await actingViewer(tx.db, cause.user.id, tx.now);
  if (viewer !== null) await closeIssues(tx, cause, issues, { viewer, by });
};
