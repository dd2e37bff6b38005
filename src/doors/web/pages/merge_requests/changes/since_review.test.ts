/** Tests the comparison with the version that a reviewer last reviewed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  openFromBranch,
  seedCoded,
  settle,
  toPath,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

let gantry: TestService;
let project: Coded;
let reviewer: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  reviewer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
});
after(async () => await gantry.close());

let last = 0;

type Opened = {
  path: string;
  branch: string;
  /** Heads of the versions, the newest first. */
  heads: () => Promise<string[]>;
  /** Sends a comment on the only line of the file. */
  comment: (body: string) => Promise<void>;
};

const open = async (): Promise<Opened> => {
  const branch = `topic-${++last}`;
  const request = await openFromBranch(gantry, project, branch);
  const path = `/${project.full_path}/merge_requests/${request.iid}`;
  const versions = async () => (await gantry.api(`GET ${toPath(request)}/versions`)).body;
  const file = `${branch}.txt`;
  const comment = async (body: string): Promise<void> => {
    const [{ base_commit_sha: base, start_commit_sha: start, head_commit_sha: head }] = await versions();
    const sent = { base, start, head, path: file, old_path: file, line: 'new_1', body };
    assert.equal((await reviewer.visitor.post(`${path}/diffs/comments`, sent)).status, 303);
  };
  const heads = async (): Promise<string[]> =>
    (await versions()).map((one: { head_commit_sha: string }) => one.head_commit_sha);
  return { path, branch, heads, comment };
};

const push = async ({ branch }: Opened): Promise<void> => {
  await seedCommit(gantry, project.id, { [`more-${++last}.txt`]: 'more\n' }, { branch });
  await settle(gantry);
};

/** Returns the head that the link of the changes page compares with; null: there is no link. */
const since = async ({ path }: Opened): Promise<string | null> => {
  const { text } = await reviewer.visitor.get(`${path}/diffs`);
  return /href="[^"]*[?&;]start_sha=([\da-f]{40})"[^>]*>Since my last review</.exec(text)?.[1] ?? null;
};

const submit = async ({ path }: Opened, sent: Record<string, string>): Promise<void> =>
  assert.equal((await reviewer.visitor.post(`${path}/diffs/review`, sent)).status, 303);

test('a reply and a plain comment after a push hide nothing of it', async () => {
  const opened = await open();
  await opened.comment('On the first version');
  const [first] = await opened.heads();
  await push(opened);
  assert.equal(await since(opened), first);
  const { text } = await reviewer.visitor.get(`${opened.path}/diffs`);
  const discussion_id = /id="thread_([\da-f]+)"/.exec(text)?.[1] ?? '';
  const replied = await reviewer.visitor.post(`${opened.path}/diffs/replies`, {
    discussion_id,
    body: 'Soon',
  });
  assert.equal(replied.status, 303);
  const plain = await reviewer.visitor.post(`${opened.path}/notes`, { body: 'I will look at it tomorrow' });
  assert.equal(plain.status, 303);
  assert.equal(await since(opened), first);
});

test('a request for changes without a text is a review', async () => {
  const opened = await open();
  const [head = ''] = await opened.heads();
  await submit(opened, { verdict: 'request_changes', summary: '', head });
  assert.equal(await since(opened), null);
  await push(opened);
  assert.equal(await since(opened), head);
});

test('a review is of the head that the reviewer saw, not of what was pushed meanwhile', async () => {
  const opened = await open();
  const [seen = ''] = await opened.heads();
  await push(opened);
  await submit(opened, { verdict: 'comment', summary: 'Fine so far', head: seen });
  assert.equal(await since(opened), seen);
  const [latest = ''] = await opened.heads();
  await submit(opened, { verdict: 'approve', summary: '', head: latest });
  assert.equal(await since(opened), null);
  await push(opened);
  assert.equal(await since(opened), latest);
});

test('the overview links reviewers to what changed since their review', async () => {
  const opened = await open();
  const link = async (as = reviewer): Promise<string | undefined> => {
    const { text } = await as.visitor.get(opened.path);
    return /href="([^"]*)">changes since my last review</.exec(text)?.[1];
  };
  const [head = ''] = await opened.heads();
  await submit(opened, { verdict: 'request_changes', summary: 'Please', head });
  assert.equal(await link(), undefined);
  await push(opened);
  assert.equal(await link(), `${opened.path}/diffs?start_sha=${head}`);
  assert.equal(await link(await seedVisitor(gantry, { project: project.id, access_level: 30 })), undefined);
  assert.match((await reviewer.visitor.get((await link()) ?? '')).text, /aria-current="true">Since my last/);
});
