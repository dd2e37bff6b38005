/** Moves a project to another namespace. Its old paths redirect to the new one. */
import { type Call, requireActor, requireUser } from '../../core/access/call.ts';
import { levels } from '../../core/access/levels.ts';
import { anyOf } from '../../core/access/visible.ts';
import type { Tx } from '../../platform/db/open.ts';
import { type Failure, conflict, notFound, refused } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { switchProblem } from '../../identity/groups/shared_runners.ts';
import { visibleGroups } from '../../identity/groups/visible.ts';
import { type Namespace, lockNamespace, retryOnTakenName } from '../../identity/namespaces/claim_path.ts';
import { ensureMember } from '../../identity/namespaces/add_member.ts';
import { ownNamespaces } from '../../identity/namespaces/queries.ts';
import { selectNamespaceId } from '../../identity/namespaces/redirects.ts';
import { renameProjectRoute } from '../../identity/namespaces/rename.ts';
import { mayCreateIn, requireProjectQuota } from './create.ts';
import type { Project } from './find.ts';
import { nameProblem, pathProblem, visibilityIn } from './rules.ts';
import { lockProject } from './update.ts';

/** Replaces the labels and milestones of the project's former groups. */
export type TransferRecords = (tx: Tx, project: { id: number; namespace_id: number }) => Promise<void>;

const failed = (text: string): Failure => refused(`Failed to transfer project ${text}`);

/** Loads a namespace. Hidden and missing namespaces both give 404. */
const findTarget = async (call: Call, id: number | string): Promise<Namespace> => {
  const { db, viewer, platform } = call;
  const { dialect } = platform.store;
  const namespace = await db
    .selectFrom('namespaces')
    .selectAll()
    .where(anyOf([ownNamespaces(viewer, dialect), visibleGroups(viewer, dialect)]))
    .where('id', '=', selectNamespaceId(id))
    .executeTakeFirst();
  if (namespace === undefined) throw notFound('Namespace');
  return namespace;
};

/** Checks that the project may move there. @throws Failure 400 */
const requireFree = async (tx: Tx, project: Project, namespace: Namespace): Promise<void> => {
  const proposal = { ...project, namespace };
  const problems = [await nameProblem(tx, proposal), await pathProblem(tx, proposal)];
  const [problem] = problems.filter((one) => one !== null);
  if (problem === undefined) return;
  const isTaken = problem === 'has already been taken';
  throw failed(
    isTaken ? 'Project with same name or path in target namespace already exists' : `Path ${problem}`,
  );
};

/** Locks in a fixed order, so that concurrent transfers do not deadlock. */
const lockBoth = async (tx: Tx, ids: [number, number]): Promise<Map<number, Namespace>> => {
  const locked = new Map<number, Namespace>();
  for (const id of ids.toSorted((one, other) => one - other)) {
    const namespace = await lockNamespace(tx, id);
    if (namespace !== undefined) locked.set(id, namespace);
  }
  return locked;
};

const store = async (tx: Tx, call: Call, [project, namespace]: [Project, Namespace]): Promise<void> => {
  const full_path = `${namespace.full_path}/${project.path}`;
  const visibility = visibilityIn(namespace, project.visibility);
  await renameProjectRoute(tx, project.id, full_path);
  await tx.db
    .updateTable('projects')
    .set({
      namespace_id: namespace.id,
      full_path,
      visibility,
      updated_at: tx.now,
      ...(switchProblem(namespace, 1) !== null && { shared_runners_enabled: 0 }),
    })
    .where('id', '=', project.id)
    .execute();
  if (namespace.owner_id !== null) {
    const member = { user_id: namespace.owner_id, access_level: levels.master };
    await ensureMember(tx, requireActor(call), ['Project', project.id], member);
  }
  const target = { project_id: project.id, target_type: 'Project', target_id: project.id };
  const paths: [string, string] = [project.full_path, full_path];
  const data = { full_path: paths, visibility: [project.visibility, visibility] };
  await recordEvent(tx, requireActor(call), { kind: 'project.transferred', ...target, data });
};

/**
 * Moves a project that the caller owns. A narrower visibility of the new group applies to the project.
 * @throws Failure 404 for a hidden namespace, 400 if the project cannot move there
 */
export const transferProject = async (
  call: Call,
  unlocked: Project,
  namespaceId: number | string,
  transferRecords: TransferRecords,
): Promise<void> => {
  const { id: targetId } = await findTarget(call, namespaceId);
  await retryOnTakenName(call, async (tx) => {
    const namespaces = await lockBoth(tx, [unlocked.namespace_id, targetId]);
    const locked = await lockProject(tx, unlocked);
    const project = { ...unlocked, ...locked };
    if (project.namespace_id !== unlocked.namespace_id)
      throw conflict('The project has been transferred meanwhile');
    const namespace = namespaces.get(targetId);
    if (namespace === undefined) throw notFound('Namespace');
    if (project.namespace_id === targetId) throw failed('Project is already in this namespace.');
    const user = requireUser(call);
    if (!mayCreateIn(call, user, namespace)) {
      throw failed("You don't have permission to transfer projects into that namespace.");
    }
    await requireProjectQuota(tx, user, namespace);
    await requireFree(tx, project, namespace);
    await store(tx, call, [project, namespace]);
    await transferRecords(tx, { id: project.id, namespace_id: targetId });
  });
};
