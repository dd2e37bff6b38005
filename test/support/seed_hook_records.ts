/** Seeds a project with a record of each kind that the test of a webhook can send. */
import assert from 'node:assert/strict';
import { seedProject } from './seed.ts';
import type { TestService } from './service.ts';

/** `X-Gitlab-Event` and the kind of the payload that the test of a trigger sends. */
export const testedTriggers: Record<string, [event: string, kind: string]> = {
  push_events: ['Push Hook', 'push'],
  tag_push_events: ['Tag Push Hook', 'tag_push'],
  issues_events: ['Issue Hook', 'issue'],
  confidential_issues_events: ['Confidential Issue Hook', 'issue'],
  merge_requests_events: ['Merge Request Hook', 'merge_request'],
  note_events: ['Note Hook', 'note'],
  confidential_note_events: ['Confidential Note Hook', 'note'],
  job_events: ['Job Hook', 'build'],
  pipeline_events: ['Pipeline Hook', 'pipeline'],
  deployment_events: ['Deployment Hook', 'deployment'],
  releases_events: ['Release Hook', 'release'],
  member_events: ['Member Hook', 'member'],
  emoji_events: ['Emoji Hook', 'emoji'],
  repository_update_events: ['Repository Update Hook', 'repository_update'],
};

/** Returns the id of the project. */
export const seedHookRecords = async (gantry: TestService): Promise<number> => {
  const { id } = await seedProject(gantry);
  const send = async (line: string, json: object = {}) => {
    const { status, body, text } = await gantry.api(line.replace('/', `/projects/${id}/`), { json });
    assert.ok(status < 300, `${line}: ${status} ${text}`);
    return body;
  };
  const commit = async (branch: string, file_path: string, content: string, more: object = {}) =>
    await send('POST /repository/commits', {
      branch,
      commit_message: `Add ${file_path}`,
      actions: [{ action: 'create', file_path, content }],
      ...more,
    });
  const { id: sha } = await commit('main', '.gitlab-ci.yml', 'build: { script: make }');
  await gantry.service.worker.drain();
  await commit('topic', 'a.txt', 'a', { start_branch: 'main' });
  await send('POST /merge_requests', { source_branch: 'topic', target_branch: 'main', title: 'Topic' });
  await send('POST /releases', { tag_name: 'v1', ref: 'main', name: 'One' });
  await send('POST /deployments', { environment: 'live', sha, ref: 'main', tag: false, status: 'success' });
  for (const confidential of [true, false]) {
    const { iid } = await send('POST /issues', { title: 'Broken', confidential });
    await send(`POST /issues/${iid}/notes`, { body: 'Since when?' });
  }
  await gantry.service.worker.drain();
  return id;
};
