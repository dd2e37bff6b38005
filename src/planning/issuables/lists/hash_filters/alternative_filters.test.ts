/** Tests the filters of lists with alternatives, and those by the time of closing and merging. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openRequest, seedBranch, seedCoded } from '../../../../../test/support/seed_merge_requests.ts';
import { type SeededUser, seedMember, seedMergeRequest, seedUser } from '../../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';

let gantry: TestService;
let path: string;
let ada: SeededUser;
let bob: SeededUser;

const made = ['bug', 'ui', 'both', 'plain'];

before(async () => {
  gantry = await startTestService();
  const project = await seedCoded(gantry, { visibility: 'public' });
  path = `/projects/${project.id}`;
  [ada, bob] = [await seedUser(gantry), await seedUser(gantry)];
  for (const user of [ada, bob])
    await seedMember(gantry, { user: user.id, project: project.id, access_level: 40 });
  const options = {
    bug: { labels: 'bug', assignee_ids: [ada.id] },
    ui: { labels: 'ui', assignee_ids: [bob.id] },
    both: { labels: 'bug,ui', assignee_ids: [ada.id, bob.id] },
    plain: {},
  };
  const by = { bug: { as: ada.token }, ui: { as: bob.token }, both: {}, plain: {} };
  for (const [name, json] of Object.entries(options)) {
    const as = by[name as keyof typeof by];
    await seedBranch(gantry, project, name);
    await openRequest(gantry, project, name, { title: name, ...json, ...as });
    assert.equal(
      (await gantry.api(`POST ${path}/issues`, { json: { title: name, ...json }, ...as })).status,
      201,
    );
  }
});
after(async () => await gantry.close());

const lister = (list: string) => async (query: string) => {
  const { body, headers, status, text } = await gantry.api(`GET ${list}?sort=asc&scope=all&${query}`);
  assert.equal(status, 200, text);
  assert.equal(Number(headers.get('x-total')), body.length, query);
  return body.map(({ title }: { title: string }) => title);
};

for (const kind of ['issues', 'merge_requests']) {
  test(`a list of ${kind} has the records with one of several labels, authors or assignees`, async () => {
    for (const list of [`${path}/${kind}`, `/${kind}`]) {
      const titles = lister(list);
      assert.deepEqual(await titles('or[labels]=bug,ui'), ['bug', 'ui', 'both']);
      assert.deepEqual(await titles('or[labels][]=ui&or[labels][]=none-has-it'), ['ui', 'both']);
      assert.deepEqual(await titles('or[labels]=none-has-it'), []);
      assert.deepEqual(await titles('or[labels]='), made);
      assert.deepEqual(await titles('labels=bug&or[labels]=ui,other'), ['both']);
      assert.deepEqual(await titles('or[labels]=bug,ui&not[labels]=bug'), ['ui']);
      assert.deepEqual(await titles('or[labels]=bug,ui&order_by=title&state=opened'), ['both', 'bug', 'ui']);
      const authors = `or[author_username]=${ada.username.toUpperCase()},${bob.username}`;
      assert.deepEqual(await titles(authors), ['bug', 'ui']);
      assert.deepEqual(await titles(`${authors}&order_by=updated_at&labels=ui`), ['ui']);
      assert.deepEqual(await titles(`or[author_username]=root,${bob.username}`), ['ui', 'both', 'plain']);
      assert.deepEqual(await titles(`not[author_username]=root,${bob.username}`), ['bug']);
      assert.deepEqual(
        await titles(`or[assignee_username][]=${ada.username}&or[assignee_username][]=${bob.username}`),
        ['bug', 'ui', 'both'],
      );
    }
    for (const query of ['or=x', 'or[weight]=1', 'or[labels][a]=b', 'closed_after=someday'])
      assert.equal((await gantry.api(`GET ${path}/${kind}?${query}`)).status, 400, query);
  });

  test(`a list of ${kind} is filtered by the time of closing`, async () => {
    const list = `${path}/${kind}`;
    const titles = lister(list);
    const { body } = await gantry.api(`PUT ${list}/1`, { json: { state_event: 'close' } });
    assert.deepEqual(await titles(`closed_after=${body.closed_at}`), ['bug']);
    assert.deepEqual(await titles(`closed_before=${body.closed_at}&state=closed`), ['bug']);
    assert.deepEqual(await titles('closed_before=2020-01-01'), []);
    assert.deepEqual(await titles('closed_after=2020-01-01&state=opened'), []);
    await gantry.api(`PUT ${list}/1`, { json: { state_event: 'reopen' } });
    assert.deepEqual(await titles('closed_after=2020-01-01'), []);
  });
}

test('lists of merge requests are filtered by reviewers and by the time of merging', async () => {
  const list = `${path}/merge_requests`;
  const titles = lister(list);
  await gantry.api(`PUT ${list}/1`, { json: { reviewer_ids: [ada.id] } });
  await gantry.api(`PUT ${list}/2`, { json: { reviewer_ids: [bob.id] } });
  assert.deepEqual(await titles(`or[reviewer_username]=${ada.username},${bob.username}`), ['bug', 'ui']);
  assert.deepEqual(await titles(`not[reviewer_username]=${ada.username},${bob.username}`), ['both', 'plain']);
  assert.equal((await gantry.api(`GET ${path}/issues?or[reviewer_username]=x`)).status, 400);
  const project = Number(path.split('/').at(-1));
  const { iid } = await seedMergeRequest(gantry, { project, title: 'merged', state: 'merged' });
  const { body } = await gantry.api(`GET ${list}/${iid}`);
  assert.deepEqual(await titles(`merged_after=${body.merged_at}`), ['merged']);
  assert.deepEqual(await titles(`merged_before=${body.merged_at}&order_by=updated_at`), ['merged']);
  assert.deepEqual(await titles('merged_before=2020-01-01'), []);
  assert.deepEqual(await titles('merged_after=1970-01-01'), ['merged']);
});
