/** Tests typed filters and the fields of filters on the pages of lists: dates, alternatives, and what is refused. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  seedGroup,
  seedIssue,
  seedMember,
  seedMergeRequest,
  seedProject,
} from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

let gantry: TestService;
let ada: SeededVisitor;
let path: string;
let api: string;
let group: { full_path: string };

const iids = (text: string): string[] =>
  [...text.matchAll(/class="title" href="[^"]+\/(\d+)"/g)].map(([, iid = '']) => iid);
const box = (text: string): string => /<input type="search" name="q"[^>]*>/.exec(text)?.[0] ?? '';

before(async () => {
  gantry = await startTestService();
  const made = await seedGroup(gantry);
  group = made;
  const project = await seedProject(gantry, { namespace: made.id, visibility: 'public' });
  [path, api] = [`/${project.full_path}/issues`, `/projects/${project.id}`];
  ada = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  await seedMember(gantry, { user: ada.id, group: made.id, access_level: 20 });
  await seedIssue(gantry, { project: project.id, title: 'One', author: ada.id });
  for (const [title, labels] of [
    ['Two', 'bug'],
    ['Three', 'ui'],
  ] as const)
    await gantry.api(`POST ${api}/issues`, { json: { title, labels, created_at: '2020-02-03T23:59:59Z' } });
  await seedMergeRequest(gantry, { project: project.id, title: 'Ended', state: 'merged' });
  await gantry.api(`PUT ${api}/issues/3`, { json: { state_event: 'close' } });
});
after(async () => await gantry.close());

const typed = async (at: string, text: string) =>
  await ada.visitor.get(`${at}${at.includes('?') ? '&' : '?'}q=${encodeURIComponent(text)}`);

test('typed dates and alternatives become the address of the list, with exact totals', async () => {
  for (const at of [path, `/groups/${group.full_path}/-/issues`, '/dashboard/issues?scope=all']) {
    for (const [text, expected] of [
      ['created:2020-02-03 is:all', ['3', '2']],
      ['created:<2020-02-04', ['2']],
      ['created:today', ['1']],
      ['created:7d', ['1']],
      ['created:2020-01-01..2020-02-02', []],
      ['updated:today label:bug,ui', ['2']],
      ['closed:today is:closed', ['3']],
      ['label:bug,ui is:all', ['3', '2']],
      ['label:bug,ui -label:ui is:all', ['2']],
      [`author:me,root is:all`, ['1', '3', '2']],
      ['-author:me,nobody is:all', ['3', '2']],
    ] as const) {
      const { status, location } = await typed(at, text);
      assert.equal(status, 302, text);
      const { text: page } = await ada.visitor.get(location ?? '');
      assert.deepEqual(iids(page), expected, `${at} ${text}`);
      if (expected.length > 0)
        assert.match(page, new RegExp(`>${expected.length} (?:open |closed )?issues? match`));
    }
  }
  const { location } = await typed(path, 'created:>2020-01-01 label:bug,ui');
  const page = await ada.visitor.get(location ?? '');
  assert.equal(location, `${path}?created=%3E2020-01-01&or%5Blabels%5D=bug%2Cui`);
  assert.match(page.text, /Remove the filter created after 2020-01-01"/);
  assert.match(page.text, /Remove the filter label = bug or ui"/);
});

test('the pages take the parameters of the API', async () => {
  const query = 'created_before=2020-02-04&state=all&or[labels]=bug,ui&closed_after=2020-01-01';
  const { body, headers } = await gantry.api(`GET ${api}/issues?${query}`);
  assert.deepEqual([body.map(({ iid }: { iid: number }) => iid), headers.get('x-total')], [[3], '1']);
  assert.deepEqual(iids((await ada.visitor.get(`${path}?${query}`)).text), ['3']);
});

test('lists of merge requests know approvers, environments and the time of merging', async () => {
  const at = path.replace('issues', 'merge_requests');
  const { location } = await typed(at, 'approved-by:none environment:production merged:today is:merged');
  assert.equal(location, `${at}?state=merged&approved_by_usernames=none&environment=production&merged=today`);
  assert.deepEqual(iids((await ada.visitor.get(`${at}?state=merged&merged=today`)).text), ['1']);
  assert.deepEqual(iids((await ada.visitor.get(`${at}?state=merged&merged=<2020-01-01`)).text), []);
  assert.equal((await ada.visitor.get(location ?? '')).status, 200);
  const { status, text } = await typed(at, 'due:late');
  assert.equal(status, 422);
  assert.match(text, /Unknown filter “due”/);
});

test('unknown words and bad dates are named, and change nothing', async () => {
  for (const [text, problem] of [
    ['labl:bug', /role="alert" id="filter_error"><p>Unknown filter “labl”/],
    ['created:2020-02-30', /“created:2020-02-30” is not a filter\. After “created:”, write 2026-01-31/],
    ['label:ui is:merged', /After “is:”, write open/],
  ] as const) {
    const { status, text: page } = await typed(`${path}?labels=bug`, text);
    assert.equal(status, 422, text);
    assert.match(page, problem);
    assert.match(page, /Remove the filter label = bug"/);
    assert.deepEqual(iids(page), ['2']);
    assert.match(
      box(page),
      new RegExp(`value="${text}" aria-invalid="true" aria-describedby="filter_error"`),
    );
  }
});

test('the fields of filters take dates and alternatives, and name what is wrong', async () => {
  const { text } = await ada.visitor.get(path);
  for (const name of ['created', 'updated', 'closed', 'or[labels]', 'or[author_username]'])
    assert.ok(text.includes(`name="${name}"`), name);
  const found = await ada.visitor.get(`${path}?created=2020-02-03&updated=&or[labels]=bug,%20ui&state=all`);
  assert.deepEqual(iids(found.text), ['3', '2']);
  const { status, text: refused } = await ada.visitor.get(`${path}?created=soon&labels=bug`);
  assert.equal(status, 422);
  assert.match(refused, /“soon” is not a valid date for “created”\. Use 2026-01-31/);
  assert.doesNotMatch(refused, /Remove the filter created/);
  assert.deepEqual(iids(refused), ['2']);
  for (const below of ['export', '../-/issues.atom']) {
    const { pathname } = new URL(`${path}/${below}`, 'http://x');
    assert.equal((await ada.visitor.get(`${pathname}?created=soon`)).status, 400, below);
  }
});

test('the form of filters selects what nobody is assigned to, reviews or has labelled, without scripts', async () => {
  const at = path.replace('issues', 'merge_requests');
  const { body } = await gantry.api(`POST ${api}/issues`, {
    json: { title: 'Taken', assignee_ids: [ada.id] },
  });
  const { text } = await ada.visitor.get(`${path}?assignee_id=None&labels=None`);
  const assigned = /<select id="filter_assignee_id" name="assignee_id">(.*?)<\/select>/.exec(text)?.[1];
  assert.equal(
    assigned,
    '<option value="">All</option><option value="None" selected>Nobody</option><option value="Any">Anybody</option>',
  );
  assert.deepEqual(iids(text), ['1']);
  const anybody = await ada.visitor.get(`${path}?assignee_id=Any&assignee_username=&labels=None`);
  assert.deepEqual(iids(anybody.text), [String(body.iid)]);
  const byId = await ada.visitor.get(`${path}?assignee_id=${ada.id}`);
  assert.match(byId.text, new RegExp(`<option value="${ada.id}" selected>${ada.id}</option>`));
  const request = `${api}/merge_requests/1`;
  for (const [reviewers, query, expected] of [
    [[], 'reviewer_id=None', ['1']],
    [[], 'reviewer_id=Any', []],
    [[ada.id], 'reviewer_id=Any', ['1']],
    [[ada.id], `not[reviewer_username]=${ada.username}`, []],
  ] as const) {
    await gantry.api(`PUT ${request}`, { json: { reviewer_ids: reviewers } });
    const list = await ada.visitor.get(`${at}?state=all&${query}`);
    assert.deepEqual(iids(list.text), expected, query);
    const [name = '', value = ''] = query.split('=');
    const field = new RegExp(`id="filter_\\w+" name="${name.replaceAll(/[[\]]/g, '.')}"[^]*?</div>`);
    assert.match(field.exec(list.text)?.[0] ?? '', new RegExp(`value="${value}"`), query);
  }
});

test('the filter of a board knows the same terms', async () => {
  const { body } = await gantry.api(`POST ${api}/boards`, { json: { name: 'Work' } });
  const at = `${path.replace(/issues$/, '-/boards')}/${body.id}`;
  const { location } = await typed(at, 'label:bug,ui created:<2020-02-04');
  const { status, text } = await ada.visitor.get(location ?? '');
  assert.deepEqual([status, /Two/.test(text), /One/.test(text)], [200, true, false]);
  const refused = await typed(at, 'labl:x');
  assert.equal(refused.status, 422);
  assert.match(refused.text, /Unknown filter “labl”/);
});
