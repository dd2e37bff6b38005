import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Coded, openRequest, seedBranch, seedCoded } from '../../test/support/requests.ts';
import { type SeededUser, seedMember, seedUser } from '../../test/support/seed.ts';
import { type TestService, startTestService } from '../../test/support/service.ts';
import { loadProject } from '../projects/find.ts';
import { actingViewer } from '../access/acting.ts';
import { pushMessage } from './push_message.ts';

let gantry: TestService;
let project: Coded;
let pusher: SeededUser;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry);
  pusher = await seedUser(gantry);
  await seedMember(gantry, { user: pusher.id, project: project.id, access_level: 30 });
});
after(async () => await gantry.close());

const gone = '0'.repeat(40);
const baseUrl = 'https://git.example.com';

/** The message for these branches, where the web interface has every page, or none. */
const told = async (
  branches: { [name: string]: string },
  of: { id: number } = project,
  hasPages = true,
): Promise<string[]> => {
  const platform = { ...gantry.service.platform, hasPage: () => hasPages };
  const { db } = platform.store;
  const [pushed, viewer] = [await loadProject(db, of.id), await actingViewer(db, pusher.id, Date.now())];
  assert.ok(pushed !== null && viewer !== null);
  const updates = Object.entries(branches).map(([name, sha]) => ({ ref: `refs/heads/${name}`, new: sha }));
  return await pushMessage(platform, { project: pushed, viewer, baseUrl }, updates);
};

test('a branch without a request: where to make one', async () => {
  const sha = await seedBranch(gantry, project, 'feature/a&b');
  assert.deepEqual(await told({ 'feature/a&b': sha }), [
    '',
    'To create a merge request for feature/a&b, visit:',
    `  ${baseUrl}/${project.full_path}/merge_requests/new?merge_request%5Bsource_branch%5D=feature%2Fa%26b`,
    '',
  ]);
});

test('a branch with an open request: where that is', async () => {
  const sha = await seedBranch(gantry, project, 'asked');
  const { iid } = await openRequest(gantry, project, 'asked');
  assert.deepEqual(await told({ asked: sha }), [
    '',
    'View merge request for asked:',
    `  ${baseUrl}/${project.full_path}/merge_requests/${iid}`,
    '',
  ]);
  assert.deepEqual(await told({ asked: sha }, project, false), [
    '',
    'View merge request for asked:',
    `  ${project.full_path}!${iid}`,
    '',
  ]);
});

test('nothing of a branch without a request while there is no page to make one', async () => {
  const sha = await seedBranch(gantry, project, 'pageless');
  assert.deepEqual(await told({ pageless: sha }, project, false), []);
});

test('nothing of the default branch, and of one that was deleted', async () => {
  assert.deepEqual(await told({ main: project.first, old: gone }), []);
});

test('nothing where merge requests are switched off', async () => {
  const off = await seedCoded(gantry, {}, { merge_requests_access_level: 'disabled' });
  await seedMember(gantry, { user: pusher.id, project: off.id, access_level: 30 });
  assert.deepEqual(await told({ topic: await seedBranch(gantry, off, 'topic') }, off), []);
});

test('nothing of a request into a project that the pusher does not see', async () => {
  const hidden = await seedCoded(gantry, { visibility: 'private' });
  const fork = await seedCoded(gantry, {}, { forked_from_project_id: hidden.id });
  await seedMember(gantry, { user: pusher.id, project: fork.id, access_level: 30 });
  const sha = await seedBranch(gantry, fork, 'topic');
  await openRequest(gantry, fork, 'topic', { target_project_id: hidden.id });
  const lines = await told({ topic: sha }, fork);
  assert.ok(!lines.join('\n').includes(hidden.path), lines.join('\n'));
});
