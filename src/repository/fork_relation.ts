/** Which project is a fork of which. */
import { sql } from 'kysely';
import { type Call, actorOf } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { conflict, notModified } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import type { Project } from '../projects/find.ts';

/** All projects that come of one have the same. */
export const networkOf = ({ id, fork_network_id }: Pick<Project, 'id' | 'fork_network_id'>): number =>
  fork_network_id ?? id;

/** Over `projects`: the project and all that were forked from it, and from those. */
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

const tell = async (tx: Tx, call: Call, kind: string, [id, from]: [number, number]): Promise<void> =>
  await recordEvent(tx, actorOf(call), {
    kind,
    project_id: id,
    target_type: 'Project',
    target_id: id,
    data: { forked_from_project_id: from },
  });

/**
 * Makes a fork a project of its own; what was forked from it stays with it.
 * @throws Failure 304 for one that is no fork
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
    await tell(tx, call, 'project.fork_unlinked', [id, from]);
  });
};

const isBelow = async (tx: Tx, id: number, above: number): Promise<boolean> => {
  const found = await tx.db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', id)
    .where(sql<boolean>`id in ${withForks(above)}`)
    .executeTakeFirst();
  return found !== undefined;
};

/** @throws Failure 409 for one that is a fork already, or of which the other is one */
export const linkFork = async (call: Call, { id }: Project, source: Project): Promise<void> =>
  await call.write(async (tx) => {
    if (await isBelow(tx, source.id, id)) throw conflict('Project cannot be forked from itself');
    const changed = await tx.db
      .updateTable('projects')
      .set({ forked_from_project_id: source.id, updated_at: tx.now })
      .where('id', '=', id)
      .where('forked_from_project_id', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (changed === undefined) throw conflict('Project already forked');
    await moveNetwork(tx, id, networkOf(source));
    await tell(tx, call, 'project.fork_linked', [id, source.id]);
  });
