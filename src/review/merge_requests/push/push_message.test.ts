import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type Coded,
  openRequest,
  seedBranch,
  seedCoded,
  seedCodedWith,
} from '../../../../test/support/seed_merge_requests.ts';
import { type SeededUser, seedMember } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import { loadActingViewer } from '../../../core/access/background_actor.ts';
import { pushMessage } from './push_message.ts';

let gantry: TestService;
let project: Coded;
let pusher: SeededUser;

before(async () => {
  gantry = await startTestService();
  ({ project, pusher } = await seedCodedWith(gantry, { pusher: 30 }));
});
after(async () => await gantry.close());

const gone = '0'.repeat(40);
const baseUrl = 'https://git.example.com';

/** Returns the push message for these branches. @param hasPages whether the web interface has the linked pages */
const readMessage = async (
  branches: { [name: string]: string },
  of: { id: number } = project,
  hasPages = true,
): Promise<string[]> => {
  const platform = { ...gantry.service.platform, hasPage: () => hasPages };
  const { db } = platform.store;
  const [pushed, viewer] = [await loadProject(db, of.id), await loadActingViewer(db, pusher.id, Date.now())];
  assert.ok(pushed !== null && viewer !== null);
  const updates = Object.entries(branches).map(([name, sha]) => ({ ref: `refs/heads/${name}`, new: sha }));
  return await pushMessage(platform, { project: pushed, viewer, baseUrl }, updates);
};

test('links to the page to create a request', async () => {
  const sha = await seedBranch(gantry, project, 'feature/a&b');
  assert.deepEqual(await readMessage({ 'feature/a&b': sha }), [
    '',
    'To create a merge request for feature/a&b, visit:',
    `  ${baseUrl}/${project.full_path}/merge_requests/new?merge_request%5Bsource_branch%5D=feature%2Fa%26b`,
    '',
  ]);
});

test('links to the open request', async () => {
  const sha = await seedBranch(gantry, project, 'asked');
  const { iid } = await openRequest(gantry, project, 'asked');
  assert.deepEqual(await readMessage({ asked: sha }), [
    '',
    'View merge request for asked:',
    `  ${baseUrl}/${project.full_path}/merge_requests/${iid}`,
    '',
  ]);
  assert.deepEqual(await readMessage({ asked: sha }, project, false), [
    '',
    'View merge request for asked:',
    `  ${project.full_path}!${iid}`,
    '',
  ]);
});

test('is empty where the project switched it off', async () => {
  const quiet = await seedCoded(gantry, {}, { printing_merge_request_link_enabled: 0 });
  const sha = await seedBranch(gantry, quiet, 'quiet');
  assert.deepEqual(await readMessage({ quiet: sha }, quiet), []);
});

test('omits a branch without a request if there is no page to create one', async () => {
  const sha = await seedBranch(gantry, project, 'pageless');
  assert.deepEqual(await readMessage({ pageless: sha }, project, false), []);
});

test('omits the default branch and deleted branches', async () => {
  assert.deepEqual(await readMessage({ main: project.first, old: gone }), []);
});

test('is empty if merge requests are disabled', async () => {
  const off = await seedCoded(gantry, {}, { merge_requests_access_level: 'disabled' });
  await seedMember(gantry, { user: pusher.id, project: off.id, access_level: 30 });
  assert.deepEqual(await readMessage({ topic: await seedBranch(gantry, off, 'topic') }, off), []);
});

test('omits requests into projects that the pusher cannot see', async () => {
  const hidden = await seedCoded(gantry, { visibility: 'private' });
  const fork = await seedCoded(gantry, {}, { forked_from_project_id: hidden.id });
  await seedMember(gantry, { user: pusher.id, project: fork.id, access_level: 30 });
  const sha = await seedBranch(gantry, fork, 'topic');
  await openRequest(gantry, fork, 'topic', { target_project_id: hidden.id });
  const lines = await readMessage({ topic: sha }, fork);
  assert.ok(!lines.join('\n').includes(hidden.path), lines.join('\n'));
});
