/** What a project has of CI beside its pipelines: schedules, triggers, environments and what was deployed there. */
import type { Make } from './path_params.ts';

export const seedCi = async (make: Make, id: number, sha: string): Promise<void> => {
  const at = '/projects/:id';
  for (const ref of ['main', 'x', 'bug']) {
    const schedule = { description: 'bug', ref, cron: '0 0 1 1 *', active: ref === 'main' };
    const { id: pipeline_schedule_id } = await make(`${at}/pipeline_schedules`, { id }, schedule, {
      pipeline_schedule_id: 'id',
    });
    const path = `${at}/pipeline_schedules/:pipeline_schedule_id/variables`;
    await make(path, { id, pipeline_schedule_id }, { key: 'x', value: 'ui' }, { key: 'key' });
    const { token } = await make(`${at}/triggers`, { id }, { description: 'bug' }, { trigger_id: 'id' });
    for (const way of ['trigger/pipeline', 'ref/:ref/trigger/pipeline'])
      make.place(`${at}/${way}`, { id, ref, token });
    await make(`${at}/variables`, { id }, { key: ref, value: 'team' }, { key: 'key' });
  }
  const environment = { external_url: 'https://x.example.com' };
  for (const name of ['ui', 'x', 'team']) {
    await make(`${at}/environments`, { id }, { name, ...environment }, { environment_id: 'id' });
    const deployed = { environment: name, sha, ref: 'main', tag: false, status: 'running' };
    await make(`${at}/deployments`, { id }, deployed, { deployment_id: 'id' });
  }
};
