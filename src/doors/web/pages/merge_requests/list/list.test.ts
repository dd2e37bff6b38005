/** Tests the lists of merge requests of projects and groups. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline } from '../../../../../../test/support/ci/jobs.ts';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import { seedGroup, seedMergeRequest } from '../../../../../../test/support/seed.ts';
import {
  type Coded,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
  waitForCheck,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: Coded;
let hidden: Coded;
let group: { id: number; full_path: string };
let maintainer: SeededVisitor;
let stranger: SeededVisitor;
let path: string;

const titles = (text: string): string[] =>
  [...text.matchAll(/class="title" href="[^"]+\/(\d+)"/g)].map(([, iid = '']) => iid);
const counts = (text: string): number[] =>
  [
    ...(/aria-label="Merge requests by state"[^]*?<\/nav>/.exec(text)?.[0] ?? '').matchAll(/count">(\d+)</g),
  ].map(([, count]) => Number(count));

before(async () => {
  gantry = await startTestService();
  const made = await seedGroup(gantry);
  group = made;
  project = await seedCoded(gantry, { visibility: 'public', namespace: made.id });
  hidden = await seedCoded(gantry, { visibility: 'private', namespace: made.id });
  maintainer = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  stranger = await seedVisitor(gantry);
  path = `/${project.full_path}/merge_requests`;
  await seedBranch(gantry, project, 'keep');
  await seedBranch(gantry, project, 'other');
  const first = await openRequest(gantry, project, 'keep', {
    title: 'Keep <i>loads</i>',
    labels: 'bug',
    description: '- [x] a\n- [ ] b',
    reviewer_ids: [maintainer.id],
  });
  await openRequest(gantry, project, 'other', { title: 'Draft: Other', target_branch: 'keep' });
  await settle(gantry);
  await seedPipeline(gantry, {
    project: project.id,
    file: 'job: { script: x }',
    ref: 'keep',
    sha: first.sha,
  });
  await gantry.api(`POST /projects/${project.id}/merge_requests/1/approve`);
  for (const state of ['merged', 'closed', 'closed'] as const) {
    await seedMergeRequest(gantry, { project: project.id, title: `Ended ${state}`, state });
  }
  await seedMergeRequest(gantry, { project: hidden.id, title: 'Secret' });
});
after(async () => await gantry.close());

test('rows show the threads that are not resolved', async () => {
  const own = await seedCoded(gantry, { visibility: 'public' });
  const request = await seedMergeRequest(gantry, { project: own.id });
  const discussions = `/projects/${own.id}/merge_requests/${request.iid}/discussions`;
  const start = async () => (await gantry.api(`POST ${discussions}`, { json: { body: 'Why?' } })).body;
  const [first, second] = [await start(), await start()];
  await gantry.api(`POST ${discussions}/${first.id}/notes`, { json: { body: 'Because' } });
  const shown = async () => {
    const { text } = await stranger.visitor.get(`/${own.full_path}/merge_requests`);
    return /title="(\d+ threads? not resolved)"/.exec(text)?.[1] ?? null;
  };
  assert.equal(await shown(), '2 threads not resolved');
  for (const { id } of [first, second])
    await gantry.api(`PUT ${discussions}/${id}`, { json: { resolved: true } });
  assert.equal(await shown(), null);
});

test('the menu has every order of the API, in both directions', async () => {
  const { text } = await maintainer.visitor.get(`${path}?order_by=title&sort=asc&draft=false`);
  const menu = /<summary class="button orders">Title, A to Z [^]*?<\/details>/.exec(text)?.[0] ?? '';
  const links = [...menu.matchAll(/href="([^"]+)"(?: aria-current="true")?>([^<]+)</g)].map(
    ([, href = '', name = '']) => [href.replaceAll('&amp;', '&'), name] as const,
  );
  const names = links.map(([, name]) => name);
  assert.deepEqual(
    ['Recently merged', 'Merged first', 'Priority', 'Milestone due last', 'Title, Z to A'].filter(
      (name) => !names.includes(name),
    ),
    [],
  );
  assert.ok(!names.includes('Due first') && !names.includes('Manual') && !names.includes('Weight'));
  for (const [href] of links) {
    assert.match(href, /order_by=\w+&sort=(?:asc|desc)&draft=false/);
    assert.equal((await maintainer.visitor.get(href)).status, 200, href);
  }
  const sorted = async (query: string) =>
    titles((await maintainer.visitor.get(`${path}?state=all&${query}`)).text);
  assert.deepEqual(await sorted('order_by=title&sort=asc'), ['2', '4', '5', '3', '1']);
  assert.deepEqual(await sorted('order_by=title&sort=desc'), ['1', '3', '5', '4', '2']);
});

test('shows the open merge requests with exact counts and their facts', async () => {
  const { status, text } = await maintainer.visitor.get(path);
  assert.equal(status, 200);
  assert.deepEqual(
    [titles(text), counts(text)],
    [
      ['2', '1'],
      [2, 1, 2, 5],
    ],
  );
  const [draft = '', keep = ''] = text.split('<li><span class="lead status').slice(1);
  assert.match(draft, /aria-label="Draft"[\s\S]+Draft: Other[\s\S]+into[\s\S]+<code>keep<\/code>/);
  assert.match(keep, /Keep &lt;i&gt;loads&lt;\/i&gt;[\s\S]+labels=bug/);
  assert.match(
    keep,
    /aria-label="Pipeline: pending"[\s\S]+1 approval[\s\S]+1 of 2 tasks[\s\S]+#eye"[\s\S]+Reviewer: /,
  );
  for (const filter of [`reviewer_username=${maintainer.username}`, 'author_username=root'])
    assert.ok(keep.includes(`href="${path}?${filter}"`), filter);
  assert.doesNotMatch(keep, / into /);
  assert.match(text, /2 open merge requests</);
});

test('filters by the parameters of the API, typed or in the address', async () => {
  for (const [query, expected] of [
    ['labels=bug', ['1']],
    ['draft=true', ['2']],
    [`reviewer_username=${maintainer.username}`, ['1']],
    ['approved=no', ['2']],
    ['source_branch=keep', ['1']],
    ['target_branch=keep', ['2']],
    ['search=loads', ['1']],
    ['state=merged', ['3']],
    ['state=all&per_page=2&page=2', ['3', '2']],
    ['sort=asc', ['1', '2']],
  ] as const) {
    assert.deepEqual(titles((await maintainer.visitor.get(`${path}?${query}`)).text), expected, query);
  }
  const typed = encodeURIComponent('reviewer:me is:merged target:main load');
  assert.equal(
    (await maintainer.visitor.get(`${path}?labels=bug&q=${typed}`)).location,
    `${path}?state=merged&labels=bug&reviewer_username=${maintainer.username}&target_branch=main&search=load`,
  );
  assert.equal((await maintainer.visitor.get(`${path}?q=%212`)).location, `${path}/2`);
  const { text } = await maintainer.visitor.get(`${path}?labels=bug&target_branch=main`);
  assert.match(text, /Remove the filter target = main/);
  assert.deepEqual(counts(text), [1, 0, 0, 1]);
  assert.match((await maintainer.visitor.get(`${path}?labels=unused`)).text, /No merge requests match/);
  for (const query of ['state=x', 'draft=maybe', 'not[labels][a]=b', 'per_page=0']) {
    assert.equal((await maintainer.visitor.get(`${path}?${query}`)).status, 400, query);
  }
});

test('leads to what needs the review of the user, without what others review', async () => {
  const own = await seedCoded(gantry, { visibility: 'public' });
  const [first, second] = [
    await seedVisitor(gantry, { project: own.id, access_level: 30 }),
    await seedVisitor(gantry, { project: own.id, access_level: 30 }),
  ];
  for (const [branch, reviewer] of [
    ['a', first.id],
    ['b', second.id],
  ] as const) {
    await seedBranch(gantry, own, branch);
    await openRequest(gantry, own, branch, { reviewer_ids: [reviewer] });
  }
  const list = `/${own.full_path}/merge_requests`;
  for (const [user, expected] of [
    [first, ['1']],
    [second, ['2']],
    [stranger, []],
  ] as const) {
    const { text } = await user.visitor.get(list);
    const [, href = ''] = /<a class="button" href="([^"]+)">Needs my review</.exec(text) ?? [];
    const found = await user.visitor.get(href.replaceAll('&amp;', '&'));
    assert.deepEqual(titles(found.text), expected, href);
    assert.deepEqual(counts(found.text), [expected.length, 0, 0, expected.length]);
  }
});

test('lists what waits for a review, and what a reviewer sent back', async () => {
  const own = await seedCoded(gantry, { visibility: 'public' });
  const author = await seedVisitor(gantry, { project: own.id, access_level: 30 });
  const reviewer = await seedVisitor(gantry, { project: own.id, access_level: 30 });
  for (const branch of ['a', 'b', 'c']) {
    await seedBranch(gantry, own, branch);
    await openRequest(gantry, own, branch, { reviewer_ids: [reviewer.id], sudo: author.username });
  }
  const list = `/${own.full_path}/merge_requests`;
  const listed = async (by: SeededVisitor, address: string): Promise<string[]> =>
    titles((await by.visitor.get(address)).text);
  assert.deepEqual(await listed(reviewer, `${list}?my_review=waiting`), ['3', '2', '1']);
  const approved = await gantry.api(`POST /projects/${own.id}/merge_requests/1/approve`, {
    json: { sudo: reviewer.username },
  });
  assert.equal(approved.status, 201);
  const sent = await reviewer.visitor.post(`${list}/2/diffs/review`, { verdict: 'request_changes' });
  assert.equal(sent.status, 303);
  assert.deepEqual(await listed(reviewer, `${list}?my_review=waiting`), ['3']);
  assert.deepEqual(await listed(reviewer, `${list}?my_review=returned`), []);
  assert.deepEqual(await listed(author, `${list}?my_review=returned`), ['2']);
  assert.deepEqual(titles((await openVisitor(gantry).get(`${list}?my_review=waiting`)).text), []);
  const typed = await reviewer.visitor.get(`${list}?q=review%3Awaiting`);
  assert.equal(typed.location, `${list}?my_review=waiting`);
  const { text } = await reviewer.visitor.get(typed.location ?? '');
  assert.match(text, /Remove the filter review = waiting for me/);
  assert.match((await reviewer.visitor.get(`${list}?q=review%3Anone`)).text, /waiting or returned/);
  const work = '/dashboard/merge_requests';
  assert.deepEqual(await listed(reviewer, work), ['3']);
  assert.deepEqual(await listed(reviewer, `${work}?scope=reviews-for-me`), ['3', '2', '1']);
  assert.deepEqual(await listed(author, work), []);
  const returned = (await author.visitor.get(`${work}?my_review=returned`)).text;
  assert.deepEqual(titles(returned), ['2']);
  assert.match(returned, /my_review=returned" aria-current="page">Returned to me</);
  for (const by of [author, reviewer]) {
    assert.match((await by.visitor.get(work)).text, /aria-label="Merge requests: 1"/);
  }
  const again = await author.visitor.post(`${list}/2/request_review`, { user_id: String(reviewer.id) });
  assert.equal(again.status, 303);
  assert.deepEqual(await listed(reviewer, work), ['3', '2']);
  assert.deepEqual(await listed(author, `${work}?my_review=returned`), []);
});

test('has a field for what the list excludes', async () => {
  const { text } = await maintainer.visitor.get(`${path}?not%5Blabels%5D=bug`);
  assert.deepEqual(titles(text), ['2']);
  assert.match(text, /<input id="filter_not_labels_" name="not\[labels\]"[^>]* value="bug"/);
  for (const name of [
    'not[author_username]',
    'not[milestone]',
    'or[assignee_username]',
    'my_reaction_emoji',
  ]) {
    assert.ok(text.includes(`name="${name}"`), name);
  }
});

test('hides pipelines, and offers nothing, to those who may not', async () => {
  const anonymous = (await openVisitor(gantry).get(path)).text;
  assert.deepEqual(titles(anonymous), ['2', '1']);
  assert.doesNotMatch(anonymous, /merge_requests\/new|Needs my review/);
  const priv = await seedCoded(gantry, { visibility: 'public' }, { public_builds: 0 });
  await seedBranch(gantry, priv, 'keep');
  const { sha } = await openRequest(gantry, priv, 'keep');
  await seedPipeline(gantry, { project: priv.id, file: 'job: { script: x }', ref: 'keep', sha });
  const { text } = await stranger.visitor.get(`/${priv.full_path}/merge_requests`);
  assert.deepEqual([titles(text), /Pipeline: /.test(text)], [['1'], false]);
});

test('exports the list as CSV and as a feed', async () => {
  const page = await maintainer.visitor.get(`${path}?labels=bug`);
  assert.match(page.text, /merge_requests\/export\?labels=bug"/);
  const { status, text, headers } = await maintainer.visitor.get(`${path}/export?state=all`);
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/csv; charset=utf-8']);
  const [head, first, second] = text.split('\r\n');
  assert.match(head ?? '', /^Number,Title,State,Draft,/);
  assert.match(first ?? '', /^1,Keep <i>loads<\/i>,opened,no,root,/);
  assert.match(second ?? '', /^2,Draft: Other,opened,yes,/);
  assert.match((await openVisitor(gantry).get(`${path}/export`)).location ?? '', /^\/users\/sign_in/);
  const address = `/${project.full_path}/-/merge_requests.atom`;
  assert.match(page.text, new RegExp(`type="application/atom\\+xml" title="[^"]+" href="${address}"`));
  const feed = await openVisitor(gantry).get(`${address}?labels=bug`);
  assert.equal(feed.status, 200);
  assert.match(feed.text, /<title>!1 Keep &lt;i&gt;loads&lt;\/i&gt;<\/title>/);
  assert.doesNotMatch(feed.text, /Draft: Other/);
  const other = `/${hidden.full_path}`;
  for (const below of ['/-/merge_requests.atom', '/merge_requests/export']) {
    assert.equal((await stranger.visitor.get(other + below)).status, 404, below);
  }
});

test('exports those of a group, and those of the user', async () => {
  const at = `/groups/${group.full_path}/-/merge_requests`;
  const ofGroup = await stranger.visitor.get(`${at}/export?state=all`);
  assert.match(ofGroup.text, /^Number,Title,[^]*1,Keep <i>loads<\/i>,opened/);
  assert.doesNotMatch(ofGroup.text, /Secret/);
  const own = await maintainer.visitor.get('/dashboard/merge_requests/export');
  assert.match(own.text, /^Number,Title,[^\r]*\r\n1,Keep <i>loads<\/i>,opened,[^\r]*\r\n$/);
  assert.match(
    (await maintainer.visitor.get('/dashboard/merge_requests')).text,
    /href="\/dashboard\/merge_requests\/export"/,
  );
  assert.equal((await stranger.visitor.get('/dashboard/merge_requests/export')).text.split('\r\n').length, 2);
  for (const path of [`${at}/export`, '/dashboard/merge_requests/export'])
    assert.match((await openVisitor(gantry).get(path)).location ?? '', /^\/users\/sign_in/);
});

test('lists those of a group that the user may see', async () => {
  const at = `/groups/${group.full_path}/-/merge_requests`;
  const seen = await stranger.visitor.get(`${at}?state=all`);
  assert.deepEqual([titles(seen.text).length, counts(seen.text)], [5, [2, 1, 2, 5]]);
  assert.doesNotMatch(seen.text, /Secret/);
  assert.match(seen.text, new RegExp(`${project.full_path}!1 opened`));
  assert.match((await openVisitor(gantry).get(at)).location ?? '', /^\/users\/sign_in/);
});

test('marks those that conflict, and those whose reviewer waits for changes', async () => {
  const marked = await seedCoded(gantry, { visibility: 'public' });
  const reviewer = await seedVisitor(gantry, { project: marked.id, access_level: 40 });
  await seedBranch(gantry, marked, 'clash', { files: { 'README.md': 'Theirs\n' } });
  await seedBranch(gantry, marked, 'fine');
  const { iid: clash } = await openRequest(gantry, marked, 'clash');
  const { iid: fine } = await openRequest(gantry, marked, 'fine');
  await seedCommit(gantry, marked.id, { 'README.md': 'Ours\n' });
  await settle(gantry);
  const list = `/${marked.full_path}/merge_requests`;
  const review = { verdict: 'request_changes', summary: 'Not like this' };
  const { status } = await reviewer.visitor.post(`${list}/${fine}/diffs/review`, review);
  assert.equal(status, 303);
  await waitForCheck(gantry, { project_id: marked.id, iid: clash });
  const rows = (await reviewer.visitor.get(list)).text.split('<li><span class="lead status').slice(1);
  assert.deepEqual(
    rows.map((row) => [row.includes('> Conflicts<'), row.includes('> Changes requested<')]),
    [
      [false, true],
      [true, false],
    ],
  );
});
