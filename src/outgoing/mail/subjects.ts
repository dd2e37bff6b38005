/** Loads the subjects of mails, each kind in one statement, with the rule for who may read it. */
import { may } from '../../core/access/may.ts';
import { canSeeIssue, canSeeMergeRequests, canSeeProject } from '../../core/access/visible.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import { pipelineUrl } from '../../code/repository/statuses/pipeline_summary.ts';
import type { Store } from '../../platform/db/open.ts';
import type { MailsTable } from '../../platform/db/schema/mail.ts';
import { issueUrl } from '../../planning/issues/web_url.ts';
import { type Project, projectsById } from '../../projects/projects/find.ts';
import { canSeeSnippet } from '../../projects/snippets/visible.ts';
import { mergeRequestUrl } from '../../review/merge_requests/web_url.ts';

type SubjectRef = Pick<MailsTable, 'target_type' | 'target_id'>;

export type Subject = {
  project: Project;
  /** `issue #5`, `merge request !5`, `snippet $5`, `pipeline #5`, `release v1.0`, `commit 1a2b3c4d` */
  name: string;
  /** `#5`, `!5`, `$5`, `v1.0`; the full path of a project */
  reference: string;
  title: string;
  description: string | null;
  /** For an open issue; null if there is none. */
  due_date?: string | null;
  is_confidential: boolean;
  /** `issue-5`: id of the thread that its mails form. */
  thread: string;
  url: (baseUrl: string) => string;
  isVisibleTo: (viewer: Viewer) => boolean;
};

export const subjectKey = ({ target_type, target_id }: SubjectRef): string => `${target_type} ${target_id}`;

const listIds = (refs: readonly SubjectRef[], type: SubjectRef['target_type']): number[] => [
  ...new Set(
    refs.flatMap(({ target_type, target_id }) =>
      target_type === type && target_id !== null ? [target_id] : [],
    ),
  ),
];

type Loaded = { ref: SubjectRef; project_id: number; complete: (project: Project) => Subject };

const loadIssues = async ({ db, dialect }: Store, ids: readonly number[]): Promise<Loaded[]> => {
  if (ids.length === 0) return [];
  const [rows, assignees] = await Promise.all([
    db
      .selectFrom('issues')
      .select(['id', 'iid', 'project_id', 'title', 'description', 'author_id'])
      .select(['confidential', 'state', 'due_date', 'deleted_at'])
      .where(dialect.oneOf('id', ids))
      .execute(),
    db
      .selectFrom('assignees')
      .select(['target_id', 'user_id'])
      .where('target_type', '=', 'Issue')
      .where(dialect.oneOf('target_id', ids))
      .execute(),
  ]);
  return rows.map((row) => {
    const { id, iid, project_id, title, description } = row;
    const assignee_ids = assignees.filter(({ target_id }) => target_id === id).map(({ user_id }) => user_id);
    const complete = (project: Project): Subject => ({
      project,
      name: `issue #${iid}`,
      reference: `#${iid}`,
      title,
      description,
      due_date: row.state === 'opened' ? row.due_date : null,
      is_confidential: row.confidential === 1,
      thread: `issue-${id}`,
      url: (baseUrl) => issueUrl(baseUrl, project.full_path, iid),
      isVisibleTo: (viewer) => canSeeIssue(viewer, project, { ...row, assignee_ids }),
    });
    return { ref: { target_type: 'Issue', target_id: id }, project_id, complete };
  });
};

const loadMergeRequests = async ({ db, dialect }: Store, ids: readonly number[]): Promise<Loaded[]> => {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('merge_requests')
    .select(['id', 'iid', 'project_id', 'title', 'description', 'deleted_at'])
    .where(dialect.oneOf('id', ids))
    .execute();
  return rows.map(({ id, iid, project_id, title, description, deleted_at }) => {
    const complete = (project: Project): Subject => ({
      project,
      name: `merge request !${iid}`,
      reference: `!${iid}`,
      title,
      description,
      is_confidential: false,
      thread: `merge-request-${id}`,
      url: (baseUrl) => mergeRequestUrl(baseUrl, project.full_path, iid),
      isVisibleTo: (viewer) => deleted_at === null && canSeeMergeRequests(viewer, project),
    });
    return { ref: { target_type: 'MergeRequest', target_id: id }, project_id, complete };
  });
};

const loadSnippets = async ({ db, dialect }: Store, ids: readonly number[]): Promise<Loaded[]> => {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('snippets')
    .select(['id', 'project_id', 'title', 'description', 'author_id', 'visibility'])
    .where(dialect.oneOf('id', ids))
    .execute();
  return rows.flatMap(({ id, project_id, title, description, ...facts }) => {
    if (project_id === null) return [];
    const complete = (project: Project): Subject => ({
      project,
      name: `snippet $${id}`,
      reference: `$${id}`,
      title,
      description,
      is_confidential: false,
      thread: `snippet-${id}`,
      url: (baseUrl) => `${baseUrl}/${project.full_path}/snippets/${id}`,
      isVisibleTo: (viewer) => may(viewer, 'read_snippet', project) && canSeeSnippet(viewer, project, facts),
    });
    return [{ ref: { target_type: 'Snippet', target_id: id }, project_id, complete }];
  });
};

/** Failed jobs that a mail names. */
const maxFailedJobs = 10;

const loadPipelines = async ({ db, dialect }: Store, ids: readonly number[]): Promise<Loaded[]> => {
  if (ids.length === 0) return [];
  const [rows, jobs] = await Promise.all([
    db
      .selectFrom('pipelines')
      .select(['id', 'project_id', 'ref', 'sha'])
      .where(dialect.oneOf('id', ids))
      .execute(),
    db
      .selectFrom('jobs')
      .select(['pipeline_id', 'name'])
      .where(dialect.oneOf('pipeline_id', ids))
      .where('status', '=', 'failed')
      .where('allow_failure', '=', 0)
      .orderBy('id')
      .limit(maxFailedJobs * ids.length)
      .execute(),
  ]);
  return rows.map(({ id, project_id, ref, sha }) => {
    const failed = jobs.filter(({ pipeline_id }) => pipeline_id === id).slice(0, maxFailedJobs);
    const complete = (project: Project): Subject => ({
      project,
      name: `pipeline #${id}`,
      reference: `#${id}`,
      title: `Pipeline for ${ref}`,
      description: [`Commit: ${sha}`, ...failed.map(({ name }) => `Failed job: ${name}`)].join('\n'),
      is_confidential: false,
      thread: `pipeline-${id}`,
      url: (baseUrl) => pipelineUrl(baseUrl, project.full_path, id),
      isVisibleTo: (viewer) => may(viewer, 'read_pipeline', project),
    });
    return { ref: { target_type: 'Pipeline', target_id: id }, project_id, complete };
  });
};

const loadReleases = async ({ db, dialect }: Store, ids: readonly number[]): Promise<Loaded[]> => {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('releases')
    .select(['id', 'project_id', 'tag', 'name', 'description'])
    .where(dialect.oneOf('id', ids))
    .execute();
  return rows.map(({ id, project_id, tag, name, description }) => {
    const complete = (project: Project): Subject => ({
      project,
      name: `release ${tag}`,
      reference: tag,
      title: name ?? tag,
      description,
      is_confidential: false,
      thread: `release-${id}`,
      url: (baseUrl) => `${baseUrl}/${project.full_path}/-/releases/${encodeURIComponent(tag)}`,
      isVisibleTo: (viewer) => may(viewer, 'read_release', project),
    });
    return { ref: { target_type: 'Release', target_id: id }, project_id, complete };
  });
};

const loadCommitComments = async ({ db, dialect }: Store, ids: readonly number[]): Promise<Loaded[]> => {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('commit_comments')
    .select(['id', 'project_id', 'sha', 'note'])
    .where(dialect.oneOf('id', ids))
    .execute();
  return rows.map(({ id, project_id, sha, note }) => {
    const short = sha.slice(0, 8);
    const complete = (project: Project): Subject => ({
      project,
      name: `commit ${short}`,
      reference: short,
      title: `Commit ${short}`,
      description: note,
      is_confidential: false,
      thread: `commit-${project_id}-${sha}`,
      url: (baseUrl) => `${baseUrl}/${project.full_path}/-/commit/${sha}#note_${id}`,
      isVisibleTo: (viewer) => may(viewer, 'read_code', project),
    });
    return { ref: { target_type: 'CommitComment', target_id: id }, project_id, complete };
  });
};

/** The projects themselves, which moved. */
const loadMovedProjects = (ids: readonly number[]): Loaded[] =>
  ids.map((id) => {
    const complete = (project: Project): Subject => ({
      project,
      name: `project ${project.name}`,
      reference: project.full_path,
      title: 'Project moved',
      description: null,
      is_confidential: false,
      thread: `project-${id}`,
      url: (baseUrl) => `${baseUrl}/${project.full_path}`,
      isVisibleTo: (viewer) => canSeeProject(viewer, project),
    });
    return { ref: { target_type: 'Project', target_id: id }, project_id: id, complete };
  });

/** Loads the subjects of mails by `subjectKey`, without deleted subjects. */
export const loadSubjects = async (
  store: Store,
  refs: readonly SubjectRef[],
): Promise<Map<string, Subject>> => {
  const stored = await Promise.all([
    loadIssues(store, listIds(refs, 'Issue')),
    loadMergeRequests(store, listIds(refs, 'MergeRequest')),
    loadSnippets(store, listIds(refs, 'Snippet')),
    loadPipelines(store, listIds(refs, 'Pipeline')),
    loadCommitComments(store, listIds(refs, 'CommitComment')),
    loadReleases(store, listIds(refs, 'Release')),
  ]);
  const loaded = [...stored.flat(), ...loadMovedProjects(listIds(refs, 'Project'))];
  const projectIds = [...new Set(loaded.map(({ project_id }) => project_id))];
  const projects = projectIds.length === 0 ? new Map() : await projectsById(store.db, projectIds);
  const complete = loaded.flatMap(({ ref, project_id, complete: toSubject }) => {
    const project = (projects as Map<number, Project>).get(project_id);
    return project === undefined || project.deleted_at !== null
      ? []
      : [[subjectKey(ref), toSubject(project)] as const];
  });
  return new Map(complete);
};
