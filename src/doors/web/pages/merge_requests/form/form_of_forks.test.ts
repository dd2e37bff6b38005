/** Tests how users who may not push open merge requests, and that steps of the form hand on what is filled in. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import { seedMember, unique } from '../../../../../../test/support/seed.ts';
import {
  type Coded,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

let gantry: TestService;
let project: Coded;
let maintainer: SeededVisitor;
let list: string;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  maintainer = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  list = `/${project.full_path}/merge_requests`;
  await seedBranch(gantry, project, 'topic');
});
after(async () => await gantry.close());

const forkFor = async (user: SeededVisitor): Promise<{ id: number; full_path: string }> => {
  const path = unique('fork');
  await user.visitor.get(`/${project.full_path}/-/forks/new`);
  const sent = { name: path, path, visibility: 'public' };
  const made = await user.visitor.post(`/${project.full_path}/-/forks`, sent);
  assert.equal(made.status, 303, made.text);
  await settle(gantry);
  const { body } = await gantry.api(`GET /projects/${encodeURIComponent((made.location ?? '').slice(1))}`);
  return { id: body.id, full_path: body.path_with_namespace };
};

const hiddenIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="(merge_request\[[^"]+)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']): [string, string] => [name, value],
    ),
  );

const newRequest = /<a[^>]+href="([^"]+\/merge_requests\/new)"/;

test('a user without push opens a merge request from their fork, starting at the project', async () => {
  const outsider = await seedVisitor(gantry);
  const fork = await forkFor(outsider);
  await seedCommit(gantry, fork.id, { 'mine.txt': 'x\n' }, { branch: 'mine', from: 'main' });
  const path = newRequest.exec((await outsider.visitor.get(list)).text)?.[1] ?? '';
  const chosen = await outsider.visitor.get(path);
  assert.equal(chosen.status, 200, chosen.text);
  assert.match(chosen.text, new RegExp(`<code>${fork.full_path}</code>`));
  assert.match(chosen.text, /name="merge_request\[source_branch\]"[^]+?<option value="mine">/);
  const query = new URLSearchParams({ ...hiddenIn(chosen.text), 'merge_request[source_branch]': 'mine' });
  const { text } = await outsider.visitor.get(`${list}/new?${query.toString()}`);
  const created = await outsider.visitor.post(list, { ...hiddenIn(text), title: 'From outside' });
  assert.match(created.location ?? '', new RegExp(`^${list}/\\d+$`), created.text);
  const request = await readRequest(gantry, {
    project_id: project.id,
    iid: created.location?.split('/').at(-1),
  });
  assert.deepEqual([request.source_project_id, request.target_branch], [fork.id, 'main']);
});

test('a user without push and without a fork learns what to do', async () => {
  const outsider = await seedVisitor(gantry);
  const { text } = await outsider.visitor.get(list);
  assert.match(text, newRequest);
  const page = await outsider.visitor.get(`${list}/new`);
  assert.equal(page.status, 403);
  assert.match(page.text, new RegExp(`href="/${project.full_path}/-/forks/new"[^>]*>[^]*?Fork the project`));
  assert.equal((await outsider.visitor.post(list, { title: 'x' })).status, 403);
});

test('shows the button to nobody who can neither push nor fork', async () => {
  const closed = await seedCoded(gantry, { visibility: 'public' }, { forking_access_level: 'disabled' });
  const outsider = await seedVisitor(gantry);
  const path = `/${closed.full_path}/merge_requests`;
  assert.doesNotMatch((await outsider.visitor.get(path)).text, newRequest);
  const page = await outsider.visitor.get(`${path}/new`);
  assert.deepEqual([page.status, /Forks of this project are disabled/.test(page.text)], [403, true]);
  assert.doesNotMatch(page.text, /forks\/new/);
});

test('offers merge requests for branches of a project only to those who may push to it', async () => {
  const outsider = await seedVisitor(gantry);
  await forkFor(outsider);
  const places = [`/${project.full_path}/-/branches?state=all`, `/${project.full_path}/compare/main...topic`];
  for (const path of places) {
    assert.match((await maintainer.visitor.get(path)).text, /merge_requests\/new\?/, path);
    assert.doesNotMatch((await outsider.visitor.get(path)).text, /merge_requests\/new\?/, path);
  }
});

test("offers the project and the user's forks as source, and shows their branches", async () => {
  const fork = await forkFor(maintainer);
  await seedCommit(gantry, fork.id, { 'f.txt': 'x\n' }, { branch: 'of-fork', from: 'main' });
  const stranger = await forkFor(await seedVisitor(gantry));
  const { text } = await maintainer.visitor.get(`${list}/new`);
  assert.match(text, new RegExp(`<option value="${project.id}" selected>${project.full_path}<`));
  assert.match(text, new RegExp(`<option value="${fork.id}">${fork.full_path}<`));
  assert.equal(text.includes(stranger.full_path), false, 'forks of others are not offered');
  const address = `${list}/new?merge_request[source_project_id]=${fork.id}&change_branches=1`;
  const other = await maintainer.visitor.get(address);
  assert.match(other.text, new RegExp(`<option value="${fork.id}" selected>`));
  assert.match(other.text, /<option value="of-fork">/);
  const refused = await maintainer.visitor.get(`${list}/new?merge_request[source_project_id]=${stranger.id}`);
  assert.equal(refused.status, 403);
});

test('a fork whose merge requests are disabled offers them for the project above it', async () => {
  const owner = await seedVisitor(gantry);
  const fork = await forkFor(owner);
  await seedCommit(gantry, fork.id, { 'f.txt': 'x\n' }, { branch: 'of-fork', from: 'main' });
  await gantry.api(`PUT /projects/${fork.id}`, { json: { merge_requests_access_level: 'disabled' } });
  const { text } = await owner.visitor.get(`/${fork.full_path}/-/branches?state=all`);
  const path = /href="([^"]+merge_requests\/new\?[^"]+of-fork)"/.exec(text)?.[1] ?? '';
  const page = await owner.visitor.get(path.replaceAll('&amp;', '&'));
  assert.match(page.text, new RegExp(`into <code>${project.full_path}:main`), page.text);
});

test('steps of the form keep what the address fills in', async () => {
  const { body: milestone } = await gantry.api(`POST /projects/${project.id}/milestones`, {
    json: { title: unique('Soon') },
  });
  const filled = {
    'merge_request[title]': 'Kept title',
    'merge_request[description]': 'Kept & text',
    'merge_request[milestone_id]': String(milestone.id),
    'merge_request[labels]': 'one,two',
    'merge_request[assignee_ids]': String(maintainer.id),
    'merge_request[reviewer_ids]': String(maintainer.id),
  };
  const query = new URLSearchParams(filled).toString();
  const start = await maintainer.visitor.get(`${list}/new?${query}`);
  const kept = hiddenIn(start.text);
  const expected = { ...filled, 'merge_request[description]': 'Kept &amp; text' };
  assert.deepEqual(kept, expected, 'the choice of branches');
  const ends = 'merge_request[source_branch]=topic';
  const { text } = await maintainer.visitor.get(`${list}/new?${query}&${ends}`);
  assert.match(text, /name="title" type="text" value="Kept title"/);
  const links = [...text.matchAll(/href="([^"]+merge_requests\/new\?[^"]+)"/g)].map(([, path = '']) =>
    Object.fromEntries(new URL(path.replaceAll('&amp;', '&'), gantry.url).searchParams),
  );
  assert.ok(links.some((link) => link['change_branches'] === '1'));
  // So does the page after the choice of a view.
  assert.match(text, /name="return_to" value="[^"]+Kept\+title/);
  for (const link of links) assert.deepEqual({ ...link, ...filled }, link);
  const missing = await maintainer.visitor.get(`${list}/new?${query}&merge_request[source_branch]=nope`);
  assert.deepEqual([missing.status, hiddenIn(missing.text)], [422, expected]);
});

test('a refused form keeps its properties in “Change branches”', async () => {
  await seedMember(gantry, { user: (await seedVisitor(gantry)).id, project: project.id, access_level: 30 });
  const { text } = await maintainer.visitor.get(`${list}/new?merge_request[source_branch]=topic`);
  const sent = { ...hiddenIn(text), title: 'Typed', labels: 'one', reviewer_username: 'nobody-here' };
  const refused = await maintainer.visitor.post(list, sent);
  assert.equal(refused.status, 422);
  const change = /href="([^"]+change_branches=1)"/.exec(refused.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const { searchParams } = new URL(change, gantry.url);
  const names = ['title', 'labels'].map((name) => searchParams.get(`merge_request[${name}]`));
  assert.deepEqual(names, ['Typed', 'one']);
});
