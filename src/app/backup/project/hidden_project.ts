/**
 * Creates a project that nobody sees, and publishes it when it is whole. Meanwhile it is a removed project whose
 * removal is due later and later: if the process dies, the service removes what there is.
 */
import type { Selectable } from 'kysely';
import { StartFailure } from '../../../platform/errors.ts';
import type { Store, Tx } from '../../../platform/db/open.ts';
import { generateRepositoryPath } from '../../../platform/git/storages.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import { levels } from '../../../core/access/levels.ts';
import { inheritedSwitch } from '../../../identity/groups/shared_runners.ts';
import { claimRoute } from '../../../identity/namespaces/create.ts';
import { type Namespace, lockNamespace } from '../../../identity/namespaces/claim_path.ts';
import { enqueueCodeIndex } from '../../../projects/projects/enqueue_code_index.ts';
import { nameProblem, pathProblem, visibilityIn } from '../../../projects/projects/rules.ts';
import { replaceTopics } from '../../../projects/projects/topics.ts';
import type { ProjectsTable } from '../../../platform/db/schema/projects.ts';

export type ProjectRow = Selectable<ProjectsTable>;

/** Milliseconds after which an abandoned project is removed. */
const abandonedAfter = 10 * 60_000;

const removalKey = (id: number): string => `purge_project:${id}`;

/** Finds the namespace of a path `group/name`, and the last part. @throws StartFailure */
export const findPlace = async (
  store: Store,
  fullPath: string,
): Promise<{ namespaceId: number; path: string }> => {
  const at = fullPath.lastIndexOf('/');
  const [above, path] = [fullPath.slice(0, Math.max(at, 0)), fullPath.slice(at + 1)];
  const row = await store.db
    .selectFrom('routes')
    .select('source_id')
    .where('path', '=', above.toLowerCase())
    .where('source_type', '=', 'Namespace')
    .executeTakeFirst();
  if (row === undefined)
    throw new StartFailure(`group or user "${above}" not found: create it, or choose another path with --as`);
  return { namespaceId: row.source_id, path };
};

type Target = { namespaceId: number; path: string; project: ProjectRow };

/** Checks the place, and returns the name: the project's own, or the path where another project has it. */
const chooseName = async (
  tx: Tx,
  { namespace, path, project }: { namespace: Namespace; path: string; project: ProjectRow },
): Promise<string> => {
  const proposal = { id: null, namespace, path, name: project.name, visibility: project.visibility };
  const problem = await pathProblem(tx, proposal);
  if (problem !== null)
    throw new StartFailure(`"${namespace.full_path}/${path}" ${problem}: name another path with --as`);
  if ((await nameProblem(tx, proposal)) === null) return project.name;
  if ((await nameProblem(tx, { ...proposal, name: path })) === null) return path;
  throw new StartFailure(
    `a project of "${namespace.full_path}" has the name "${project.name}": name another path with --as`,
  );
};

const requireNamespace = async (tx: Tx, id: number): Promise<Namespace> => {
  const namespace = await lockNamespace(tx, id);
  if (namespace === undefined) throw new StartFailure('the group was removed meanwhile');
  return namespace;
};

/**
 * Inserts the project as a removed one.
 * @returns its id
 * @throws StartFailure if the path is taken
 */
export const insertHidden = async (store: Store, { namespaceId, path, project }: Target): Promise<number> =>
  await store.write(async (tx) => {
    const namespace = await requireNamespace(tx, namespaceId);
    const name = await chooseName(tx, { namespace, path, project });
    const { id: _id, ...columns } = project;
    const { id } = await tx.db
      .insertInto('projects')
      .values({
        ...columns,
        name,
        path,
        namespace_id: namespace.id,
        full_path: `${namespace.full_path}/${path}`,
        visibility: visibilityIn(namespace, project.visibility),
        shared_runners_enabled: inheritedSwitch(namespace) === 0 ? 0 : project.shared_runners_enabled,
        repository_path: generateRepositoryPath(),
        repository_moving: 0,
        import_status: 'none',
        forked_from_project_id: null,
        fork_network_id: null,
        runners_token_hash: null,
        deleted_at: tx.now,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await tx.db.insertInto('project_counters').values({ project_id: id }).execute();
    const later = { unique_key: removalKey(id), run_at: tx.now + abandonedAfter };
    await enqueue(tx, 'purge_project', { project_id: id }, later);
    return id;
  });

/** Postpones the removal while the project is filled. */
export const postponeRemoval = async (store: Store, id: number): Promise<void> =>
  await store.write(async ({ db, now }) => {
    await db
      .updateTable('work')
      .set({ run_at: now + abandonedAfter })
      .where('unique_key', '=', removalKey(id))
      .execute();
  });

/** Makes the service remove the project immediately. */
export const removeHidden = async (store: Store, id: number): Promise<void> =>
  await store.write(async (tx) => {
    await enqueue(tx, 'purge_project', { project_id: id }, { unique_key: removalKey(id) });
  });

/** Adds the owner of a personal namespace. */
const addOwner = async (tx: Tx, { owner_id }: Namespace, projectId: number): Promise<void> => {
  if (owner_id === null) return;
  await tx.db
    .insertInto('members')
    .values({
      user_id: owner_id,
      source_type: 'Project',
      source_id: projectId,
      access_level: levels.master,
      expires_at: null,
      created_by_id: null,
      created_at: tx.now,
    })
    .onConflict((clash) => clash.doNothing())
    .execute();
};

/**
 * Makes the project visible at its path.
 * @throws StartFailure if the path was taken meanwhile, or the removal has begun
 */
export const publishProject = async (
  store: Store,
  { id, namespaceId, path, project }: Target & { id: number },
  topics: readonly string[],
): Promise<string> =>
  await store.write(async (tx) => {
    const namespace = await requireNamespace(tx, namespaceId);
    const name = await chooseName(tx, { namespace, path, project });
    const { numDeletedRows } = await tx.db
      .deleteFrom('work')
      .where('unique_key', '=', removalKey(id))
      .executeTakeFirst();
    if (numDeletedRows === 0n)
      throw new StartFailure('the restore took too long and was removed: run it again');
    const full_path = `${namespace.full_path}/${path}`;
    await tx.db
      .updateTable('projects')
      .set({ deleted_at: null, name, full_path })
      .where('id', '=', id)
      .execute();
    await claimRoute(tx, full_path, ['Project', id]);
    await replaceTopics(tx, id, topics);
    await addOwner(tx, namespace, id);
    if (project.default_branch !== null) await enqueueCodeIndex(tx, id);
    await recordEvent(tx, null, {
      kind: 'project.created',
      project_id: id,
      target_type: 'Project',
      target_id: id,
      data: { full_path, visibility: project.visibility },
    });
    return full_path;
  });
