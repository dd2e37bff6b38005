/** Packs a repository when a user asks for it, in background work. gitd does so by itself, too, when it is due. */
import type { Platform } from '../../core/platform.ts';
import { type Call, requireActor } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { recordAudit } from '../../core/access/audit.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { object, oneOf, optional } from '../../platform/http/schema.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';
import { type Project, findProjectFor, loadProject } from '../../projects/projects/find.ts';
import { projectParam } from './find_code.ts';
import { getRepository } from './get_repository.ts';

export const housekeepingWork = 'repository.housekeeping';

/** Enqueues the packing of a repository. A request while one is enqueued adds none. */
export const scheduleHousekeeping = async (call: Call, { id }: Project): Promise<void> =>
  await call.write(async (tx) => {
    const turn = `${housekeepingWork} ${id}`;
    await enqueue(tx, housekeepingWork, { project_id: id }, { unique_key: turn, turn });
    await recordAudit(tx, requireActor(call), call, {
      kind: 'project.housekeeping',
      target_type: 'Project',
      target_id: id,
    });
  });

export const housekeeping = endpoint({
  method: 'POST',
  path: '/projects/:id/housekeeping',
  summary: 'Schedule housekeeping of a repository',
  area: 'repository',
  audience: 'user',
  params: object({
    id: projectParam,
    task: optional(oneOf(['eager', 'prune'], { description: 'accepted: both values have the same effect' })),
  }),
  reply: null,
  status: 201,
  handle: async (call, { id }) => {
    await scheduleHousekeeping(call, await findProjectFor(call, id, 'admin_project'));
    return new Answer(null, { status: 201 });
  },
});

/** Packs the repository of a project, unless the project is gone or empty. */
export const runHousekeeping = async (platform: Platform, projectId: number): Promise<void> => {
  const project = await loadProject(platform.store.db, projectId);
  if (project === null || project.default_branch === null) return;
  await getRepository(platform, project).ask('repository.maintain', {});
};
