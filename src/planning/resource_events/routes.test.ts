import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { seedIssue, seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => void (gantry = await startTestService()));
after(async () => await gantry.close());

const must = async (line: string, json?: object, as?: string) => {
  const { status, body } = await gantry.api(line, { ...(json && { json }), ...(as && { as }) });
  assert.ok(status < 300, `${line}: ${status} ${JSON.stringify(body)}`);
  return body;
};

const makeProject = async () => {
  const user = await seedUser(gantry);
  const { id } = await seedProject(gantry, { owner: user.id });
  await seedCommit(gantry, id, { a: '1' });
  return { user, path: `/projects/${id}` };
};

/** The events of a kind, in short. */
const events = async (path: string, kind: 'state' | 'label' | 'milestone') => {
  const { body, headers } = await gantry.api(`GET ${path}/resource_${kind}_events`);
  assert.equal(headers.get('x-total'), String(body.length));
  return body.map(
    (event: {
      action?: string;
      state?: string;
      label?: { name: string } | null;
      milestone?: { title: string };
    }) => {
      if (kind === 'state') return event.state;
      const subject = kind === 'label' ? (event.label?.name ?? null) : event.milestone?.title;
      return `${event.action} ${subject}`;
    },
  );
};

for (const noun of ['issues', 'merge_requests'] as const) {
  test(`${noun}: records changes of state, labels and milestone`, async () => {
    const { user, path } = await makeProject();
    await must(`POST ${path}/repository/branches`, { branch: 'topic', ref: 'main' }, user.token);
    await must(
      `POST ${path}/repository/commits`,
      {
        branch: 'topic',
        commit_message: 'x',
        actions: [{ action: 'create', file_path: 'b', content: 'b' }],
      },
      user.token,
    );
    const [first, second] = [
      await must(`POST ${path}/milestones`, { title: 'v1' }, user.token),
      await must(`POST ${path}/milestones`, { title: 'v2' }, user.token),
    ];
    const fields = { title: 't', labels: 'one,two', milestone_id: first.id };
    const pair = noun === 'issues' ? {} : { source_branch: 'topic', target_branch: 'main' };
    const { iid, id: target_id } = await must(`POST ${path}/${noun}`, { ...fields, ...pair }, user.token);
    const one = `${path}/${noun}/${iid}`;
    await must(`PUT ${one}`, { labels: 'two,three', milestone_id: second.id }, user.token);
    await must(`PUT ${one}`, { state_event: 'close', milestone_id: 0 }, user.token);
    await must(`PUT ${one}`, { state_event: 'reopen', title: 'new' }, user.token);
    assert.deepEqual(await events(one, 'state'), ['closed', 'reopened']);
    assert.deepEqual(await events(one, 'label'), ['add one', 'add two', 'add three', 'remove one']);
    assert.deepEqual(await events(one, 'milestone'), ['add v1', 'remove v1', 'add v2', 'remove v2']);
    const { body } = await gantry.api(`GET ${one}/resource_label_events?per_page=1&page=3`);
    const [third] = body;
    assert.deepEqual(Object.keys(third), [
      'id',
      'user',
      'created_at',
      'resource_type',
      'resource_id',
      'label',
      'action',
    ]);
    assert.deepEqual(
      [third.user.id, third.resource_type, third.resource_id],
      [user.id, noun === 'issues' ? 'Issue' : 'MergeRequest', target_id],
    );
    assert.deepEqual(Object.keys(third.label), ['id', 'name', 'color', 'description']);
    assert.deepEqual(await must(`GET ${one}/resource_label_events/${third.id}`), third);
    assert.equal((await gantry.api(`GET ${one}/resource_state_events/${third.id}`)).status, 404);
    await must(`DELETE ${path}/labels/three`, undefined, user.token);
    await must(`DELETE ${path}/milestones/${second.id}`, undefined, user.token);
    assert.deepEqual(await events(one, 'label'), ['add one', 'add two', 'add null', 'remove one']);
    assert.deepEqual(await events(one, 'milestone'), ['add v1', 'remove v1']);
  });
}

test('records what closing patterns and merges do', async () => {
  const { user, path } = await makeProject();
  await must(`POST ${path}/issues`, { title: 'Broken' }, user.token);
  const actions = [{ action: 'create', file_path: 'b', content: 'b' }];
  const commit = { branch: 'topic', start_branch: 'main', commit_message: 'Fix', actions };
  await must(`POST ${path}/repository/commits`, commit, user.token);
  const pair = { source_branch: 'topic', target_branch: 'main', title: 'Fix', description: 'Closes #1' };
  const { iid } = await must(`POST ${path}/merge_requests`, pair, user.token);
  await must(`PUT ${path}/merge_requests/${iid}/merge`, {}, user.token);
  assert.deepEqual(await events(`${path}/merge_requests/${iid}`, 'state'), ['merged']);
  assert.deepEqual(await events(`${path}/issues/1`, 'state'), ['closed']);
});

test('hides events of what the caller does not see', async () => {
  const guest = await seedUser(gantry);
  const { id } = await seedProject(gantry);
  await seedMember(gantry, { user: guest.id, project: id, access_level: 10 });
  const { iid } = await seedIssue(gantry, { project: id, confidential: 1 });
  const path = `GET /projects/${id}/issues/${iid}/resource_state_events`;
  assert.equal((await gantry.api(path, { as: guest.token })).status, 404);
  assert.equal((await gantry.api(path, { as: null })).status, 401);
  assert.equal((await gantry.api(path)).status, 200);
});
