/** Finds the issues that a merge request closes, from its title, its description and its commit messages. */
import { loadActingViewer } from '../../../core/access/background_actor.ts';
import type { Platform } from '../../../core/platform.ts';
import { canSeeIssue } from '../../../core/access/visible.ts';
import type { Viewer } from '../../../core/access/viewer.ts';
import { insertRows } from '../../../platform/db/insert.ts';
import { immutableRowCache } from '../../../platform/db/immutable_rows.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import type { Cause } from '../../../core/events/record_event.ts';
import {
  type ClosingReference,
  closingReferences,
} from '../../../planning/issuables/text/closing_pattern.ts';
import type { ClosedBy } from '../../../planning/issuables/text/system_note_text.ts';
import { closeIssues } from '../../../planning/issues/close.ts';
import type { Project } from '../../../projects/projects/find.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { loadVersionCommits } from '../versions/queries.ts';

/** A referenced issue with the fields that decide its visibility. */
export type NamedIssue = Awaited<ReturnType<typeof resolveIssues>>[number];

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

const loadIssues = (db: Reader, named: { 'issues.project_id': number; 'issues.iid': number }[]) =>
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

/** Loads the existing issues of references, in order. Ignores issues of the project this one was forked from. */
const resolveIssues = async (db: Reader, owner: Owner, references: ClosingReference[]) => {
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
  const issues = await loadIssues(db, named);
  const getPosition = (issue: { project_id: number; iid: number }): number =>
    places.indexOf(`${issue.project_id}#${issue.iid}`);
  return issues.toSorted((a, b) => getPosition(a) - getPosition(b));
};

const getBaseUrl = ({ config }: Pick<Platform, 'config'>): string => config.external_url ?? '';

/** Loads the issues that a text closes, regardless of visibility. `#1` refers to the owner. */
export const parseClosingIssues = async (
  platform: Pick<Platform, 'config'>,
  db: Reader,
  owner: Owner,
  { text, baseUrl = getBaseUrl(platform) }: { text: string; baseUrl?: string | undefined },
): Promise<NamedIssue[]> => {
  const namespace = owner.full_path.slice(0, owner.full_path.lastIndexOf('/'));
  return await resolveIssues(
    db,
    owner,
    closingReferences(text, { baseUrl, namespace, project: owner.full_path }),
  );
};

/** The messages of a version never change; longer messages are not cached. */
const cachedMessages = immutableRowCache<number, string>(1_000);
const maxCachedCharacters = 4_096;

/** Loads the messages of the commits of a version as one text. */
const loadCommitMessages = async (db: Reader, diff_id: number): Promise<string> => {
  const cached = db.isTransaction ? undefined : cachedMessages.get(db, diff_id);
  if (cached !== undefined) return cached;
  const commits = await loadVersionCommits(db, diff_id);
  if (commits.length === 0) return '';
  const messages = commits.map(({ message }) => message).join('\n');
  if (!db.isTransaction && messages.length <= maxCachedCharacters) cachedMessages.set(db, diff_id, messages);
  return messages;
};

/** Returns the title, the description and the commit messages of a request as one text. */
export const closingText = async (
  db: Reader,
  { title, description, diff_id }: { title: string; description: string | null; diff_id: number | null },
): Promise<string> => {
  const messages = diff_id === null ? '' : await loadCommitMessages(db, diff_id);
  return [title, description ?? '', messages].join('\n');
};

/** Loads the issues that merging a request closes. Empty unless it targets the default branch. */
export const loadClosingIssues = async (
  platform: Pick<Platform, 'config'>,
  db: Reader,
  { merge_request, project }: Pick<LoadedMergeRequest, 'merge_request' | 'project'>,
  baseUrl?: string,
): Promise<NamedIssue[]> => {
  if (merge_request.target_branch !== project.default_branch) return [];
  const text = await closingText(db, merge_request);
  return await parseClosingIssues(platform, db, project, { text, baseUrl });
};

/** Stores which issues a request closes, so an issue can list its closing requests. */
export const storeClosingIssues = async (
  platform: Pick<Platform, 'config'>,
  tx: Tx,
  loaded: Pick<LoadedMergeRequest, 'merge_request' | 'project'>,
  baseUrl?: string,
): Promise<void> => {
  const { id } = loaded.merge_request;
  const issues = await loadClosingIssues(platform, tx.db, loaded, baseUrl);
  const stored = tx.db.selectFrom('merge_requests_closing_issues').where('merge_request_id', '=', id);
  const before = new Set((await stored.select('issue_id').execute()).map(({ issue_id }) => issue_id));
  const after = new Set(issues.map((issue) => issue.id));
  // Writes only changes, because each row invalidates cached lists of issues.
  const removed = [...before.difference(after)];
  if (removed.length > 0) {
    const links = tx.db.deleteFrom('merge_requests_closing_issues').where('merge_request_id', '=', id);
    await links.where('issue_id', 'in', removed).execute();
  }
  const rows = [...after.difference(before)].map((issue_id) => ({ merge_request_id: id, issue_id }));
  await insertRows(tx.db, 'merge_requests_closing_issues', rows);
};

/** Returns the issues the viewer can see by role, as author or as assignee. */
export const filterVisible = async (
  db: Reader,
  viewer: Viewer,
  issues: NamedIssue[],
): Promise<NamedIssue[]> => {
  if (issues.length === 0) return [];
  const rows =
    viewer.user_id === null
      ? []
      : await db
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

/** Closes issues on behalf of the acting user. Skips issues that this user may not close. */
export const closeIssuesAs = async (
  tx: Tx,
  cause: Cause,
  issues: readonly NamedIssue[],
  by: (project: Project) => ClosedBy,
): Promise<void> => {
  if (issues.length === 0) return;
  const viewer = await loadActingViewer(tx.db, cause.user.id, tx.now);
  if (viewer !== null) await closeIssues(tx, cause, issues, { viewer, by });
};
