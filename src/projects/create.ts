import { type Call, actorOf } from '../access/call.ts';
import { levels } from '../access/levels.ts';
import { mayInGroup } from '../access/may.ts';
import type { Tx } from '../db/open.ts';
import type { UsersTable, Visibility } from '../db/schema.ts';
import { Failure, forbidden, invalid, nothingGiven } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { newRepositoryPath } from '../git/storages.ts';
import { inheritedSwitch, switchProblem } from '../groups/shared_runners.ts';
import { type Namespace, lockNamespace, takingNames } from '../namespaces/claim.ts';
import { claimRoute } from '../namespaces/create.ts';
import { insertMember } from '../namespaces/member.ts';
import { refuseProblems } from '../namespaces/problems.ts';
import { restrictedProblem, storageOf } from '../settings/governed.ts';
import { personalNamespaces } from '../users/queries.ts';
import type { ProjectInput } from './fields.ts';
import {
  limitText,
  nameProblem,
  pathFromName,
  pathProblem,
  visibilityIn,
  visibilityProblem,
} from './rules.ts';
import { replaceTopics } from './topics.ts';

/** Whose project it becomes. */
export type Creator = { id: number } & Pick<UsersTable, 'projects_limit' | 'external'>;

/** The same for a namespace that is missing, hidden or not open to the caller. */
const namespaceRefused = (): Failure => invalid({ namespace: ['is not valid'] });

export const mayCreateIn = (call: Call, creator: Creator, namespace: Namespace): boolean => {
  if (namespace.kind === 'group') return mayInGroup(call.viewer, 'create_project', namespace);
  return namespace.owner_id === creator.id || call.admin;
};

/** @param namespaceId null: the creator's own */
const findNamespace = async (
  call: Call,
  creator: Creator,
  namespaceId: number | null,
): Promise<Namespace> => {
  const query = call.db.selectFrom('namespaces').selectAll().where('deleted_at', 'is', null);
  const namespace = await (
    namespaceId === null
      ? query.where('owner_id', '=', creator.id).where('kind', '=', 'user')
      : query.where('id', '=', namespaceId)
  ).executeTakeFirst();
  if (namespace === undefined || !mayCreateIn(call, creator, namespace)) throw namespaceRefused();
  return namespace;
};

/** @throws Failure 403 where the user has as many personal projects as they may */
export const requireRoom = async (tx: Tx, creator: Creator, { kind }: Namespace): Promise<void> => {
  if (kind === 'group') return;
  const limit = creator.external === 1 ? 0 : creator.projects_limit;
  const namespaces = await personalNamespaces(tx.db, [creator.id]);
  if ((namespaces.get(creator.id)?.projects ?? 0) >= limit)
    throw new Failure('forbidden', { message: [limitText(limit)] });
};

/** By default as the instance says, but never wider than the group. */
const visibilityOf = (call: Call, { visibility }: ProjectInput, namespace: Namespace): Visibility => {
  return visibility ?? visibilityIn(namespace, call.settings.default_project_visibility);
};

/** What a client wants, and what another operation knows beside that: a fork, of which project, and where it lies. */
export type NewProject = ProjectInput & {
  forked_from_project_id?: number;
  fork_network_id?: number;
  repository_storage?: string;
};

type Named = NewProject & {
  name: string;
  path: string;
  visibility: Visibility;
  repository_storage: string;
};

/** An empty repository has no default branch, whatever it is to be called. */
const insertProject = async (
  tx: Tx,
  creator: Creator,
  namespace: Namespace,
  { default_branch: _branch, topics = [], ...columns }: Named,
): Promise<number> => {
  const full_path = `${namespace.full_path}/${columns.path}`;
  const { id } = await tx.db
    .insertInto('projects')
    .values({
      // The contract's `expire_in` ends artifacts, the newest too; a project may keep those.
      keep_latest_artifact: 0,
      ...columns,
      repository_path: newRepositoryPath(),
      namespace_id: namespace.id,
      full_path,
      creator_id: creator.id,
      created_at: tx.now,
      updated_at: tx.now,
      last_activity_at: tx.now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await tx.db.insertInto('project_counters').values({ project_id: id }).execute();
  await replaceTopics(tx, id, topics);
  await claimRoute(tx, full_path, ['Project', id]);
  return id;
};

/** In a personal namespace, its owner and whoever makes the project are its masters. */
const addMasters = async (call: Call, tx: Tx, id: number, userIds: Set<number>): Promise<void> => {
  for (const user_id of userIds) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    await insertMember(tx, actorOf(call), ['Project', id], { user_id, access_level: levels.master });
  }
};

const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/**
 * Makes a project; answers its id. Of name and path, either follows from the other.
 * @param namespaceId null: the creator's own
 */
export const createProject = async (
  call: Call,
  creator: Creator,
  namespaceId: number | null,
  wanted: NewProject,
): Promise<number> => {
  if (wanted.name === undefined && wanted.path === undefined) {
    throw nothingGiven(['name', 'path']);
  }
  const name = given(wanted.name) ?? wanted.path ?? '';
  const path = given(wanted.path) ?? pathFromName(name);
  const found = await findNamespace(call, creator, namespaceId);
  return await takingNames(call, async (tx) => {
    const namespace = await lockNamespace(tx, found.id);
    if (namespace === undefined) throw namespaceRefused();
    await requireRoom(tx, creator, namespace);
    // As in an update: what a project costs is up to administrators.
    if ((wanted.max_artifacts_size ?? null) !== null && !call.admin) throw forbidden();
    const visibility = visibilityOf(call, wanted, namespace);
    const repository_storage = wanted.repository_storage ?? storageOf(call.settings, Math.random());
    const { shared_runners_enabled = inheritedSwitch(namespace) } = wanted;
    const columns = { ...wanted, name, path, visibility, repository_storage, shared_runners_enabled };
    const proposal = { id: null, namespace, ...columns };
    refuseProblems({
      name: await nameProblem(tx, proposal),
      path: await pathProblem(tx, proposal),
      shared_runners_enabled: switchProblem(namespace, shared_runners_enabled),
      visibility_level: restrictedProblem(call, columns.visibility) ?? visibilityProblem(proposal),
    });
    const id = await insertProject(tx, creator, namespace, columns);
    if (namespace.kind === 'user') {
      await addMasters(call, tx, id, new Set([creator.id, namespace.owner_id ?? creator.id]));
    }
    await recordEvent(tx, actorOf(call), {
      kind: 'project.created',
      project_id: id,
      target_type: 'Project',
      target_id: id,
      data: { full_path: `${namespace.full_path}/${path}`, visibility: columns.visibility },
    });
    return id;
  });
};
