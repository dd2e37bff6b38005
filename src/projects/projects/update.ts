import { isDeepStrictEqual } from 'node:util';
import type { Selectable } from 'kysely';
import { type Call, requireActor } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { ProjectsTable } from '../../platform/db/schema/projects.ts';
import { conflict, forbidden, invalid, notFound } from '../../platform/errors.ts';
import type { Checked } from '../../platform/http/precondition.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { switchProblem } from '../../identity/groups/shared_runners.ts';
import { enqueueAvatarRemoval, hideAvatar } from '../../identity/avatars/store_avatar.ts';
import { compareColumns } from '../../core/events/compare_columns.ts';
import { type Namespace, lockNamespace, retryOnTakenName } from '../../identity/namespaces/claim_path.ts';
import { refuseProblems } from '../../identity/namespaces/refuse_problems.ts';
import { renameProjectRoute } from '../../identity/namespaces/rename.ts';
import { findVisibilityProblem } from '../../core/settings/setting_effects.ts';
import type { ProjectColumns, ProjectInput } from './fields.ts';
import { enqueueCodeIndex } from './enqueue_code_index.ts';
import { mayEndWaits, enqueueWaitingMerges } from './enqueue_waiting_merges.ts';
import type { Project } from './find.ts';
import { nameProblem, pathProblem, visibilityProblem } from './rules.ts';
import { loadTopics, replaceTopics } from './topics.ts';

type Stored = Selectable<ProjectsTable>;

/**
 * Authorizes the changes: masters change a project, owners its name, path and visibility, administrators its costs.
 */
const admit = (call: Call, project: Project, requested: ProjectColumns): void => {
  const { changes } = compareColumns(project, requested);
  const isRenamed = changes.name !== undefined || changes.path !== undefined;
  if (isRenamed && !may(call.viewer, 'rename_project', project)) throw forbidden();
  const isOpened = changes.visibility !== undefined;
  if (isOpened && !may(call.viewer, 'change_visibility', project)) throw forbidden();
  if (changes.max_artifacts_size !== undefined && !call.admin) throw forbidden();
};

/** Loads a project and locks it until the transaction ends. @throws Failure 404 */
export const lockProject = async (tx: Tx, { id }: Pick<Project, 'id'>): Promise<Stored> => {
  const project = await tx.db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();
  if (project === undefined) throw notFound('Project');
  return project;
};

/** Locks the namespace first, as everywhere. The project may have been transferred since it was loaded. */
const lockInNamespace = async (tx: Tx, unlocked: Project): Promise<[Stored, Namespace]> => {
  const namespace = await lockNamespace(tx, unlocked.namespace_id);
  const project = await lockProject(tx, unlocked);
  if (project.namespace_id !== namespace?.id) throw conflict('The project has been transferred meanwhile');
  return [project, namespace];
};

/** Checks only the changed attributes, so that names older than a rule stay valid. */
const check = async (
  call: Call,
  tx: Tx,
  [project, namespace]: [Stored, Namespace],
  changes: ProjectColumns,
): Promise<void> => {
  const { id, name, path, visibility } = { ...project, ...changes };
  const proposal = { id, namespace, name, path, visibility };
  refuseProblems({
    name: changes.name === undefined ? null : await nameProblem(tx, proposal),
    path: changes.path === undefined ? null : await pathProblem(tx, proposal),
    shared_runners_enabled: switchProblem(namespace, changes.shared_runners_enabled ?? 0),
    visibility_level:
      changes.visibility === undefined
        ? null
        : (findVisibilityProblem(call, visibility) ?? visibilityProblem(proposal)),
  });
};

/** Checks the default branch, which must exist. An empty repository has none. */
const withDefaultBranch = async (
  { platform }: Call,
  project: Project,
  { default_branch: branch, ...requested }: ProjectColumns,
): Promise<ProjectColumns> => {
  if (
    branch === undefined ||
    branch === '' ||
    project.default_branch === null ||
    branch === project.default_branch
  )
    return requested;
  const { refs } = await platform.git
    .repository(project)
    .ask('refs.get', { names: [`refs/heads/${branch}`] });
  if ((refs[0] ?? null) === null) {
    throw invalid({ base: [`Could not change HEAD: branch '${branch}' does not exist`] });
  }
  return { ...requested, default_branch: branch };
};

/** @returns the topics before and after, for the change log; empty if unchanged */
const changeTopics = async (
  tx: Tx,
  projectId: number,
  topics: string[] | undefined,
): Promise<Record<string, [unknown, unknown]>> => {
  if (topics === undefined) return {};
  const before = await loadTopics(tx.db, projectId);
  if (isDeepStrictEqual(before, topics)) return {};
  await replaceTopics(tx, projectId, topics);
  return { topics: [before, topics] };
};

/**
 * Changes a project that the caller may administer. Does nothing without a difference.
 * @param alsoChange called in the transaction, with the project before the edit
 */
export const updateProject = async (
  call: Call,
  unlocked: Project,
  { topics, check: checkBefore, ...edit }: Checked<ProjectInput, Stored & { topics: string[] }>,
  alsoChange?: (tx: Tx, project: Stored) => Promise<void>,
): Promise<void> => {
  admit(call, unlocked, edit);
  const requested = await withDefaultBranch(call, unlocked, edit);
  await retryOnTakenName(call, async (tx) => {
    const [project, namespace] = await lockInNamespace(tx, unlocked);
    checkBefore?.({ ...project, topics: await loadTopics(tx.db, project.id) });
    await alsoChange?.(tx, project);
    const { changes, data: changed } = compareColumns(project, requested);
    const topicChange = await changeTopics(tx, project.id, topics);
    const data = { ...changed, ...topicChange };
    if (Object.keys(data).length === 0) return;
    await check(call, tx, [project, namespace], changes);
    const full_path = `${namespace.full_path}/${changes.path ?? project.path}`;
    if (changes.path !== undefined) await renameProjectRoute(tx, project.id, full_path);
    await tx.db
      .updateTable('projects')
      .set({ ...changes, full_path, updated_at: tx.now })
      .where('id', '=', project.id)
      .execute();
    if (changes.default_branch !== undefined) await enqueueCodeIndex(tx, project.id);
    if (changes.avatar !== undefined) await enqueueAvatarRemoval(tx, project.avatar);
    if (mayEndWaits(changes)) await enqueueWaitingMerges(tx, project.id);
    const target = { project_id: project.id, target_type: 'Project', target_id: project.id };
    const event = { kind: 'project.updated', ...target, data: hideAvatar(data) } as const;
    await recordEvent(tx, requireActor(call), event);
  });
};

/** Archives a project, which makes it read-only, or unarchives it. */
export const archiveProject = async (call: Call, { id }: Project, archived: 0 | 1): Promise<void> =>
  await call.write(async (tx) => {
    const { numUpdatedRows } = await tx.db
      .updateTable('projects')
      .set({ archived, updated_at: tx.now })
      .where('id', '=', id)
      .where('archived', '<>', archived)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return;
    if (archived === 0) await enqueueWaitingMerges(tx, id);
    const target = { project_id: id, target_type: 'Project', target_id: id };
    const kind = archived === 1 ? 'project.archived' : 'project.unarchived';
    await recordEvent(tx, requireActor(call), { kind, ...target });
  });
