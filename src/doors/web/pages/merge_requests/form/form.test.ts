/** Tests the forms for new merge requests and edits. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  openRequest,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: Coded;
let maintainer: SeededVisitor;
let reporter: SeededVisitor;
let list: string;

const query = (params: Record<string, string>): string =>
  new URLSearchParams(
    Object.entries(params).map(([name, value]): [string, string] => [`merge_request[${name}]`, value]),
  ).toString();

/** Values of the hidden fields of the form, which a browser sends. */
const hiddenIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="(merge_request\[[^"]+)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']): [string, string] => [name, value],
    ),
  );

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  maintainer = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  list = `/${project.full_path}/merge_requests`;
  await seedCommit(
    gantry,
    project.id,
    { '.gitlab/merge_request_templates/Bug.md': '## What <b>broke</b>\n' },
    { branch: 'main', from: 'main' },
  );
  await seedBranch(gantry, project, 'keep-loads', {
    files: { 'a.txt': 'one\n' },
    message: 'Keep the loads\n\nThey vanished.',
  });
});
after(async () => await gantry.close());

test('chooses branches, and says which do not exist', async () => {
  const { status, text } = await maintainer.visitor.get(`${list}/new`);
  assert.equal(status, 200);
  assert.match(text, /name="merge_request\[source_branch\]"[\s\S]+<option value="keep-loads">/);
  assert.match(text, /name="merge_request\[target_branch\]" value="main"/);
  const wrong = await maintainer.visitor.get(`${list}/new?${query({ source_branch: 'nope' })}`);
  assert.deepEqual([wrong.status, /No branch is named “nope”/.test(wrong.text)], [422, true]);
  const same = await maintainer.visitor.get(`${list}/new?${query({ source_branch: 'main' })}`);
  assert.match(same.text, /Nothing to merge/);
  assert.equal((await reporter.visitor.get(`${list}/new`)).status, 403);
  assert.match((await openVisitor(gantry).get(`${list}/new`)).location ?? '', /^\/users\/sign_in/);
});

test('previews commits and changes, proposes a title, and fills in a template', async () => {
  const ends = query({ source_branch: 'keep-loads' });
  const { text } = await maintainer.visitor.get(`${list}/new?${ends}`);
  assert.match(text, /1 commit<\/h2>[\s\S]+1 changed file[\s\S]+a\.txt/);
  assert.match(text, /name="title" type="text" value="Keep the loads"/);
  assert.match(text, /\nThey vanished\.<\/textarea>/);
  const chosen = await maintainer.visitor.get(
    `${list}/new?${ends}&issuable_template=Bug&${query({ title: 'Mine' })}`,
  );
  assert.match(chosen.text, /value="Mine"[\s\S]+## What &lt;b&gt;broke/);
  const typed = { title: 'My title', draft: '1', description: 'Typed', issuable_template: 'Bug' };
  const kept = await maintainer.visitor.post(`${list}/new`, { ...hiddenIn(text), ...typed });
  assert.equal(kept.status, 200);
  assert.match(kept.text, /value="My title"[^]+name="draft" type="checkbox" value="1" checked/);
  assert.match(kept.text, />\nTyped\n\n## What &lt;b&gt;broke[^<]*<\/textarea>/);
  assert.match(kept.text, /1 changed file/);
  const odd = await maintainer.visitor.get(
    `${list}/new?merge_request[source_branch][a]=b&merge_request[target_project_id]=x`,
  );
  assert.equal(odd.status, 200);
});

test('a preview of many commits says how many there are, and leads to the rest', async () => {
  const commits = Array.from({ length: 101 }, (_one, at) => at);
  for (const at of commits) {
    const from = at === 0 ? { from: 'main' } : {};
    await seedCommit(gantry, project.id, { 'long.txt': `${at}\n` }, { ...from, branch: 'long-work' });
  }
  const ends = query({ source_branch: 'long-work' });
  const { text } = await maintainer.visitor.get(`${list}/new?${ends}`);
  assert.match(text, /101 commits<\/h2>/);
  const link =
    /One older commit is not shown\. <a href="([^"]+)">See all 101 commits<\/a>/.exec(text)?.[1] ?? '';
  const all = await maintainer.visitor.get(link.replaceAll('&amp;', '&'));
  assert.match(all.text, /101 commits<\/h2>/);
});

const idsOf = (users: { id: number }[]): number[] => users.map(({ id }) => id).toSorted((a, b) => a - b);

test('keeps the people of a refused form', async () => {
  const stranger = await seedVisitor(gantry);
  const { text } = await maintainer.visitor.get(`${list}/new?${query({ source_branch: 'keep-loads' })}`);
  const ticked = [maintainer.id, stranger.id].join(',');
  const refused = await maintainer.visitor.post(list, {
    ...hiddenIn(text),
    title: 'Kept',
    'assignee_ids[]': ticked,
    'reviewer_ids[]': ticked,
    reviewer_username: 'nobody-here',
  });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /value="nobody-here"[^]*?The user “nobody-here” does not exist/);
  for (const name of ['assignee_ids', 'reviewer_ids']) {
    const boxes = [...refused.text.matchAll(new RegExp(`name="${name}\\[\\]" value="(\\d+)" checked`, 'g'))];
    assert.deepEqual(
      boxes.map(([, id]) => Number(id)).toSorted((a, b) => a - b),
      [maintainer.id, stranger.id],
    );
  }
});

test('creates it, refuses a second one, and keeps what was typed', async () => {
  const { text } = await maintainer.visitor.get(`${list}/new?${query({ source_branch: 'keep-loads' })}`);
  const sent = { ...hiddenIn(text), title: ' ', description: 'kept\r\ntext' };
  const bad = await maintainer.visitor.post(list, sent);
  assert.deepEqual([bad.status, /kept\ntext<\/textarea>/.test(bad.text)], [422, true]);
  const unstorable = await maintainer.visitor.post(list, { ...sent, title: 'x', description: 'typed\0' });
  assert.deepEqual([unstorable.status, /typed<\/textarea>/.test(unstorable.text)], [422, true]);
  const good = await maintainer.visitor.post(list, {
    ...sent,
    title: 'Keep loads',
    draft: '1',
    labels: 'bug,docs',
    'reviewer_ids[]': String(maintainer.id),
    'assignee_ids[]': String(maintainer.id),
    assignee_username: `@${reporter.username}`,
    reviewer_username: `${reporter.username}, ${maintainer.username}`,
    squash: '1',
    remove_source_branch: '1',
  });
  assert.match(good.location ?? '', new RegExp(`^${list}/\\d+$`));
  const request = await readRequest(gantry, {
    project_id: project.id,
    iid: good.location?.split('/').at(-1),
  });
  assert.deepEqual(
    [
      request.title,
      request.description,
      request.labels,
      idsOf(request.reviewers),
      idsOf(request.assignees),
      request.squash,
      request.force_remove_source_branch,
      request.author.id,
    ],
    [
      'Draft: Keep loads',
      'kept\ntext',
      ['bug', 'docs'],
      [maintainer.id, reporter.id],
      [maintainer.id, reporter.id],
      true,
      true,
      maintainer.id,
    ],
  );
  const again = await maintainer.visitor.post(list, { ...sent, title: 'Again' });
  assert.deepEqual([again.status, /Another open merge request already exists/.test(again.text)], [422, true]);
  // Its branches can be changed without losing the text.
  assert.match(again.text, /name="merge_request\[source_branch\]"/);
  assert.doesNotMatch(again.text, /type="hidden" name="merge_request\[source_branch\]"/);
  assert.doesNotMatch(again.text, /Change branches/);
  const shown = await maintainer.visitor.get(`${list}/new?${query({ source_branch: 'keep-loads' })}`);
  assert.match(shown.text, /open merge request already: <a href="[^"]+\/merge_requests\/\d+">/);
  assert.equal((await reporter.visitor.post(list, sent)).status, 403);
});

test('keeps what was typed where the branches were deleted or merged meanwhile', async () => {
  await seedBranch(gantry, project, 'again');
  const long = 'слово '.repeat(1_000).trim();
  const sent = {
    title: 'Kept title',
    description: long,
    draft: '1',
    squash: '1',
    assignee_username: reporter.username,
  };
  for (const [source_branch, reason] of [
    ['gone', /No branch is named “gone”/],
    ['', /Choose a source branch/],
    ['main', /You can&#39;t use same project\/branch|main already contains all commits of main/],
  ] as const) {
    const ends = { 'merge_request[source_branch]': source_branch, 'merge_request[target_branch]': 'main' };
    const { status, text } = await maintainer.visitor.post(list, { ...ends, ...sent });
    assert.equal(status, 422);
    assert.match(text, reason);
    assert.match(text, /name="title" type="text" value="Kept title"/);
    assert.ok(text.includes(`${long}</textarea>`));
    assert.match(text, /name="draft"[^>]* checked/);
    assert.match(text, /name="squash"[^>]* checked/);
    assert.match(text, new RegExp(`value="${reporter.username}"`));
    // A link to the other form would lose the text; the branches are fields of this one.
    assert.doesNotMatch(text, /Change branches|open merge request already/);
    const changed = { 'merge_request[source_branch]': 'again', 'merge_request[target_branch]': 'main' };
    assert.match(text, /name="merge_request\[source_branch\]"/);
    const good = await maintainer.visitor.post(list, { ...hiddenIn(text), ...changed, ...sent });
    assert.equal(good.status, 303);
    const iid = good.location?.split('/').at(-1);
    assert.equal((await readRequest(gantry, { project_id: project.id, iid })).description, long);
    await gantry.api(`PUT /projects/${project.id}/merge_requests/${iid}`, { json: { state_event: 'close' } });
  }
});

test('offers the project above a fork as target, as pushes to the fork link', async () => {
  const { body, text: reply } = await gantry.api(`POST /projects/${project.id}/fork`, {
    json: { path: 'forked', name: 'Forked' },
  });
  assert.ok(body.id, reply);
  await settle(gantry);
  await gantry.api(`POST /projects/${body.id}/members`, {
    json: { user_id: maintainer.id, access_level: 30 },
  });
  await seedCommit(gantry, body.id, { 'forked.txt': 'x\n' }, { branch: 'mine', from: 'main' });
  const fork = `/${body.path_with_namespace}/merge_requests`;
  const { text } = await maintainer.visitor.get(`${fork}/new?${query({ source_branch: 'mine' })}`);
  assert.match(text, /forked:mine<\/code> into[\s\S]+forked\.txt/);
  const created = await maintainer.visitor.post(fork, { ...hiddenIn(text), title: 'From a fork' });
  assert.match(created.location ?? '', new RegExp(`^${list}/\\d+$`));
  const page = (await maintainer.visitor.get(created.location ?? '')).text;
  assert.match(page, /forked:mine<\/code>/);
});

test('fills milestone, people and labels from the address', async () => {
  const at = `/projects/${project.id}`;
  const milestone = (await gantry.api(`POST ${at}/milestones`, { json: { title: 'Soon' } })).body;
  const label = (await gantry.api(`POST ${at}/labels`, { json: { name: 'kept', color: '#112233' } })).body;
  await seedBranch(gantry, project, 'filled');
  const { id } = maintainer;
  const lists = `merge_request[assignee_ids][]=${id}&merge_request[reviewer_ids][]=${reporter.id}&merge_request[label_ids][]=${label.id}`;
  const ends = query({ source_branch: 'filled', milestone_id: String(milestone.id) });
  const { text } = await maintainer.visitor.get(`${list}/new?${ends}&${lists}`);
  assert.match(text, new RegExp(`<option value="${milestone.id}" selected>Soon</option>`));
  assert.match(text, new RegExp(`name="assignee_ids\\[\\]" value="${id}" checked`));
  assert.match(text, new RegExp(`name="reviewer_ids\\[\\]" value="${reporter.id}" checked`));
  assert.match(text, /<input[^>]* name="labels"[^>]* value="kept"/);
});

test('previews a fork without white space, one file alone, and images of both sides', async () => {
  const target = await seedCoded(gantry, { visibility: 'public' });
  const base = await seedCommit(gantry, target.id, { 'odd.txt': 'unusual\n', 'pic.png': 'a\0' });
  const { body: fork, text: reply } = await gantry.api(`POST /projects/${target.id}/fork`, {
    json: { path: `fork-of-${target.id}`, name: 'Fork' },
  });
  assert.ok(fork.id, reply);
  await settle(gantry);
  await gantry.api(`POST /projects/${fork.id}/members`, {
    json: { user_id: maintainer.id, access_level: 30 },
  });
  const files = { 'odd.txt': '  unusual\n', 'pic.png': 'b\0', 'more.txt': 'something else\n' };
  const head = await seedCommit(gantry, fork.id, files, { branch: 'mine', from: 'main' });
  const address = `/${fork.path_with_namespace}/merge_requests/new?${query({ source_branch: 'mine' })}`;
  const read = async (choice: string): Promise<string> =>
    (await maintainer.visitor.get(address + choice)).text;
  const [whole, spaceless, alone] = [await read(''), await read('&w=1'), await read('&w=0&file=odd.txt')];
  assert.match(whole, /3 changed files/);
  const contents = [whole, spaceless, alone].map((text) => [
    /unusual/.test(text),
    /something else/.test(text),
  ]);
  assert.deepEqual(contents, [
    [true, true],
    [false, true],
    [true, false],
  ]);
  const images = [...whole.matchAll(/<img src="[^"]+\/raw\/(\w+)\/pic\.png" alt="(?:Before|After)"/g)];
  assert.deepEqual(
    images.map(([, sha]) => sha),
    [base, head],
  );
});

test('edits, but not over the edit of somebody else', async () => {
  await seedBranch(gantry, project, 'edited');
  await seedBranch(gantry, project, 'elsewhere');
  const request = await openRequest(gantry, project, 'edited', {
    title: 'Before',
    description: 'One\r\ntwo',
  });
  const path = `${list}/${request.iid}`;
  const baseIn = (text: string): string => /name="base" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const { text } = await maintainer.visitor.get(`${path}/edit`);
  const edit = {
    title: 'After',
    description: 'One\r\ntwo',
    target_branch: 'elsewhere',
    remove_source_branch: '1',
    base: baseIn(text),
  };
  assert.equal((await maintainer.visitor.post(`${path}/edit`, edit)).location, path);
  const now = await readRequest(gantry, request);
  assert.deepEqual([now.title, now.target_branch, now.description], ['After', 'elsewhere', 'One\r\ntwo']);
  assert.equal((await maintainer.visitor.post(`${path}/edit`, edit)).location, path, 'sent twice');
  const late = await maintainer.visitor.post(`${path}/edit`, { ...edit, description: 'Mine' });
  assert.equal(late.status, 422);
  assert.match(
    late.text,
    /edited this merge request meanwhile[\s\S]+Mine<\/textarea>[\s\S]+Saved meanwhile[\s\S]+One\r?\ntwo/,
  );
  assert.match(late.text, /Overwrite with my version<\/button>/);
  const missing = await maintainer.visitor.post(`${path}/edit`, {
    ...edit,
    target_branch: 'nowhere',
    base: baseIn(late.text),
  });
  assert.deepEqual([missing.status, /does not exist/.test(missing.text)], [422, true]);
  assert.doesNotMatch(missing.text, /Saved meanwhile/);
  const unstorable = await maintainer.visitor.post(`${path}/edit`, { ...edit, description: 'typed\0' });
  assert.deepEqual([unstorable.status, /typed<\/textarea>/.test(unstorable.text)], [422, true]);
  assert.equal((await reporter.visitor.get(`${path}/edit`)).status, 403);
  assert.equal((await reporter.visitor.post(`${path}/edit`, edit)).status, 403);
});

/** Returns the fields of the form of an edit as a browser sends them. */
const sentFields = (page: string): Record<string, string> => {
  const form = /data-edit-form>[^]*?<\/form>/.exec(page)?.[0] ?? '';
  const fields = [...form.matchAll(/<input [^>]*>/g)].flatMap(([tag]): [string, string][] => {
    const isSent = !tag.includes('type="checkbox"') || tag.includes(' checked');
    const name = / name="([^"]+)"/.exec(tag)?.[1];
    return isSent && name !== undefined ? [[name, / value="([^"]*)"/.exec(tag)?.[1] ?? '']] : [];
  });
  return Object.fromEntries(fields);
};

test('an edit of the texts leaves the target and the ticks that somebody changed meanwhile', async () => {
  for (const branch of ['stacked', 'first', 'second']) await seedBranch(gantry, project, branch);
  const request = await openRequest(gantry, project, 'stacked', { target_branch: 'first' });
  const path = `${list}/${request.iid}`;
  const fields = sentFields((await maintainer.visitor.get(`${path}/edit`)).text);
  assert.equal(fields['target_branch'], 'first');
  const others = { target_branch: 'second', remove_source_branch: true, squash: true };
  const api = `PUT /projects/${project.id}/merge_requests/${request.iid}`;
  assert.equal((await gantry.api(api, { json: others })).status, 200);
  const stored = async (): Promise<unknown[]> => {
    const now = await readRequest(gantry, request);
    return [now.description, now.target_branch, now.squash, now.force_remove_source_branch];
  };
  const sent = await maintainer.visitor.post(`${path}/edit`, { ...fields, description: 'Mine' });
  assert.equal(sent.status, 303, sent.text);
  assert.deepEqual(await stored(), ['Mine', 'second', true, true]);
  const fresh = sentFields((await maintainer.visitor.get(`${path}/edit`)).text);
  assert.equal((await gantry.api(api, { json: { target_branch: 'first' } })).status, 200);
  const late = { ...fresh, description: 'Mine again', target_branch: 'main', squash: '0' };
  const refused = await maintainer.visitor.post(`${path}/edit`, late);
  assert.equal(refused.status, 422);
  assert.match(refused.text, /Somebody set the target branch to first meanwhile/);
  assert.match(refused.text, /Mine again<\/textarea>/);
  assert.deepEqual(await stored(), ['Mine', 'first', true, true]);
  const again: Record<string, string> = { ...sentFields(refused.text), description: 'Mine again' };
  assert.equal(again['target_branch'], 'main');
  assert.equal((await maintainer.visitor.post(`${path}/edit`, again)).status, 303);
  assert.deepEqual(await stored(), ['Mine again', 'main', false, true]);
});
