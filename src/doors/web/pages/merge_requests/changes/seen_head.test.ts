/** Tests that quick actions of forms act on the head that the page showed, or not at all. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  type Request,
  openFromBranch,
  readRequest,
  seedCoded,
  settle,
  toPath,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

let gantry: TestService;
let project: Coded;
let maintainer: SeededVisitor;
let last = 0;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  maintainer = await seedVisitor(gantry, { project: project.id, access_level: 40 });
});
after(async () => await gantry.close());

type Opened = { request: Request; page: string; push: () => Promise<void> };

const open = async (): Promise<Opened> => {
  const branch = `seen-${(last += 1)}`;
  const request = await openFromBranch(gantry, project, branch);
  const push = async (): Promise<void> => {
    await seedCommit(gantry, project.id, { [`more-${(last += 1)}.txt`]: 'more\n' }, { branch });
    await settle(gantry);
  };
  return { request, page: `/${project.full_path}/merge_requests/${request.iid}`, push };
};

/** Returns the heads that the forms of a page send. */
const readHeads = async (path: string): Promise<string[]> => {
  const { text } = await maintainer.visitor.get(path);
  return [...text.matchAll(/name="seen_head" value="([\da-f]*)"/g)].map(([, head = '']) => head);
};

const post = async (path: string, sent: Record<string, string>) => await maintainer.visitor.post(path, sent);

const state = async ({ request }: Opened) => {
  const { state: now, merge_when_pipeline_succeeds } = await readRequest(gantry, request);
  const { body } = await gantry.api(`GET ${toPath(request)}/approvals`);
  const { body: reviewers } = await gantry.api(`GET ${toPath(request)}/reviewers`);
  return [now, merge_when_pipeline_succeeds, body.approved_by.length, reviewers.length];
};

test('quick actions of a comment are skipped with the reason where the head has moved', async () => {
  const opened = await open();
  const { request, page, push } = opened;
  const [seen_head = ''] = await readHeads(page);
  assert.equal(seen_head, request.sha);
  await push();
  const body = 'Fine\n/approve\n/request_changes\n/merge';
  const stored = await post(`${page}/notes`, { body, seen_head });
  assert.equal(stored.status, 303, stored.text);
  assert.deepEqual(await state(opened), ['opened', false, 0, 0]);
  const shown = await maintainer.visitor.get(page);
  for (const action of ['approve', 'request_changes', 'merge'])
    assert.match(shown.text, new RegExp(`/${action} was skipped: SHA does not match`));
  assert.match(shown.text, />Fine</);
  const alone = await post(`${page}/notes`, { body: '/merge', seen_head });
  assert.match(alone.text, /Failed to apply commands\.[^<]*merge was skipped: SHA does not match/);
  const [head = ''] = await readHeads(page);
  assert.equal((await post(`${page}/notes`, { body: '/approve\n/merge', seen_head: head })).status, 303);
  assert.deepEqual(await state(opened), ['merged', false, 1, 0]);
});

test('so are those of comments, replies and reviews of the changes', async () => {
  const opened = await open();
  const { request, page, push } = opened;
  const thread = await gantry.api(`POST ${toPath(request)}/discussions`, { json: { body: 'Why?' } });
  const overview = await readHeads(page);
  assert.deepEqual(overview, [request.sha, request.sha]);
  const [seen_head = ''] = await readHeads(`${page}/diffs`);
  assert.equal(seen_head, request.sha);
  await push();
  const body = 'Fine\n/merge';
  const discussion_id = thread.body.id as string;
  const sent = [
    await post(`${page}/diffs/comments`, { body, seen_head }),
    await post(`${page}/diffs/replies`, { body, seen_head, discussion_id }),
    await post(`${page}/notes`, { body, seen_head, discussion_id }),
    await post(`${page}/diffs/review`, { summary: body, head: seen_head }),
  ];
  assert.deepEqual(
    sent.map(({ status }) => status),
    [303, 303, 303, 303],
  );
  await post(`${page}/diffs/comments`, { body, intent: 'review' });
  assert.equal((await post(`${page}/diffs/review`, { head: seen_head })).status, 303);
  assert.deepEqual(await state(opened), ['opened', false, 0, 0]);
});
