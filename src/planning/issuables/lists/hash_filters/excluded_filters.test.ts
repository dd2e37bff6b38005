import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openRequest, seedBranch, seedCoded } from '../../../../../test/support/seed_merge_requests.ts';
import { type SeededUser, seedMember, seedUser } from '../../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';

let gantry: TestService;
let path: string;
let ada: SeededUser;

const made = ['plain', 'bug', 'both'];

const options = (name: string) => {
  if (name === 'plain') return { assignee_ids: [1] };
  return name === 'bug'
    ? { labels: 'bug', assignee_ids: [ada.id] }
    : { labels: 'bug,ui', assignee_ids: [1, ada.id], as: ada.token };
};

before(async () => {
  gantry = await startTestService();
  const project = await seedCoded(gantry);
  path = `/projects/${project.id}`;
  ada = await seedUser(gantry);
  await seedMember(gantry, { user: ada.id, project: project.id, access_level: 40 });
  const { body: milestone } = await gantry.api(`POST ${path}/milestones`, { json: { title: 'one' } });
  for (const name of made) {
    const { as, ...json } = {
      milestone_id: name === 'bug' ? milestone.id : 0,
      as: undefined,
      ...options(name),
    };
    const by = as === undefined ? {} : { as };
    await seedBranch(gantry, project, name);
    await openRequest(gantry, project, name, { title: name, ...json, ...by });
    const issue = await gantry.api(`POST ${path}/issues`, { json: { title: name, ...json }, ...by });
    assert.equal(issue.status, 201, issue.text);
  }
  for (const kind of ['issues', 'merge_requests']) {
    await gantry.api(`POST ${path}/${kind}/1/award_emoji`, { json: { name: 'heart' } });
  }
});
after(async () => await gantry.close());

const titles = async (list: string, query: string): Promise<string[]> => {
  const { body, headers, text } = await gantry.api(`GET ${list}?sort=asc&${query}`);
  assert.equal(Number(headers.get('x-total')), body.length, text);
  return body.map(({ title }: { title: string }) => title);
};

for (const kind of ['issues', 'merge_requests']) {
  test(`a list of ${kind} omits the excluded records`, async () => {
    const list = `${path}/${kind}`;
    const listTitles = async (query: string) => await titles(list, query);
    assert.deepEqual(await listTitles(''), made);
    assert.deepEqual(await listTitles('not[labels]=ui'), ['plain', 'bug']);
    assert.deepEqual(await listTitles('not[labels]=ui,bug'), ['plain']);
    assert.deepEqual(await listTitles('not[labels][]=ui&not[labels][]=nothing'), ['plain', 'bug']);
    assert.deepEqual(await listTitles('labels=bug&not[labels]=ui'), ['bug']);
    assert.deepEqual(await listTitles('not[milestone]=one'), ['plain', 'both']);
    assert.deepEqual(await listTitles('not[search]=BU'), ['plain', 'both']);
    assert.deepEqual(await listTitles('not[search]=bug&not[in]=description'), made);
    assert.deepEqual(await listTitles('not[search]=bug&not[in]=title,description'), ['plain', 'both']);
    assert.deepEqual(await listTitles('not[search]=&not[in]=title'), made);
    assert.deepEqual(await listTitles('search=b&not[search]=oth'), ['bug']);
    assert.deepEqual(await listTitles('not[iids][]=1&not[iids][]=3'), ['bug']);
    assert.deepEqual(await listTitles('not[iids]=2'), ['plain', 'both']);
    assert.equal((await gantry.api(`GET ${list}?not[in]=notes`)).status, 400);
    assert.equal((await gantry.api(`GET ${list}?not[iids]=x`)).status, 400);
    assert.deepEqual(await listTitles(`not[author_id]=${ada.id}`), ['plain', 'bug']);
    assert.deepEqual(await listTitles(`not[author_username]=${ada.username.toUpperCase()}`), [
      'plain',
      'bug',
    ]);
    assert.deepEqual(await listTitles('not[assignee_id]=1'), ['bug']);
    assert.deepEqual(
      await listTitles(`not[assignee_username][]=${ada.username}&not[assignee_username][]=x`),
      ['plain'],
    );
    assert.deepEqual(await listTitles('not[my_reaction_emoji]=heart'), ['bug', 'both']);
    assert.deepEqual(await listTitles('not[labels]=&not[author_id]=&not[author_username]=nobody'), made);
    const { body, headers } = await gantry.api(`GET ${list}?not[labels]=ui&per_page=1`);
    assert.deepEqual([body.length, headers.get('x-total')], [1, '2']);
    assert.match(headers.get('link') ?? '', /not%5Blabels%5D=ui[^>]*>; rel="next"/);
    assert.deepEqual(await titles(`/${kind}`, `scope=all&not[labels]=ui&not[milestone]=one`), ['plain']);
  });

  test(`refuses invalid excluding filters of ${kind}`, async () => {
    for (const [query, name] of [
      ['not[author_id]=x', 'not[author_id]'],
      ['not[assignee_id][]=1', 'not[assignee_id]'],
      [`not[author_id]=${'9'.repeat(20)}`, 'not[author_id]'],
      ['not[labels][a]=1', 'not[labels]'],
      [`not[milestone]=${'x'.repeat(256)}`, 'not[milestone]'],
      ['not[author_username]=%00', 'not[author_username]'],
      ['not=bug', 'not'],
    ] as const) {
      const { status, body } = await gantry.api(`GET ${path}/${kind}?${query}`);
      assert.deepEqual([status, body], [400, { message: { [name]: ['is invalid'] } }], query);
    }
  });
}
