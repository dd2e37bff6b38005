/** Creates, edits and deletes environments by hand. Jobs create theirs in `follow_jobs.ts`. */
import { type Call, requireActor } from '../../core/access/call.ts';
import { insertRow } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { forbidden, invalid } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import type { Project } from '../../projects/projects/find.ts';
import { holdProject } from '../../projects/projects/lock_project.ts';
import { type EnvironmentRow, findEnvironment, lockEnvironment } from './queries.ts';
import { checkEnvironment } from './rules.ts';
import { type Tier, toEnvironmentSlug, guessTier } from './slug_and_tier.ts';

export type EnvironmentEdit = { external_url?: string | null; tier?: Tier; description?: string | null };

export const recordEnvironmentEvent = async (
  call: Call,
  tx: Tx,
  verb: string,
  { id, project_id, name }: Pick<EnvironmentRow, 'id' | 'project_id' | 'name'>,
): Promise<void> =>
  await recordEvent(tx, requireActor(call), {
    kind: `environment.${verb}`,
    project_id,
    target_type: 'Environment',
    target_id: id,
    data: { name },
  });

/** @throws Failure 400 for invalid values, or a name that is taken */
export const createEnvironment = async (
  call: Call,
  project: Project,
  { name, ...input }: EnvironmentEdit & { name: string },
): Promise<EnvironmentRow> => {
  checkEnvironment({ name, ...input });
  return await call.write(async (tx) => {
    await holdProject(tx, project.id);
    const existing = await tx.db
      .selectFrom('environments')
      .select('id')
      .where('project_id', '=', project.id)
      .where('name', '=', name)
      .executeTakeFirst();
    if (existing !== undefined) throw invalid({ name: ['has already been taken'] });
    const row = {
      project_id: project.id,
      name,
      slug: toEnvironmentSlug(name),
      external_url: input.external_url ?? null,
      state: 'available' as const,
      tier: input.tier ?? guessTier(name),
      description: input.description ?? null,
      auto_stop_at: null,
      created_at: tx.now,
      updated_at: tx.now,
    };
    const id = await insertRow(tx.db, 'environments', row);
    await recordEnvironmentEvent(call, tx, 'created', { id, ...row });
    return { id, ...row };
  });
};

/** @throws Failure 404, 400 for invalid values */
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
    await recordEnvironmentEvent(call, tx, 'updated', before);
    return { ...before, ...changed };
  });
};

/** @throws Failure 404, 403 unless the environment is stopped */
export const deleteEnvironment = async (call: Call, project: Project, id: number): Promise<void> => {
  await findEnvironment(call.db, project.id, id);
  await call.write(async (tx) => {
    const row = await lockEnvironment(tx, project.id, id);
    if (row.state !== 'stopped') throw forbidden();
    await tx.db.deleteFrom('environments').where('id', '=', id).execute();
    await recordEnvironmentEvent(call, tx, 'deleted', row);
  });
};
