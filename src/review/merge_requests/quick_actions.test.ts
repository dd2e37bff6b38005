/** Tests the quick actions that only merge requests have: reviews, merging, rebasing, the target branch. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  type Request,
  openRequest,
  readRequest,
  seedBranch,
  seedCodedWith,
  settle,
  systemNotes,
  toPath,
} from '../../../test/support/seed_merge_requests.ts';
import type { SeededUser } from '../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../test/support/service.ts';
import { storageUnavailable } from '../../platform/git/failure.ts';

let gantry: TestService;
let project: Coded;
let developer: SeededUser;
let maintainer: SeededUser;
let reporter: SeededUser;
let number = 0;

before(async () => {
  gantry = await startTestService();
  ({ project, developer, maintainer, reporter } = await seedCodedWith(gantry, {
    developer: 30,
    maintainer: 40,
    reporter: 20,
  }));
});
after(async () => await gantry.close());

const open = async (title?: string): Promise<Request> => {
  const branch = `acted-${(number += 1)}`;
  await seedBranch(gantry, project, branch);
  const request = await openRequest(gantry, project, branch, title === undefined ? {} : { title });
  await settle(gantry);
  return request;
};

const comment = async (request: Request, body: string, as = developer.token): Promise<Reply> =>
  await gantry.api(`POST ${toPath(request)}/notes`, { as, json: { body } });

const changes = async (request: Request, body: string, as?: string): Promise<unknown> => {
  const { status, body: reply, text } = await comment(request, body, as);
  assert.equal(status, 201, text);
  return reply.commands_changes;
};

const approvers = async (request: Request): Promise<string[]> => {
  const { body } = await gantry.api(`GET ${toPath(request)}/approvals`);
  return body.approved_by.map(({ user }: { user: { username: string } }) => user.username);
};

test('approves, takes the approval back, and requests changes', async () => {
  const request = await open();
  assert.deepEqual(await changes(request, 'Good\n/approve'), { approve: true });
  assert.deepEqual(await approvers(request), [developer.username]);
  assert.equal((await comment(request, '/approve')).status, 400);
  assert.deepEqual(await changes(request, '/unapprove'), { unapprove: true });
  assert.deepEqual(await approvers(request), []);
  assert.deepEqual(await changes(request, '/request_changes'), { request_changes: true });
  const [reviewer] = (await gantry.api(`GET ${toPath(request)}/reviewers`)).body;
  assert.deepEqual([reviewer.user.username, reviewer.state], [developer.username, 'requested_changes']);
  for (const action of ['/approve', '/unapprove', '/request_changes'])
    assert.equal((await comment(request, action, reporter.token)).status, 400, action);
  assert.deepEqual((await systemNotes(gantry, request)).toSorted(), [
    'approved this merge request',
    'requested changes',
    'unapproved this merge request',
  ]);
});

test('merges what is ready, in the order of the comment, and by itself what is not yet', async () => {
  const request = await open('Draft: later');
  const made = await changes(request, '/approve\n/ready\n/merge', maintainer.token);
  assert.deepEqual(made, { title: 'later', approve: true, merge: request.sha });
  const now = await readRequest(gantry, request);
  assert.deepEqual([now.state, now.merged_by.username], ['merged', maintainer.username]);
  const draft = await open('Draft: waits');
  // Developers may not merge into the protected branch.
  assert.equal((await comment(draft, '/merge')).status, 400);
  assert.deepEqual(await changes(draft, '/merge', maintainer.token), { merge: draft.sha });
  const waiting = await readRequest(gantry, draft);
  assert.deepEqual([waiting.state, waiting.merge_when_pipeline_succeeds], ['opened', true]);
  assert.equal((await comment(request, '/merge', maintainer.token)).status, 400);
});

test('rebases onto the target, and changes the target', async () => {
  const request = await open();
  await seedCommit(gantry, project.id, { main: String(number) });
  await settle(gantry);
  assert.equal((await comment(request, '/rebase', reporter.token)).status, 400);
  assert.deepEqual(await changes(request, '/rebase'), { rebase: true });
  await settle(gantry);
  assert.notEqual((await readRequest(gantry, request)).sha, request.sha);
  await seedBranch(gantry, project, 'stable');
  assert.deepEqual(await changes(request, '/target_branch stable'), { target_branch: 'stable' });
  assert.equal((await readRequest(gantry, request)).target_branch, 'stable');
  for (const action of ['/target_branch stable', '/target_branch missing', '/target_branch'])
    assert.equal((await comment(request, action)).status, 400, action);
  assert.equal((await comment(request, '/target_branch main', reporter.token)).status, 400);
});

test('stores a comment whose storage fails after a change, and refuses one that has changed nothing', async (t) => {
  const request = await open();
  t.mock.method(gantry.service.platform.git, 'repository', () => {
    throw storageUnavailable('it is down');
  });
  const refused = await comment(request, 'Never\n/merge', maintainer.token);
  assert.equal(refused.status, 503, refused.text);
  const stored = await comment(request, 'Fine\n/spend 1h\n/merge', maintainer.token);
  assert.equal(stored.status, 201, stored.text);
  assert.deepEqual(
    [stored.body.body, stored.body.commands_changes],
    [
      'Fine',
      {
        spend_time: { duration: 3600 },
        skipped: { merge: 'The service cannot do this at the moment. Try again later.' },
      },
    ],
  );
  const { body: notes } = await gantry.api(`GET ${toPath(request)}/notes?activity_filter=only_comments`);
  assert.deepEqual(
    notes.map(({ body }: { body: string }) => body),
    ['Fine'],
  );
});
