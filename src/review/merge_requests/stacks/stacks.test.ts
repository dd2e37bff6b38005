import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type Coded,
  type Request,
  merge,
  openRequest,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
  systemNotes,
  toPath,
} from '../../../../test/support/seed_merge_requests.ts';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { type SeededVisitor, seedVisitor } from '../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
let project: Coded;
let maintainer: SeededVisitor;
let number = 0;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  maintainer = await seedVisitor(gantry, { project: project.id, access_level: 40 });
});
after(async () => await gantry.close());

type Stacked = [lower: Request, middle: Request, upper: Request];

/** Opens three merge requests, each into the source branch of the one before. */
const openStack = async (): Promise<Stacked> => {
  number += 1;
  const requests: Request[] = [];
  for (const level of ['lower', 'middle', 'upper']) {
    const branch = `${level}-${number}`;
    const target_branch = requests.at(-1)?.source_branch ?? 'main';
    await seedBranch(gantry, project, branch, { from: target_branch });
    requests.push(await openRequest(gantry, project, branch, { target_branch, title: `The ${level} one` }));
  }
  await settle(gantry);
  return requests as unknown as Stacked;
};

const pageOf = ({ iid }: Request): string => `/${project.full_path}/merge_requests/${iid}`;

const read = async (request: Request): Promise<string> => {
  const { status, text } = await maintainer.visitor.get(pageOf(request));
  assert.equal(status, 200);
  return text;
};

/** The entries of the stack on a page, the topmost first. */
const stackIn = (text: string): string[] => {
  const card = /<section class="card stack-card"[^]*?<\/section>/.exec(text)?.[0] ?? '';
  return [...card.matchAll(/<li([^>]*)>.*?!(\d+)/g)].map(
    ([, here = '', iid]) => `${iid}${here === '' ? '' : ' here'}`,
  );
};

const shasIn = (text: string): string => /name="shas" value="([^"]+)"/.exec(text)?.[1] ?? '';

test('each page shows the stack, and alone none', async () => {
  const [lower, middle, upper] = await openStack();
  const order = [upper, middle, lower].map(({ iid }) => String(iid));
  for (const one of [lower, middle, upper]) {
    const expected = order.map((iid) => (iid === String(one.iid) ? `${iid} here` : iid));
    assert.deepEqual(stackIn(await read(one)), expected);
  }
  await seedBranch(gantry, project, 'alone');
  const alone = await openRequest(gantry, project, 'alone');
  assert.deepEqual(stackIn(await read(alone)), []);
});

test('requests into each other end', async () => {
  await seedBranch(gantry, project, 'one');
  await seedBranch(gantry, project, 'other');
  const one = await openRequest(gantry, project, 'one', { target_branch: 'other' });
  const other = await openRequest(gantry, project, 'other', { target_branch: 'one' });
  assert.equal((await maintainer.visitor.get(pageOf(one))).status, 200);
  assert.equal((await maintainer.visitor.get(pageOf(other))).status, 200);
});

test('follows to the target of the one below once that is merged and its branch deleted', async () => {
  const [lower, middle, upper] = await openStack();
  assert.equal((await merge(gantry, lower)).status, 200);
  await settle(gantry);
  assert.equal((await readRequest(gantry, middle)).target_branch, lower.source_branch, 'the branch exists');
  await gantry.api(`DELETE /projects/${project.id}/repository/branches/${lower.source_branch}`);
  await settle(gantry);
  const moved = await readRequest(gantry, middle);
  assert.deepEqual([moved.target_branch, moved.merge_status], ['main', 'can_be_merged']);
  assert.equal((await readRequest(gantry, upper)).target_branch, middle.source_branch);
  const note = `changed target branch from \`${lower.source_branch}\` to \`main\``;
  assert.ok((await systemNotes(gantry, middle)).includes(note));
  assert.equal((await merge(gantry, middle, { should_remove_source_branch: true })).status, 200);
  await settle(gantry);
  assert.equal((await readRequest(gantry, upper)).target_branch, 'main');
});

test('keeps its target if the deleted branch was not merged', async () => {
  const [lower, middle] = await openStack();
  await gantry.api(`PUT ${toPath(lower)}`, { json: { state_event: 'close' } });
  await gantry.api(`DELETE /projects/${project.id}/repository/branches/${lower.source_branch}`);
  await settle(gantry);
  assert.equal((await readRequest(gantry, middle)).target_branch, lower.source_branch);
});

test('merges a request together with those below it, each into the final target', async () => {
  const [lower, middle, upper] = await openStack();
  const text = await read(middle);
  assert.match(text, new RegExp(`Merge !${lower.iid} and this one into main</button>`));
  const form = { shas: shasIn(text) };
  const reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  await reporter.visitor.get(pageOf(middle));
  assert.equal((await reporter.visitor.post(`${pageOf(middle)}/merge_stack`, form)).status, 403);
  const { location } = await maintainer.visitor.post(`${pageOf(middle)}/merge_stack`, form);
  assert.equal(location, pageOf(middle));
  for (const one of [lower, middle]) {
    const { state, target_branch, merged_by } = await readRequest(gantry, one);
    assert.deepEqual([state, target_branch, merged_by.id], ['merged', 'main', maintainer.id]);
  }
  assert.equal((await readRequest(gantry, upper)).state, 'opened');
  const files = await gantry.api(`GET /projects/${project.id}/repository/tree?per_page=100`);
  const names = files.body.map(({ name }: { name: string }) => name);
  for (const one of [lower, middle]) assert.ok(names.includes(`${one.source_branch}.txt`));
});

test('does not merge what was not shown, or cannot be merged', async () => {
  const [lower, middle, upper] = await openStack();
  const form = { shas: shasIn(await read(upper)) };
  assert.equal(form.shas.split(',').length, 3);
  const short = await maintainer.visitor.post(`${pageOf(middle)}/merge_stack`, form);
  assert.deepEqual([short.status, short.text.includes('The stack has changed')], [422, true]);
  await seedCommit(
    gantry,
    project.id,
    { more: 'x' },
    { branch: lower.source_branch, from: lower.source_branch },
  );
  await settle(gantry);
  const late = await maintainer.visitor.post(`${pageOf(upper)}/merge_stack`, form);
  assert.equal(late.status, 422);
  assert.ok(late.text.includes(`!${lower.iid} cannot be merged now`));
  await gantry.api(`PUT ${toPath(lower)}`, { json: { title: 'Draft: not yet' } });
  assert.equal(shasIn(await read(upper)), '', 'one below is a draft');
  assert.equal((await readRequest(gantry, lower)).state, 'opened');
});

test('offers the final target where the branch of the one below was kept after its merge', async () => {
  const [lower, middle, upper] = await openStack();
  assert.ok(!(await read(middle)).includes('was merged into'), 'the one below is open');
  assert.equal((await merge(gantry, lower)).status, 200);
  await settle(gantry);
  const text = await read(middle);
  assert.match(
    text,
    new RegExp(
      `<code>${lower.source_branch}</code> was merged into <code>main</code> by <a href="${pageOf(lower)}">!${lower.iid}<`,
    ),
  );
  const reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  const seen = (await reporter.visitor.get(pageOf(middle))).text;
  assert.ok(seen.includes('was merged into <code>main</code>') && !seen.includes('Change target to main'));
  assert.ok(!(await read(upper)).includes('was merged into'), 'its target is open');
  const action = `${pageOf(middle)}?target_branch=main&shown_target_branch=${lower.source_branch}`;
  assert.ok(text.includes(`action="${action.replaceAll('&', '&amp;')}"`));
  assert.equal((await maintainer.visitor.post(action)).location, pageOf(middle));
  await settle(gantry);
  assert.equal((await readRequest(gantry, middle)).target_branch, 'main');
  assert.ok(!(await read(middle)).includes('was merged into'));
  await seedBranch(gantry, project, 'further', { from: lower.source_branch });
  const late = await maintainer.visitor.post(action.replace('=main', '=further'));
  assert.deepEqual([late.status, /set the target branch to main meanwhile/.test(late.text)], [422, true]);
});

test('offers no other target for branches that live on after a merge', async () => {
  await seedBranch(gantry, project, 'develop');
  await gantry.api(`POST /projects/${project.id}/protected_branches`, { json: { name: 'develop' } });
  assert.equal((await merge(gantry, await openRequest(gantry, project, 'develop'))).status, 200);
  await seedBranch(gantry, project, 'feature', { from: 'develop' });
  const feature = await openRequest(gantry, project, 'feature', { target_branch: 'develop' });
  await settle(gantry);
  assert.ok(!(await read(feature)).includes('was merged into'));
});

test('the stack says what keeps it from being merged', async () => {
  const [lower, middle, upper] = await openStack();
  const card = async (request: Request): Promise<string> =>
    /<section class="card stack-card"[^]*?<\/section>/.exec(await read(request))?.[0] ?? '';
  assert.doesNotMatch(await card(upper), /cannot be merged from here/);
  await gantry.api(`PUT ${toPath(lower)}`, { json: { title: 'Draft: not yet' } });
  const reviewer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  const { status } = await gantry.api(`POST ${toPath(middle)}/approve`, {
    json: { sudo: reviewer.username },
  });
  assert.equal(status, 201);
  const shown = await card(upper);
  assert.match(
    shown,
    new RegExp(`cannot be merged from here: <a href="${pageOf(lower)}">!${lower.iid}</a> is a draft`),
  );
  const rows = shown.split('<li');
  const rowOf = (request: Request): string => rows.find((row) => row.includes(`!${request.iid} `)) ?? '';
  assert.match(rowOf(lower), /Draft<\/span>/);
  assert.match(rowOf(middle), /1 approval/);
  assert.doesNotMatch(rowOf(lower), /approval/);
  await gantry.api(`PUT ${toPath(middle)}`, { json: { title: 'Draft: this neither' } });
  assert.match(await card(middle), /cannot be merged from here: this one cannot be merged yet/);
  const reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  assert.doesNotMatch((await reporter.visitor.get(pageOf(upper))).text, /cannot be merged from here/);
});
