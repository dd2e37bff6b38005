/** Tests what the overview offers a reviewer: finishing the review, and issues that continue open threads. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
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
import { openVisitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: Coded;
let reviewer: SeededVisitor;
let stranger: SeededVisitor;
let number = 0;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  reviewer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  stranger = await seedVisitor(gantry);
});
after(async () => await gantry.close());

type Opened = { request: Request; path: string };

const open = async (): Promise<Opened> => {
  const branch = `offered-${(number += 1)}`;
  await seedBranch(gantry, project, branch);
  const request = await openRequest(gantry, project, branch);
  await settle(gantry);
  return { request, path: `/${project.full_path}/merge_requests/${request.iid}` };
};

const addDraft = async ({ request }: Opened, note: string): Promise<void> => {
  const made = await gantry.api(`POST ${toPath(request)}/draft_notes?sudo=${reviewer.username}`, {
    json: { note },
  });
  assert.equal(made.status, 201, made.text);
};

const addThread = async ({ request }: Opened, body: string): Promise<string> =>
  (await gantry.api(`POST ${toPath(request)}/discussions`, { json: { body } })).body.id;

/** Text of the page without markup. */
const words = (text: string): string => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

const unescape = (text: string): string =>
  text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");

/** The hidden fields of the form with an action. */
const fieldsOf = (text: string, action: string): Record<string, string> => {
  const form = text.split('<form').find((one) => one.includes(`action="${action}"`)) ?? '';
  const inputs = form.split('</form>')[0]?.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  return Object.fromEntries(
    [...(inputs ?? [])].map(([, name = '', value = '']) => [name, unescape(value)] as const),
  );
};

const getPage = async (path: string, { visitor } = reviewer): Promise<string> => {
  const { status, text } = await visitor.get(path);
  assert.equal(status, 200, text);
  return text;
};

test('the overview ends a review: it counts pending comments, and requests changes', async () => {
  const opened = await open();
  const { path, request } = opened;
  await addDraft(opened, 'First');
  await addDraft(opened, 'Second');
  const text = await getPage(path);
  assert.match(words(text), /2 comments are pending[^]*Finish review 2/);
  assert.match(text, /<a href="[^"]+\/diffs">2 comments<\/a>/);
  assert.doesNotMatch(words(await getPage(path, stranger)), /are pending/, 'drafts of others stay hidden');
  const review = fieldsOf(text, `${path}/diffs/review`);
  assert.equal(review['head'], request.sha);
  const sent = { ...review, verdict: 'request_changes', summary: 'Not yet' };
  const { status, location } = await reviewer.visitor.post(`${path}/diffs/review`, sent);
  assert.deepEqual([status, location], [303, path]);
  const said = words(await getPage(path));
  assert.match(said, /requested changes/);
  assert.ok(said.includes('First') && said.includes('Second') && said.includes('Not yet'));
  assert.doesNotMatch(said, /are pending/);
});

test('the overview offers a review without pending comments to those who may comment or approve', async () => {
  const { path } = await open();
  assert.match(words(await getPage(path)), /Review Summary[^]*Request changes[^]*Submit review/);
  const plain = words(await getPage(path, stranger));
  assert.match(plain, /Submit review/);
  assert.doesNotMatch(plain, /Request changes/);
  assert.doesNotMatch((await openVisitor(gantry).get(path)).text, /Submit review/);
});

test('creates an issue that continues all open threads of a merge request', async () => {
  const opened = await open();
  const { path, request } = opened;
  const threads = [await addThread(opened, 'Why <b>?'), await addThread(opened, 'How?')];
  const href = `/${project.full_path}/issues/new?merge_request_to_resolve_discussions_of=${request.iid}`;
  const text = await getPage(path);
  assert.match(words(text), /2 threads are open [^]*Create issue/);
  assert.ok(text.includes(`href="${href}"`));
  for (const id of threads) assert.ok(text.includes(`href="${href}&amp;discussion_to_resolve=${id}"`));
  assert.ok(!(await getPage(path, stranger)).includes('merge_request_to_resolve_discussions_of'));
  const form = await getPage(href);
  assert.match(words(form), new RegExp(`continues 2 open threads of !${request.iid} and resolves them`));
  assert.match(form, /value="Follow-up from “Of offered-\d+”"/);
  assert.match(form, /<textarea[^>]*name="description"[^>]*>[^<]*Why &lt;b&gt;\?/);
  const action = `/${project.full_path}/issues`;
  const kept = await reviewer.visitor.post(action, { ...fieldsOf(form, action), title: '' });
  assert.equal(kept.status, 422);
  const fields = fieldsOf(kept.text, action);
  assert.equal(fields['merge_request_to_resolve_discussions_of'], String(request.iid));
  const made = await reviewer.visitor.post(action, { ...fields, title: 'Later' });
  assert.match(made.location ?? '', /\/issues\/\d+$/, made.text);
  const iid = (made.location ?? '').split('/').at(-1);
  const { body: issue } = await gantry.api(`GET /projects/${project.id}/issues/${iid}`);
  assert.match(issue.description, /Why <b>\?[^]*How\?/);
  const { body: discussions } = await gantry.api(`GET ${toPath(request)}/discussions`);
  const notes = (discussions as { notes: { resolvable: boolean; resolved?: boolean }[] }[]).flatMap(
    (one) => one.notes,
  );
  assert.ok(notes.every(({ resolvable, resolved }) => !resolvable || resolved === true));
});

test('creates an issue that continues one thread, from the thread', async () => {
  const opened = await open();
  const { request, path } = opened;
  const [first, second] = [await addThread(opened, 'Why?'), await addThread(opened, 'How?')];
  const href = `/${project.full_path}/issues/new?merge_request_to_resolve_discussions_of=${request.iid}&discussion_to_resolve=${first}`;
  const form = await getPage(href);
  assert.match(words(form), new RegExp(`continues one open thread of !${request.iid} and resolves it`));
  const action = `/${project.full_path}/issues`;
  const made = await reviewer.visitor.post(action, { ...fieldsOf(form, action), title: 'One' });
  assert.equal(made.status, 303, made.text);
  const { body } = await gantry.api(`GET ${toPath(request)}/discussions/${second}`);
  assert.equal(body.notes[0].resolved, false);
  const done = await gantry.api(`GET ${toPath(request)}/discussions/${first}`);
  assert.equal(done.body.notes[0].resolved, true);
  // A resolved thread has nothing to continue, and says so; a merge request that is missing or hidden is missing.
  assert.match(words(await getPage(href)), /no open thread/i);
  const missing = `/${project.full_path}/issues/new?merge_request_to_resolve_discussions_of=999999`;
  assert.equal((await reviewer.visitor.get(missing)).status, 404);
  assert.ok(!(await getPage(path)).includes(`discussion_to_resolve=${first}`));
  assert.match(words(await getPage(href, stranger)), /no open thread/i);
});
