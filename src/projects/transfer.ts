/** Takes a project from one namespace to another. Its old paths lead to the new one. */
import { type Call, actorOf, userOf } from '../access/call.ts';
import { levels } from '../access/levels.ts';
import { anyOf } from '../access/visible.ts';
import type { Tx } from '../db/open.ts';
import { type Failure, conflict, notFound, refused } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { switchProblem } from '../groups/shared_runners.ts';
import { visibleGroups } from '../groups/visible.ts';
import { type Namespace, lockNamespace, takingNames } from '../namespaces/claim.ts';
import { ensureMember } from '../namespaces/member.ts';
import { ownNamespaces } from '../namespaces/queries.ts';
import { namespaceIdOf } from '../namespaces/redirects.ts';
import { renameProjectRoute } from '../namespaces/rename.ts';
import { mayCreateIn, requireRoom } from './create.ts';
import type { Project } from './find.ts';
import { nameProblem, pathProblem, visibilityIn } from './rules.ts';
import { lockProject } from './update.ts';

/** What else moves with a project, once it stands in its new namespace: labels and milestones of the groups it leaves. */
export type FollowTransfer = (tx: Tx, project: { id: number; namespace_id: number }) => Promise<void>;

const failed = (text: string): Failure => refused(`Failed to transfer project ${text}`);

/** A namespace that the caller sees. Hidden and missing are alike: 404. */
const findTarget = async (call: Call, id: number | string): Promise<Namespace> => {
  const { db, viewer, platform } = call;
  const { words } = platform.store;
  const found = await db
    .selectFrom('namespaces')
    .selectAll()
    .where(anyOf([ownNamespaces(viewer, words), visibleGroups(viewer, words)]))
    .where('id', '=', namespaceIdOf(id))
    .executeTakeFirst();
  if (found === undefined) throw notFound('Namespace');
  return found;
};

/** @throws Failure 400 */
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

/** In one order for all: two who change places must not wait for each other. */
const lockBoth = async (tx: Tx, ids: [number, number]): Promise<Map<number, Namespace>> => {
  const locked = new Map<number, Namespace>();
  for (const id of ids.toSorted((one, other) => one - other)) {
    // oxlint-disable-next-line no-await-in-loop -- one lock after another
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
    await ensureMember(tx, actorOf(call), ['Project', project.id], member);
  }
  const target = { project_id: project.id, target_type: 'Project', target_id: project.id };
  const paths: [string, string] = [project.full_path, full_path];
  const data = { full_path: paths, visibility: [project.visibility, visibility] };
  await recordEvent(tx, actorOf(call), { kind: 'project.transferred', ...target, data });
};

/**
 * Moves a project that the caller owns. Where the new group is seen by fewer, so is the project from then on.
 * @throws Failure 404 for a namespace that he does not see, 400 where the project cannot go there
 */
export const transferProject = async (
  call: Call,
  found: Project,
  namespaceId: number | string,
  follow: FollowTransfer,
): Promise<void> => {
  const { id: targetId } = await findTarget(call, namespaceId);
  await takingNames(call, async (tx) => {
    const namespaces = await lockBoth(tx, [found.namespace_id, targetId]);
    const locked = await lockProject(tx, found);
    const project = { ...found, ...locked };
    if (project.namespace_id !== found.namespace_id)
      throw conflict('The project has been transferred meanwhile');
    const namespace = namespaces.get(targetId);
    if (namespace === undefined) throw notFound('Namespace');
    if (project.namespace_id === targetId) throw failed('Project is already in this namespace.');
    const user = userOf(call);
    if (!mayCreateIn(call, user, namespace)) {
      throw failed("You don't have permission to transfer projects into that namespace.");
    }
    await requireRoom(tx, user, namespace);
    await requireFree(tx, project, namespace);
    await store(tx, call, [project, namespace]);
    await follow(tx, { id: project.id, namespace_id: targetId });
  });
};
