import { type Call, requireActor } from '../../core/access/call.ts';
import { levels } from '../../core/access/levels.ts';
import { mayInGroup } from '../../core/access/may.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { UsersTable } from '../../platform/db/schema/identity.ts';
import type { Visibility } from '../../platform/db/schema/column_types.ts';
import { Failure, forbidden, invalid, nothingToChange } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { generateRepositoryPath } from '../../platform/git/storages.ts';
import { inheritedSwitch, switchProblem } from '../../identity/groups/shared_runners.ts';
import { type Namespace, lockNamespace, retryOnTakenName } from '../../identity/namespaces/claim_path.ts';
import { claimRoute } from '../../identity/namespaces/create.ts';
import { insertMember } from '../../identity/namespaces/add_member.ts';
import { refuseProblems } from '../../identity/namespaces/refuse_problems.ts';
import { findVisibilityProblem, chooseStorage } from '../../core/settings/setting_effects.ts';
import { personalNamespaces } from '../../identity/users/queries.ts';
import type { ProjectInput } from './fields.ts';
import type { ImportSource } from './imports/import_source.ts';
import { scheduleImport } from './imports/schedule_import.ts';
import {
  limitText,
  nameProblem,
  pathFromName,
  pathProblem,
  visibilityIn,
  visibilityProblem,
} from './rules.ts';
import { replaceTopics } from './topics.ts';
import { omitEmpty } from '../../platform/omit_empty.ts';

/** The user who will own the project. */
export type Creator = { id: number } & Pick<UsersTable, 'projects_limit' | 'external'>;

/** The failure for a namespace that is missing, hidden or not open to the caller. */
const namespaceRefused = (): Failure => invalid({ namespace: ['is not valid'] });

export const mayCreateIn = (call: Call, creator: Creator, namespace: Namespace): boolean => {
  if (namespace.kind === 'group') return mayInGroup(call.viewer, 'create_project', namespace);
  return namespace.owner_id === creator.id || call.admin;
};

/** Loads the namespace. @param namespaceId null: the creator's own */
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

/** Checks the quota of personal projects. @throws Failure 403 if it is reached */
export const requireProjectQuota = async (tx: Tx, creator: Creator, { kind }: Namespace): Promise<void> => {
  if (kind === 'group') return;
  const limit = creator.external === 1 ? 0 : creator.projects_limit;
  const namespaces = await personalNamespaces(tx.db, [creator.id]);
  if ((namespaces.get(creator.id)?.projects ?? 0) >= limit)
    throw new Failure('forbidden', { message: [limitText(limit)] });
};

/** Returns the visibility: by default the instance's, but never wider than the group's. */
const getNewVisibility = (call: Call, { visibility }: ProjectInput, namespace: Namespace): Visibility => {
  return visibility ?? visibilityIn(namespace, call.settings.default_project_visibility);
};

/** The client's input and what another operation adds: for a fork, its parent and storage. */
export type NewProject = ProjectInput & {
  forked_from_project_id?: number;
  fork_network_id?: number;
  repository_storage?: string;
  /** The repository to import. */
  source?: ImportSource;
};

type Named = Omit<NewProject, 'source'> & {
  name: string;
  path: string;
  visibility: Visibility;
  repository_storage: string;
};

/** An empty repository has no default branch, whatever name is requested. */
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
      // The contract's `expire_in` also expires the newest artifacts; a project may keep them.
      keep_latest_artifact: 0,
      ...columns,
      repository_path: generateRepositoryPath(),
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

/** Adds the owner of the personal namespace and the creator as masters. */
const addMasters = async (call: Call, tx: Tx, id: number, userIds: Set<number>): Promise<void> => {
  for (const user_id of userIds) {
    await insertMember(tx, requireActor(call), ['Project', id], { user_id, access_level: levels.master });
  }
};

const nonEmpty = (text: string | undefined): string | undefined => omitEmpty(text);

/**
 * Creates a project and returns its id. Name and path default to each other.
 * @param namespaceId null: the creator's own
 */
export const createProject = async (
  call: Call,
  creator: Creator,
  namespaceId: number | null,
  { source, ...input }: NewProject,
): Promise<number> => {
  if (input.name === undefined && input.path === undefined) {
    throw nothingToChange(['name', 'path']);
  }
  const name = nonEmpty(input.name) ?? input.path ?? '';
  const path = nonEmpty(input.path) ?? pathFromName(name);
  const unlocked = await findNamespace(call, creator, namespaceId);
  return await retryOnTakenName(call, async (tx) => {
    const namespace = await lockNamespace(tx, unlocked.id);
    if (namespace === undefined) throw namespaceRefused();
    await requireProjectQuota(tx, creator, namespace);
    // As in an update, only administrators decide the costs of a project.
    if ((input.max_artifacts_size ?? null) !== null && !call.admin) throw forbidden();
    const visibility = getNewVisibility(call, input, namespace);
    const repository_storage = input.repository_storage ?? chooseStorage(call.settings, Math.random());
    const { shared_runners_enabled = inheritedSwitch(namespace) } = input;
    const columns = { ...input, name, path, visibility, repository_storage, shared_runners_enabled };
    const proposal = { id: null, namespace, ...columns };
    refuseProblems({
      name: await nameProblem(tx, proposal),
      path: await pathProblem(tx, proposal),
      shared_runners_enabled: switchProblem(namespace, shared_runners_enabled),
      visibility_level: findVisibilityProblem(call, columns.visibility) ?? visibilityProblem(proposal),
    });
    const id = await insertProject(tx, creator, namespace, columns);
    if (source !== undefined)
      await scheduleImport(tx, call.platform, { project_id: id, user_id: creator.id, source });
    if (namespace.kind === 'user') {
      await addMasters(call, tx, id, new Set([creator.id, namespace.owner_id ?? creator.id]));
    }
    await recordEvent(tx, requireActor(call), {
      kind: 'project.created',
      project_id: id,
      target_type: 'Project',
      target_id: id,
      data: { full_path: `${namespace.full_path}/${path}`, visibility: columns.visibility },
    });
    return id;
  });
};
