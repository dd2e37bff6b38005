/** Links and unlinks forks, and maintains fork networks. */
import { sql } from 'kysely';
import { type Call, requireActor } from '../../../core/access/call.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { conflict, notModified } from '../../../platform/errors.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import type { Project } from '../../../projects/projects/find.ts';

/** Returns the id of the fork network: the id of the project that all its forks descend from. */
export const getForkNetwork = ({ id, fork_network_id }: Pick<Project, 'id' | 'fork_network_id'>): number =>
  fork_network_id ?? id;

/** Selects the ids of a project and of all its direct and indirect forks. */
const withForks = (id: number) => sql<number>`(
  with recursive below (id) as (
    select cast(${id} as bigint)
    union
    select projects.id from projects join below on projects.forked_from_project_id = below.id
  ) select id from below)`;

const moveNetwork = async (tx: Tx, id: number, network: number): Promise<void> => {
  await tx.db
    .updateTable('projects')
    .set({ fork_network_id: network })
    .where(sql<boolean>`id in ${withForks(id)}`)
    .where('id', '<>', network)
    .execute();
};

const recordForkEvent = async (
  tx: Tx,
  call: Call,
  kind: string,
  [id, from]: [number, number],
): Promise<void> =>
  await recordEvent(tx, requireActor(call), {
    kind,
    project_id: id,
    target_type: 'Project',
    target_id: id,
    data: { forked_from_project_id: from },
  });

/**
 * Removes the fork relation of a project. Its own forks stay linked to it.
 * @throws Failure 304 if the project is not a fork
 */
export const unlinkFork = async (
  call: Call,
  { id, forked_from_project_id: from }: Project,
): Promise<void> => {
  if (from === null) throw notModified();
  await call.write(async (tx) => {
    const changed = await tx.db
      .updateTable('projects')
      .set({ forked_from_project_id: null, fork_network_id: null, updated_at: tx.now })
      .where('id', '=', id)
      .where('forked_from_project_id', 'is not', null)
      .returning('id')
      .executeTakeFirst();
    if (changed === undefined) throw notModified();
    await moveNetwork(tx, id, id);
    await recordForkEvent(tx, call, 'project.fork_unlinked', [id, from]);
  });
};

const isDescendant = async (tx: Tx, id: number, ancestor: number): Promise<boolean> => {
  const row = await tx.db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', id)
    .where(sql<boolean>`id in ${withForks(ancestor)}`)
    .executeTakeFirst();
  return row !== undefined;
};

/** Links a project as a fork of `source`. @throws Failure 409 if it is a fork already, or `source` descends from it */
export const linkFork = async (call: Call, { id }: Project, source: Project): Promise<void> =>
  await call.write(async (tx) => {
    if (await isDescendant(tx, source.id, id)) throw conflict('Project cannot be forked from itself');
    const changed = await tx.db
      .updateTable('projects')
      .set({ forked_from_project_id: source.id, updated_at: tx.now })
      .where('id', '=', id)
      .where('forked_from_project_id', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (changed === undefined) throw conflict('Project already forked');
    await moveNetwork(tx, id, getForkNetwork(source));
    await recordForkEvent(tx, call, 'project.fork_linked', [id, source.id]);
  });
