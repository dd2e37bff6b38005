/** What a project has of CI beside its pipelines: schedules, triggers, environments and what was deployed there. */
import assert from 'node:assert/strict';
import type { TestService } from '../support/service.ts';

export const seedCi = async (gantry: TestService, project: number): Promise<void> => {
  const path = `/projects/${project}`;
  const post = async (to: string, json: object) => {
    const { status, body, text } = await gantry.api(`POST ${path}/${to}`, { json });
    assert.equal(status, 201, `${to}: ${text}`);
    return body;
  };
  for (const ref of ['main', 'x']) {
    const { id } = await post('pipeline_schedules', {
      description: 'bug',
      ref,
      cron: '0 0 1 1 *',
      active: ref === 'main',
    });
    await post(`pipeline_schedules/${id}/variables`, { key: 'x', value: 'ui' });
    await post('triggers', { description: 'bug' });
    await post('variables', { key: ref, value: 'team' });
  }
  for (const name of ['ui', 'x']) await post('environments', { name, external_url: 'https://x.example.com' });
  const { body: commits } = await gantry.api(`GET ${path}/repository/commits`);
  const deployed = { environment: 'ui', sha: commits[0].id, ref: 'main', tag: false, status: 'running' };
  await post('deployments', deployed);
};
