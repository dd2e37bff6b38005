/** Environments are made, edited and deleted by hand; those that jobs name come of themselves (`follow.ts`). */
import { type Call, actorOf } from '../access/call.ts';
import { insertRow } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import { forbidden, invalid } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import type { Project } from '../projects/find.ts';
import { holdProject } from '../projects/hold.ts';
import { type EnvironmentRow, findEnvironment, lockEnvironment } from './queries.ts';
import { checkEnvironment } from './rules.ts';
import { type Tier, environmentSlug, tierOf } from './slug.ts';

export type EnvironmentEdit = { external_url?: string | null; tier?: Tier; description?: string | null };

export const noteEnvironment = async (
  call: Call,
  tx: Tx,
  verb: string,
  { id, project_id, name }: Pick<EnvironmentRow, 'id' | 'project_id' | 'name'>,
): Promise<void> =>
  await recordEvent(tx, actorOf(call), {
    kind: `environment.${verb}`,
    project_id,
    target_type: 'Environment',
    target_id: id,
    data: { name },
  });

/** @throws Failure 400 for what may not be, or a name that is taken */
export const createEnvironment = async (
  call: Call,
  project: Project,
  { name, ...given }: EnvironmentEdit & { name: string },
): Promise<EnvironmentRow> => {
  checkEnvironment({ name, ...given });
  return await call.write(async (tx) => {
    await holdProject(tx, project.id);
    const taken = await tx.db
      .selectFrom('environments')
      .select('id')
      .where('project_id', '=', project.id)
      .where('name', '=', name)
      .executeTakeFirst();
    if (taken !== undefined) throw invalid({ name: ['has already been taken'] });
    const row = {
      project_id: project.id,
      name,
      slug: environmentSlug(name),
      external_url: given.external_url ?? null,
      state: 'available' as const,
      tier: given.tier ?? tierOf(name),
      description: given.description ?? null,
      auto_stop_at: null,
      created_at: tx.now,
      updated_at: tx.now,
    };
    const id = await insertRow(tx.db, 'environments', row);
    await noteEnvironment(call, tx, 'created', { id, ...row });
    return { id, ...row };
  });
};

/** @throws Failure 404, 400 for what may not be */
export const updateEnvironment = async (
  call: Call,
  project: Project,
  id: number,
  edit: EnvironmentEdit,
): Promise<EnvironmentRow> => {
  checkEnvironment(edit);
  return await call.write(async (tx) => {
    const before = await lockEnvironment(tx, project.id, id);
    const changed = { ...edit, updated_at: tx.now };
    await tx.db.updateTable('environments').set(changed).where('id', '=', id).execute();
    await noteEnvironment(call, tx, 'updated', before);
    return { ...before, ...changed };
  });
};

/** @throws Failure 404, 403 of one that is not stopped */
export const deleteEnvironment = async (call: Call, project: Project, id: number): Promise<void> => {
  await findEnvironment(call.db, project.id, id);
  await call.write(async (tx) => {
    const row = await lockEnvironment(tx, project.id, id);
    if (row.state !== 'stopped') throw forbidden();
    await tx.db.deleteFrom('environments').where('id', '=', id).execute();
    await noteEnvironment(call, tx, 'deleted', row);
  });
};
