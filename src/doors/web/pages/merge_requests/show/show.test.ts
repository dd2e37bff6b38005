/** Tests the overview of a merge request: what it shows to whom. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline } from '../../../../../../test/support/ci/jobs.ts';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  type Request,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
  toPath,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { getMatching, openVisitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: Coded;
let maintainer: SeededVisitor;
let stranger: SeededVisitor;
let request: Request;
let path: string;

const api = async (line: string, json: object = {}): Promise<Request> => {
  const { status, body, text } = await gantry.api(line, { json });
  assert.ok(status < 300, `${line}: ${text}`);
  return body;
};

/** Text of the page without markup, for what people read. */
const words = (text: string): string => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  maintainer = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  stranger = await seedVisitor(gantry);
  const issue = await api(`POST /projects/${project.id}/issues`, { title: 'Loads <i>vanish</i>' });
  await seedBranch(gantry, project, 'keep', { files: { 'a.txt': 'one\ntwo\n' } });
  request = await openRequest(gantry, project, 'keep', {
    description: `Some **text**<script>alert(1)</script>\n\n- [ ] task\n\nCloses #${issue.iid}`,
    labels: 'bug',
    reviewer_ids: [maintainer.id],
  });
  path = `/${project.full_path}/merge_requests/${request.iid}`;
  await settle(gantry);
  await api(`POST ${toPath(request)}/notes`, { body: 'A _comment_' });
  await api(`POST ${toPath(request)}/award_emoji`, { name: 'tada' });
  const { base_sha, head_sha, start_sha } = (await gantry.api(`GET ${toPath(request)}`)).body.diff_refs;
  await api(`POST ${toPath(request)}/discussions`, {
    body: 'Why two?',
    position: {
      base_sha,
      head_sha,
      start_sha,
      position_type: 'text',
      new_path: 'a.txt',
      old_path: 'a.txt',
      new_line: 2,
    },
  });
});
after(async () => await gantry.close());

test('shows the description, comments, threads on changes, properties and commands', async () => {
  const { status, text } = await maintainer.visitor.get(path);
  assert.equal(status, 200);
  assert.match(text, /Some <strong>text<\/strong>/);
  assert.doesNotMatch(text, /<script>alert/);
  assert.match(text, /A <em>comment<\/em>/);
  assert.match(
    text,
    /merge_requests\/1\/diffs#note_\d+"><code>a.txt, line 2<\/code><\/a>[\s\S]+Why two\?[\s\S]+Resolve thread/,
  );
  assert.match(text, /tada: 1/);
  assert.match(text, /Reviewer<\/h2>[\s\S]+waiting/);
  assert.match(text, /Closes<\/h2>[\s\S]+issues\/1">#1 Loads &lt;i&gt;vanish&lt;\/i&gt;/);
  assert.match(text, /Labels<\/h2>[\s\S]+labels=bug/);
  assert.match(text, /git fetch origin refs\/merge-requests\/1\/head/);
  assert.match(text, new RegExp(`<code>${project.full_path}!1</code>`));
});

test('lists every check with its state, reason and remedy', async () => {
  const { text } = await maintainer.visitor.get(path);
  const said = words(text);
  assert.match(said, /Ready to merge checked against main at [0-9a-f]{8}/);
  assert.match(said, /No pipeline/);
  assert.match(said, /Nobody has approved yet · approval is optional Approve/);
  assert.match(said, /1 thread is open · a.txt, line 2, by [^·]+ Go to it/);
  assert.match(said, /No conflicts with main/);
  assert.match(text, /name="sha" value="[0-9a-f]{40}"/);
  assert.match(text, /Delete <code>keep<\/code>/);
  assert.match(text, /Merge branch &#39;keep&#39; into &#39;main&#39;\n\nOf keep\n\nCloses #1/);
});

test('says why the request is blocked, and what to do', async () => {
  await api(`PUT /projects/${project.id}`, {
    only_allow_merge_if_all_discussions_are_resolved: true,
    only_allow_merge_if_pipeline_succeeds: true,
  });
  await api(`PUT ${toPath(request)}`, { title: 'Draft: Of keep' });
  const said = words((await maintainer.visitor.get(path)).text);
  assert.match(said, /Draft [^!]+ wants to merge/);
  assert.match(said, /Ready to merge once two things are done/);
  assert.match(said, /Blocks the merge|This is a draft · the author is still working on it Mark as ready/);
  await api(`PUT ${toPath(request)}`, { title: 'Of keep' });
  await api(`PUT /projects/${project.id}`, {
    only_allow_merge_if_all_discussions_are_resolved: false,
    only_allow_merge_if_pipeline_succeeds: false,
  });
  await seedBranch(gantry, project, 'clash', { files: { 'README.md': 'Theirs\n' } });
  const other = await openRequest(gantry, project, 'clash');
  await api(`POST /projects/${project.id}/repository/commits`, {
    branch: 'main',
    commit_message: 'Change',
    actions: [{ action: 'update', file_path: 'README.md', content: 'Ours\n' }],
  });
  await settle(gantry);
  const clash = await maintainer.visitor.get(`/${project.full_path}/merge_requests/${other.iid}`);
  assert.match(
    words(clash.text),
    /Conflicts with main in 1 file README.md How to resolve them git fetch origin/,
  );
  assert.match(clash.text, /<button class="good" disabled>/);
  const behind = words(await getMatching(maintainer.visitor, path, /behind/));
  assert.match(behind, /No conflicts with main · 1 commit behind, which is fine here Rebase/);
});

test('leads from requested changes to the review', async () => {
  const other = await seedCoded(gantry, { visibility: 'public' });
  const reviewer = await seedVisitor(gantry, { project: other.id, access_level: 40 });
  await seedBranch(gantry, other, 'asked');
  const { iid } = await openRequest(gantry, other, 'asked');
  await settle(gantry);
  const at = `/${other.full_path}/merge_requests/${iid}`;
  const review = { verdict: 'request_changes', summary: 'Not like this' };
  assert.equal((await reviewer.visitor.post(`${at}/diffs/review`, review)).status, 303);
  const { text } = await stranger.visitor.get(at);
  const [, note = ''] = /requested changes [^]+?href="#note_(\d+)">Go to the review</.exec(text) ?? [];
  assert.match(text, new RegExp(`id="note_${note}">(?:(?!id="note_)[^])+requested changes`));
});

test('lists who spent time, how much and when', async () => {
  const own = await seedCoded(gantry, { visibility: 'public' });
  await seedBranch(gantry, own, 'timed');
  const request = await openRequest(gantry, own, 'timed');
  const { visitor, id, username } = await seedVisitor(gantry, { project: own.id, access_level: 40 });
  const at = `/projects/${own.id}/merge_requests/${request.iid}`;
  const address = `/${own.full_path}/merge_requests/${request.iid}`;
  assert.doesNotMatch((await visitor.get(address)).text, /Time by person|Time entries/);
  for (const spent of ['2h', '-30m']) {
    const { status } = await gantry.api(`POST ${at}/add_spent_time?duration=${spent}&sudo=${id}`);
    assert.equal(status, 201);
  }
  const { text } = await visitor.get(address);
  assert.match(text, new RegExp(`Time by person</summary>[^]*?${username}[^]*?1h 30m`));
  const [, entries = ''] = /Time entries<\/summary>([^]*?)<\/details>/.exec(text) ?? [];
  const listed = [...entries.matchAll(/<li>(\S+) by <a class="author" href="\/([^"]+)">/g)];
  assert.deepEqual(
    listed.map(([, time, name]) => [time, name]),
    [
      ['-30m', username],
      ['2h', username],
    ],
  );
});

test('shows pushes among the comments', async () => {
  await seedBranch(gantry, project, 'pushed');
  const pushed = await openRequest(gantry, project, 'pushed');
  await api(`POST ${toPath(pushed)}/notes`, { body: 'Before the push' });
  await seedCommit(gantry, project.id, { more: 'x' }, { branch: 'pushed', from: 'pushed' });
  await settle(gantry);
  await api(`POST ${toPath(pushed)}/notes`, { body: 'After the push' });
  const { text } = await maintainer.visitor.get(`/${project.full_path}/merge_requests/${pushed.iid}`);
  assert.match(
    words(text),
    /Before the push.+Version 2 with 2 commits at [0-9a-f]{8} · what changed since version 1 ·.+After the push/,
  );
  assert.match(text, /\/diffs\?diff_id=\d+&amp;start_sha=[0-9a-f]{40}/);
});

test('says to others why they may not merge', async () => {
  const anonymous = await openVisitor(gantry).get(path);
  assert.match(words(anonymous.text), /You may not merge · sign in to merge/);
  assert.match(words(anonymous.text), /Ready to be merged/);
  assert.match(words(anonymous.text), /Closes #1 Loads/);
  assert.doesNotMatch(anonymous.text, /method="post" action="(?!\/-\/preferences")/);
  assert.doesNotMatch(anonymous.text, /data-comments/);
  const other = (await stranger.visitor.get(path)).text;
  assert.match(words(other), /You may not merge · requires the Developer role or higher/);
  assert.doesNotMatch(other, /\/merge"|\/approve|\/rebase"|\/edit"|Mark as draft/);
  const developer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  assert.match(
    words((await developer.visitor.get(path)).text),
    /You may not merge · main is protected, and your role may not merge into it/,
  );
});

test('says to those who may merge that the target is protected', async () => {
  const coded = await seedCoded(gantry, { visibility: 'public' });
  const master = await seedVisitor(gantry, { project: coded.id, access_level: 40 });
  const developer = await seedVisitor(gantry, { project: coded.id, access_level: 30 });
  await seedBranch(gantry, coded, 'topic');
  const { iid } = await openRequest(gantry, coded, 'topic');
  const page = `/${coded.full_path}/merge_requests/${iid}`;
  const read = async ({ visitor }: SeededVisitor) => words((await visitor.get(page)).text);
  assert.match(await read(master), /main is protected: only Maintainers may merge/);
  assert.doesNotMatch(await read(developer), /is protected: only/);
  const rule = `/projects/${coded.id}/protected_branches`;
  assert.equal((await gantry.api(`DELETE ${rule}/main`)).status, 204);
  assert.doesNotMatch(await read(master), /is protected/);
  await api(`POST ${rule}`, { name: 'ma*', push_access_level: 0, merge_access_level: 30 });
  for (const one of [master, developer])
    assert.match(await read(one), /main is protected: only Developers and Maintainers may merge/);
});

test('shows what happened after the end', async () => {
  await seedBranch(gantry, project, 'done');
  const merged = await openRequest(gantry, project, 'done');
  const page = `/${project.full_path}/merge_requests/${merged.iid}`;
  await api(`PUT ${toPath(merged)}`, { state_event: 'close' });
  assert.match(
    words((await maintainer.visitor.get(page)).text),
    /Closed by [^·]+ without being merged Reopen/,
  );
  await api(`PUT ${toPath(merged)}`, { state_event: 'reopen' });
  await api(`PUT ${toPath(merged)}/merge`);
  const { text } = await maintainer.visitor.get(page);
  assert.match(words(text), /Merged by [^<]+ into main as [0-9a-f]{8} Delete source branch Revert/);
  assert.match(words((await stranger.visitor.get(page)).text), /Merged by/);
  assert.doesNotMatch((await stranger.visitor.get(page)).text, /\/revert"/);
});

/** Opens the only merge request of a project of its own, and returns the address of its page. */
const openAlone = async (
  columns: Record<string, unknown> = {},
): Promise<{ path: string; project: Coded; opened: Request; reader: SeededVisitor }> => {
  const own = await seedCoded(gantry, { visibility: 'public' }, columns);
  const reader = await seedVisitor(gantry, { project: own.id, access_level: 40 });
  await seedBranch(gantry, own, 'topic');
  await seedCommit(gantry, own.id, { more: '1' }, { branch: 'topic', from: 'topic' });
  const opened = await openRequest(gantry, own, 'topic');
  await settle(gantry);
  return { path: `/${own.full_path}/merge_requests/${opened.iid}`, project: own, opened, reader };
};

test('leads to the failed jobs of the pipeline', async () => {
  for (const only_allow_merge_if_pipeline_succeeds of [0, 1]) {
    const {
      path: at,
      project: own,
      opened,
      reader,
    } = await openAlone({ only_allow_merge_if_pipeline_succeeds });
    const { id } = await seedPipeline(gantry, {
      project: own.id,
      file: 'job: { script: x }',
      ref: 'topic',
      sha: opened.sha,
    });
    await gantry.service.platform.store.write(
      async ({ db }) =>
        await db.updateTable('pipelines').set({ status: 'failed' }).where('id', '=', id).execute(),
    );
    const { text } = await reader.visitor.get(at);
    assert.match(text, new RegExp(`href="/${own.full_path}/-/pipelines/${id}">See failed jobs<`));
    const isBlocked = only_allow_merge_if_pipeline_succeeds === 1;
    const reason = isBlocked ? 'requires a passed pipeline' : 'does not require a passed pipeline';
    assert.match(words(text), new RegExp(`failed · this project ${reason}`));
    assert.equal(/<button class="good" disabled>/.test(text), isBlocked);
    if (isBlocked) continue;
    await gantry.api(`PUT /projects/${own.id}/merge_requests/${opened.iid}/merge`, {
      json: { auto_merge: true },
    });
    await settle(gantry);
    const waiting = await reader.visitor.get(at);
    assert.match(words(waiting.text), /failed · auto-merge waits until one passes/);
  }
});

test('says that a branch is missing, or that there is nothing to merge', async () => {
  const { path: at, project: own, reader } = await openAlone();
  const branches = `/projects/${own.id}/repository/branches`;
  const tip = (await gantry.api(`GET ${branches}/topic`)).body.commit.id;
  await gantry.api(`DELETE ${branches}/topic`);
  await settle(gantry);
  const missing = await reader.visitor.get(at);
  assert.match(words(missing.text), /The branch topic does not exist · restore it to merge/);
  assert.match(missing.text, /<button class="good" disabled>/);
  assert.doesNotMatch(missing.text, /Merge when all checks pass/);
  await gantry.api(`POST ${branches}`, { json: { branch: 'topic', ref: tip } });
  await settle(gantry);
  assert.match(words((await reader.visitor.get(at)).text), /No conflicts with main/);
  await gantry.api(`DELETE ${branches}/topic`);
  await gantry.api(`POST ${branches}`, { json: { branch: 'topic', ref: 'main' } });
  await settle(gantry);
  const empty = await reader.visitor.get(at);
  assert.match(words(empty.text), /Nothing to merge · main already contains all commits of topic/);
  assert.match(empty.text, /<button class="good" disabled>/);
});

test('offers to squash as the project allows it', async () => {
  for (const [squash_option, expected] of [
    ['never', []],
    ['default_off', ['tick']],
    ['default_on', ['tick', 'checked']],
    ['always', ['always']],
  ] as const) {
    const { path: at, reader } = await openAlone({ squash_option });
    const { text } = await reader.visitor.get(at);
    const tick = /<input type="checkbox" id="merge_squash"[^>]*>/.exec(text)?.[0];
    const seen = [
      ...(tick === undefined ? [] : ['tick', ...(tick.includes('checked') ? ['checked'] : [])]),
      ...(text.includes('2 commits will be squashed') ? ['always'] : []),
    ];
    assert.deepEqual(seen, expected, squash_option);
  }
});
