/** Tests threads, reviews and viewed marks of the Changes tab. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: Coded;
let reviewer: SeededVisitor;
let author: SeededVisitor;

const numbered = (count: number): string =>
  Array.from({ length: count }, (_line, at) => `line ${at + 1}\n`).join('');

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  reviewer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  author = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  await seedCommit(gantry, project.id, { 'a.txt': numbered(30), 'b.txt': 'b\n' });
});
after(async () => await gantry.close());

let last = 0;

type Opened = { api: string; path: string; branch: string };

/** Opens a merge request that changes lines 10 and 11 of `a.txt`, and `b.txt`. */
const open = async (): Promise<Opened> => {
  const branch = `topic-${++last}`;
  const changed = numbered(30).replace('line 10\nline 11\n', 'ten\neleven\n');
  await seedBranch(gantry, project, branch, { files: { 'a.txt': changed, 'b.txt': 'B\n' } });
  const { iid } = await openRequest(gantry, project, branch, { sudo: author.username });
  return {
    api: `/projects/${project.id}/merge_requests/${iid}`,
    path: `/${project.full_path}/merge_requests/${iid}/diffs`,
    branch,
  };
};

const read = async (path: string, { visitor } = reviewer): Promise<string> => {
  const { status, text } = await visitor.get(path);
  assert.equal(status, 200);
  return text;
};

const cardIn = (text: string, file: string): string =>
  text
    .split(/<section class="card diff-file"|<template/)
    .find((card) => card.startsWith(' id="diff-') && card.includes(`data-path="${file}"`)) ?? '';

/** Opens the form of a line, by its link, and returns the fields that the browser would send. */
const formAt = async (path: string, line: string, as = reviewer): Promise<Record<string, string>> => {
  const link = new RegExp(`href="(\\?comment=diff-[\\da-f]+_${line})"`).exec(
    cardIn(await read(path, as), 'a.txt'),
  )?.[1];
  assert.ok(link !== undefined, 'the line has a link');
  const form =
    /<section class="card comment-form"[^]*?<\/section>/.exec(await read(`${path}${link}`, as))?.[0] ?? '';
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
};

const discussionsOf = async ({ api }: Opened) => (await gantry.api(`GET ${api}/discussions`)).body;

type Note = { body: string; position: { old_line: number | null; new_line: number | null } };

const positions = async (opened: Opened) =>
  (await discussionsOf(opened)).flatMap(({ notes }: { notes: Note[] }) =>
    notes.map(({ body, position }) => [body, position.old_line, position.new_line]),
  );

test('comments on added, removed and unchanged lines, as the API stores them', async () => {
  const opened = await open();
  const { path } = opened;
  for (const [line, body] of [
    ['new_10', 'on the added line'],
    ['old_11', 'on the removed line'],
    ['new_9', 'on an unchanged line'],
  ] as const) {
    const fields = await formAt(path, line);
    const { status, location } = await reviewer.visitor.post(`${path}/comments`, { ...fields, body });
    assert.equal(status, 303);
    assert.match(location ?? '', /#note_\d+$/);
  }
  assert.deepEqual(await positions(opened), [
    ['on the added line', null, 10],
    ['on the removed line', 11, null],
    ['on an unchanged line', 9, 9],
  ]);
  for (const view of ['?view=split', '?view=unified']) {
    const card = cardIn(await read(`${path}${view}`), 'a.txt');
    assert.match(card, />ten\n<[^]*?<tr class="thread">[^]*?on the added line/);
    assert.ok(card.includes('Open thread') && card.includes('version 1 · still current'));
  }
  assert.ok((await read(path)).includes('3 unresolved'));
});

test('comments on several lines, and on a file', async () => {
  const opened = await open();
  const { path } = opened;
  const fields = await formAt(path, 'new_11');
  await reviewer.visitor.post(`${path}/comments`, { ...fields, from: '10', body: 'on both' });
  const { line: _line, ...whole } = fields;
  await reviewer.visitor.post(`${path}/comments`, { ...whole, line: '', body: 'on the file' });
  const [both, file] = await discussionsOf(opened);
  const { start, end } = both.notes[0].position.line_range;
  assert.deepEqual([start.new_line, end.new_line], [10, 11]);
  assert.equal(file.notes[0].position.position_type, 'file');
  const card = cardIn(await read(path), 'a.txt');
  assert.ok(card.includes('lines 10 to 11') && card.includes('on the file'));
});

test('shows the form again with its text if it is not accepted', async () => {
  const { path } = await open();
  const fields = await formAt(path, 'new_10');
  const refused = await reviewer.visitor.post(`${path}/comments`, {
    ...fields,
    from: '3',
    body: 'kept <text>',
  });
  assert.equal(refused.status, 422);
  assert.ok(refused.text.includes('role="alert"') && refused.text.includes('kept &lt;text&gt;'));
  const blank = await reviewer.visitor.post(`${path}/comments`, { ...fields, body: ' ' });
  assert.equal(blank.status, 422);
  for (const line of ['new_x', 'nope', 'new_999999999999']) {
    const bad = await reviewer.visitor.post(`${path}/comments`, { ...fields, line, body: 'x' });
    assert.ok([400, 422].includes(bad.status), `${line}: ${bad.status}`);
  }
});

test('keeps the text of a reply, a draft and a review that are not accepted', async () => {
  const opened = await open();
  const { path } = opened;
  await reviewer.visitor.post(`${path}/comments`, { ...(await formAt(path, 'new_10')), body: 'Why?' });
  const [{ id }] = await discussionsOf(opened);
  const reply = { discussion_id: id, body: '/reopen', resolve: '1' };
  const refused = await reviewer.visitor.post(`${path}/replies`, reply);
  assert.equal(refused.status, 422);
  assert.match(refused.text, /Failed to apply commands/);
  assert.match(refused.text, /<details class="reply" open>[^]*?required>\n\/reopen<\/textarea>/);
  assert.match(refused.text, /name="resolve" value="1" checked>/);
  const drafted = await reviewer.visitor.post(`${path}/replies`, {
    discussion_id: id,
    body: 'Later',
    intent: 'review',
  });
  const draft = /#draft_(\d+)$/.exec(drafted.location ?? '')?.[1] ?? '';
  const edited = await reviewer.visitor.post(`${path}/drafts/${draft}`, { body: '  ' });
  assert.equal(edited.status, 422);
  assert.match(edited.text, /<details class="reply" open>[^]*?Edit<[^]*?required>\n {2}<\/textarea>/);
  const stale = { summary: 'My <summary>', verdict: 'approve', head: '0'.repeat(40) };
  const review = await reviewer.visitor.post(`${path}/review`, stale);
  assert.equal(review.status, 422);
  assert.match(review.text, /value="approve" checked/);
  assert.ok(review.text.includes('My &lt;summary&gt;'));
});

test('replies to a thread, resolves it and opens it again', async () => {
  const opened = await open();
  const { path } = opened;
  await reviewer.visitor.post(`${path}/comments`, { ...(await formAt(path, 'new_10')), body: 'Why?' });
  const [{ id }] = await discussionsOf(opened);
  await read(path, author);
  const replied = await author.visitor.post(`${path}/replies`, {
    discussion_id: id,
    body: 'Because.',
    resolve: '1',
  });
  assert.match(replied.location ?? '', /#note_\d+$/);
  const resolved = cardIn(await read(path), 'a.txt');
  assert.ok(resolved.includes('Because.') && resolved.includes(`Resolved by Name of ${author.username}`));
  assert.ok(!resolved.includes('data-unresolved'));
  const again = await reviewer.visitor.post(`${path}/discussions/${id}/unresolve`);
  assert.match(again.location ?? '', new RegExp(`#thread_${id}$`));
  assert.ok((await read(path)).includes('1 unresolved'));
  assert.equal(
    (await reviewer.visitor.post(`${path}/replies`, { discussion_id: 'nope', body: 'x' })).status,
    404,
  );
});

test('threads follow their lines, and outdated ones lead to their version', async () => {
  const opened = await open();
  const { path, branch } = opened;
  for (const line of ['new_10', 'new_11']) {
    await reviewer.visitor.post(`${path}/comments`, { ...(await formAt(path, line)), body: `on ${line}` });
  }
  const changed = `first\n${numbered(30).replace('line 10\nline 11\n', 'ten\nelf\n')}`;
  await seedCommit(gantry, project.id, { 'a.txt': changed }, { branch });
  await settle(gantry);
  const card = cardIn(await read(path), 'a.txt');
  assert.match(card, />ten\n<[^]*?<tr class="thread">[^]*?on new_10[^]*?<\/tr>/);
  assert.match(card, /1 outdated thread[^]*on new_11/);
  const version = /href="([^"]+)">version 1<\/a> · outdated/.exec(card)?.[1] ?? '';
  assert.match(cardIn(await read(version), 'a.txt'), />eleven\n<[^]*?<tr class="thread">[^]*?on new_11/);
});

test('publishes a review as one: comments, a reply, a summary and an approval', async () => {
  const opened = await open();
  const { path, api } = opened;
  await reviewer.visitor.post(`${path}/comments`, { ...(await formAt(path, 'new_10')), body: 'Now' });
  const [{ id }] = await discussionsOf(opened);
  const drafted = await reviewer.visitor.post(`${path}/comments`, {
    ...(await formAt(path, 'new_11')),
    body: 'Later **bold**',
    intent: 'review',
  });
  assert.match(drafted.location ?? '', /#draft_\d+$/);
  await reviewer.visitor.post(`${path}/replies`, {
    discussion_id: id,
    body: 'Done',
    resolve: '1',
    intent: 'review',
  });
  const pending = await read(path);
  assert.match(pending, /Finish review <span class="count" aria-label="2 pending">2</);
  assert.ok(
    pending.includes('Pending') &&
      pending.includes('<strong>bold</strong>') &&
      pending.includes('Add to review'),
  );
  assert.ok(!(await read(path, author)).includes('Pending'), 'others see none of it');
  const draft = /id="draft_(\d+)"(?:(?!id="draft_)[^])*?Later/.exec(pending)?.[1] ?? '';
  await reviewer.visitor.post(`${path}/drafts/${draft}`, { body: 'Edited' });
  assert.equal((await author.visitor.post(`${path}/drafts/${draft}`, { body: 'x' })).status, 404);
  const head = /name="head" value="([^"]+)"/.exec(await read(path))?.[1] ?? '';
  const stale = await reviewer.visitor.post(`${path}/review`, {
    summary: 'Fine',
    verdict: 'approve',
    head: project.first,
  });
  assert.equal(stale.status, 422);
  assert.ok(stale.text.includes('New commits were pushed meanwhile.') && stale.text.includes('Fine'));
  const { status, location } = await reviewer.visitor.post(`${path}/review`, {
    summary: 'Fine',
    verdict: 'approve',
    head,
  });
  assert.deepEqual([status, location], [303, path.replace('/diffs', '')]);
  const { body: notes } = await gantry.api(`GET ${api}/notes?sort=asc&order_by=created_at`);
  const texts = notes.map(({ body }: { body: string }) => body);
  for (const text of ['Edited', 'Done', 'Fine', 'approved this merge request'])
    assert.ok(texts.includes(text), text);
  assert.equal((await gantry.api(`GET ${api}/draft_notes?sudo=${reviewer.username}`)).body.length, 0);
  const [thread] = await discussionsOf(opened);
  assert.equal(thread.notes[0].resolved, true);
  assert.equal((await reviewer.visitor.post(`${path}/review`, { head })).status, 422, 'an empty review');
});

test('deletes a pending comment', async () => {
  const { path } = await open();
  await reviewer.visitor.post(`${path}/comments`, {
    ...(await formAt(path, 'new_10')),
    body: 'Not so',
    intent: 'review',
  });
  const draft = /id="draft_(\d+)"/.exec(await read(path))?.[1] ?? '';
  assert.equal((await reviewer.visitor.post(`${path}/drafts/${draft}/delete`)).status, 303);
  assert.ok(!(await read(path)).includes('Pending'));
});

test('a viewed file stays viewed until it changes, for its viewer alone', async () => {
  const { path, branch } = await open();
  await read(path);
  for (const file of ['a.txt', 'b.txt']) {
    const { location } = await reviewer.visitor.post(`${path}/viewed`, { path: file, viewed: '1' });
    assert.match(location ?? '', /diffs#diff-[\da-f]+$/);
  }
  const both = await read(path);
  assert.ok(
    both.includes('2 of 2 files viewed') && cardIn(both, 'b.txt').includes('aria-label="Fold b.txt" checked'),
  );
  assert.ok((await read(path, author)).includes('0 of 2 files viewed'));
  await seedCommit(gantry, project.id, { 'b.txt': 'BB\n' }, { branch });
  await settle(gantry);
  const fresh = await read(path);
  assert.ok(fresh.includes('1 of 2 files viewed') && cardIn(fresh, 'b.txt').includes('aria-pressed="false"'));
  await reviewer.visitor.post(`${path}/viewed`, { path: 'a.txt', viewed: '0' });
  assert.ok((await read(path)).includes('0 of 2 files viewed'));
  assert.equal((await reviewer.visitor.post(`${path}/viewed`, { path: 'no', viewed: '1' })).status, 404);
});

test('shows what changed since the last review of the viewer', async () => {
  const { path, branch } = await open();
  await reviewer.visitor.post(`${path}/comments`, { ...(await formAt(path, 'new_10')), body: 'Seen' });
  assert.ok(!(await read(path)).includes('Since my last review'));
  await seedCommit(gantry, project.id, { 'c.txt': 'later\n' }, { branch });
  await settle(gantry);
  const link = /href="([^"]+)">Since my last review/.exec(await read(path))?.[1] ?? '';
  const since = await read(link);
  assert.ok(cardIn(since, 'c.txt') !== '' && cardIn(since, 'a.txt') === '');
  assert.ok(!(await read(path, author)).includes('Since my last review'));
});

test('those who may not comment find no forms', async () => {
  const { path } = await open();
  const stranger = await seedVisitor(gantry);
  const locked = await gantry.api(`PUT /projects/${project.id}/merge_requests/${path.split('/').at(-2)}`, {
    json: { discussion_locked: true },
  });
  assert.equal(locked.status, 200);
  const text = await read(path, stranger);
  assert.ok(!text.includes('Comment on line') && !text.includes('Finish review'));
  const posted = await stranger.visitor.post(`${path}/comments`, {
    body: 'x',
    path: 'a.txt',
    line: 'new_10',
    base: project.first,
    start: project.first,
    head: project.first,
  });
  assert.equal(posted.status, 403);
  assert.match((await openVisitor(gantry).post(`${path}/comments`, { body: 'x' })).location ?? '', /sign_in/);
});

test('a review requests changes, which blocks the merge until it is requested again', async () => {
  const { path } = await open();
  const page = path.replace(/\/diffs$/, '');
  const summary = 'Not yet';
  assert.match(await read(path), /value="request_changes"/);
  const sent = await reviewer.visitor.post(`${path}/review`, { summary, verdict: 'request_changes' });
  assert.equal(sent.location, page);
  assert.match(await read(page), /requested changes <span class="muted">· until they approve/);
  const form = /action="([^"]*\/request_review)"[^]*?name="user_id" value="(\d+)"/.exec(
    await read(page, author),
  );
  assert.equal(form?.[2], String(reviewer.id));
  const stranger = await seedVisitor(gantry);
  await read(page, stranger);
  assert.equal((await stranger.visitor.post(`${page}/request_review`, {})).status, 403);
  await author.visitor.post(`${page}/request_review`, { user_id: form?.[2] ?? '' });
  assert.doesNotMatch(await read(page), /requested changes <span class="muted">/);
});

test('the form for a comment is filled with its lines as a suggestion', async () => {
  const { path } = await open();
  const link = /href="(\?comment=diff-[\da-f]+_new_11)"/.exec(cardIn(await read(path), 'a.txt'))?.[1] ?? '';
  const button = /href="([^"]+)#new_comment" data-suggestion>Insert a suggestion</;
  const [, suggest = ''] = button.exec(await read(`${path}${link}`)) ?? [];
  const address = suggest.replaceAll('&amp;', '&');
  assert.match(
    await read(address),
    /<textarea id="new_comment_text"[^>]*>\n```suggestion:-0\+0\neleven\n```</,
  );
  const several = await read(`${address}&from=9`);
  assert.match(several, /<textarea[^>]*>\n```suggestion:-2\+0\nline 9\nten\neleven\n```</);
  assert.match(several, /name="from" type="number" min="1" value="9"/);
  for (const from of ['12', '9999999']) {
    assert.doesNotMatch(await read(`${address}&from=${from}`), /```suggestion/, from);
  }
  // Removed lines take none, so their button is hidden.
  const removed = await read(`${path}${link.replace('new_11', 'old_11')}`);
  assert.match(removed, /<p hidden><a class="button small"[^>]*data-suggestion>/);
});

test('a suggestion is shown as a diff, and applied as a commit', async () => {
  const opened = await open();
  const { path, branch } = opened;
  const body = 'Better:\n\n```suggestion:-1+0\nTEN\nELEVEN\n```\n';
  await reviewer.visitor.post(`${path}/comments`, { ...(await formAt(path, 'new_11')), body });
  const card = cardIn(await read(path, author), 'a.txt');
  assert.match(
    card,
    /Suggested change[^]*&minus;<\/td><td>ten\n[^]*&minus;<\/td><td>eleven\n[^]*\+<\/td><td>TEN\n/,
  );
  const id = /<input type="hidden" name="ids\[\]" value="(\d+)"/.exec(card)?.[1] ?? '';
  const fields = { 'ids[]': id };
  const stranger = await seedVisitor(gantry);
  await read(path, stranger);
  assert.equal((await stranger.visitor.post(`${path}/suggestions`, fields)).status, 403);
  const { status } = await author.visitor.post(`${path}/suggestions`, fields);
  assert.equal(status, 303);
  const file = await gantry.api(`GET /projects/${project.id}/repository/files/a.txt/raw?ref=${branch}`);
  assert.ok(file.text.includes('line 9\nTEN\nELEVEN\nline 12\n'), file.text);
  assert.equal((await author.visitor.post(`${path}/suggestions`, fields)).status, 422, 'applied already');
  await settle(gantry);
  const [thread] = await discussionsOf(opened);
  assert.equal(thread.notes[0].resolved, true);
  assert.match(await read(path, author), /Suggested change<\/b>[^]*?Applied<\/span>/);
  const missing = { 'ids[]': String(Number(id) + 7) };
  assert.equal((await author.visitor.post(`${path}/suggestions`, missing)).status, 404);
});

test('a suggestion is applied with a message of the user', async () => {
  const opened = await open();
  const { path, branch } = opened;
  const body = '```suggestion\nTEN\n```';
  await reviewer.visitor.post(`${path}/comments`, { ...(await formAt(path, 'new_10')), body });
  const form =
    /<form[^>]+action="[^"]*\/suggestions"[^]*?<\/form>/.exec(
      cardIn(await read(path, author), 'a.txt'),
    )?.[0] ?? '';
  assert.match(form, /<input[^>]+name="message"/);
  const id = /name="ids\[\]" value="(\d+)"/.exec(form)?.[1] ?? '';
  const sent = { 'ids[]': id, message: 'Shout in %{file_path}' };
  assert.equal((await author.visitor.post(`${path}/suggestions`, sent)).status, 303);
  const head = await gantry.api(`GET /projects/${project.id}/repository/branches/${branch}`);
  assert.equal(head.body.commit.message.trim(), 'Shout in a.txt');
});

test('selected suggestions are applied as one commit', async () => {
  const opened = await open();
  const { path, branch } = opened;
  for (const line of ['new_10', 'new_11']) {
    const body = `\`\`\`suggestion\n${line}\n\`\`\``;
    await reviewer.visitor.post(`${path}/comments`, { ...(await formAt(path, line)), body });
  }
  const shown = await read(path, author);
  assert.ok(shown.includes('Apply several of 2 suggestions as one commit'));
  const ids = [...shown.matchAll(/type="checkbox" name="ids\[\]" value="(\d+)" form="apply_suggestions"/g)];
  assert.equal((await author.visitor.post(`${path}/suggestions`, {})).status, 422, 'none is selected');
  const selected = { 'ids[]': ids.map(([, id]) => id).join(','), message: 'Two lines' };
  assert.equal((await author.visitor.post(`${path}/suggestions`, selected)).status, 303);
  const file = await gantry.api(`GET /projects/${project.id}/repository/files/a.txt/raw?ref=${branch}`);
  assert.ok(file.text.includes('line 9\nnew_10\nnew_11\nline 12\n'), file.text);
  const head = await gantry.api(`GET /projects/${project.id}/repository/branches/${branch}`);
  assert.equal(head.body.commit.message.trim(), 'Two lines');
});

test('offers an issue that continues a thread, to those who may resolve it', async () => {
  const { path } = await open();
  await reviewer.visitor.post(`${path}/comments`, { ...(await formAt(path, 'new_10')), body: 'Later?' });
  const pattern =
    /issues\/new\?merge_request_to_resolve_discussions_of=\d+&amp;discussion_to_resolve=([\da-f]+)"/;
  const [, id = ''] = pattern.exec(cardIn(await read(path), 'a.txt')) ?? [];
  assert.notEqual(id, '');
  assert.doesNotMatch(await read(path, await seedVisitor(gantry)), pattern);
  await reviewer.visitor.post(`${path}/discussions/${id}/resolve`);
  assert.doesNotMatch(await read(path), pattern);
});

test('resolves all threads at once, for those who may resolve one', async () => {
  const opened = await open();
  const { path } = opened;
  for (const line of ['new_10', 'old_11', 'new_9']) {
    const fields = await formAt(path, line);
    assert.equal((await reviewer.visitor.post(`${path}/comments`, { ...fields, body: line })).status, 303);
  }
  const stranger = await seedVisitor(gantry);
  assert.ok(!(await read(path, stranger)).includes('Resolve all'));
  assert.equal((await stranger.visitor.post(`${path}/resolve_all`, {})).status, 403);
  assert.match(await read(path), /Mark 3 open threads as resolved\?/);
  assert.equal((await reviewer.visitor.post(`${path}/resolve_all`, {})).status, 303);
  const text = await read(path);
  assert.ok(text.includes('All threads were resolved.'));
  assert.ok(!text.includes('unresolved</span>'));
  const notes: { body: string; system: boolean; resolved?: boolean }[] = (
    await discussionsOf(opened)
  ).flatMap((one: { notes: object[] }) => one.notes);
  assert.equal(notes.filter(({ resolved }) => resolved === true).length, 3);
  assert.equal(notes.filter(({ body }) => body === 'resolved all threads').length, 1);
  // From the overview, too; without open threads nothing changes.
  const overview = path.replace('/diffs', '');
  assert.equal((await stranger.visitor.post(`${overview}/resolve_all`, {})).status, 403);
  assert.equal((await reviewer.visitor.post(`${overview}/resolve_all`, {})).location, overview);
});

type Commit = { id: string };

/** Opens a merge request of three commits: they add a line, change another one, and remove the first. */
const openCommits = async (): Promise<Opened & { ids: string[] }> => {
  const branch = `commits-${++last}`;
  const [one, two] = [`first\n${numbered(30)}`, `first\n${numbered(30).replace('line 20\n', 'twenty\n')}`];
  await seedBranch(gantry, project, branch, { files: { 'a.txt': one }, message: 'One' });
  await seedCommit(gantry, project.id, { 'a.txt': two }, { branch, from: branch, message: 'Two' });
  await seedCommit(gantry, project.id, { 'a.txt': two.slice(6) }, { branch, from: branch, message: 'Three' });
  const { iid } = await openRequest(gantry, project, branch, { sudo: author.username });
  const api = `/projects/${project.id}/merge_requests/${iid}`;
  const { body } = await gantry.api(`GET ${api}/commits`);
  const ids = (body as Commit[]).map(({ id }) => id).toReversed();
  return { api, path: `/${project.full_path}/merge_requests/${iid}/diffs`, branch, ids };
};

test('shows the changes of one commit, with links to those before and after it', async () => {
  const { path, ids } = await openCommits();
  const [one = '', two = '', three = ''] = ids;
  const commits = await read(path.replace('/diffs', '/commits'));
  assert.ok(commits.includes(`<a class="title" href="${path}?commit_id=${two}">`));
  assert.match(await read(path), new RegExp(`href="${path}\\?commit_id=${one}" data-key="c"`));
  const text = await read(`${path}?commit_id=${two}`);
  assert.match(text, /Commit 2 of 3: /);
  assert.match(text, new RegExp(`commit_id=${one}" rel="prev" data-key="x"`));
  assert.match(text, new RegExp(`commit_id=${three}" rel="next" data-key="c"`));
  const card = cardIn(text, 'a.txt');
  assert.ok(card.includes('>twenty\n<') && !card.includes('>first\n<'));
  const alone = await reviewer.visitor.get(`${path}?commit_id=${'f'.repeat(40)}`);
  assert.equal(alone.status, 404);
});

test('keeps the place of comments on a commit, there and among all changes', async () => {
  const opened = await openCommits();
  const { path, ids } = opened;
  const [one = '', two = ''] = ids;
  const add = async (commit: string, line: string, body: string): Promise<void> => {
    const at = `${path}?commit_id=${commit}`;
    const link = new RegExp(`href="(\\?[^"]*comment=diff-[\\da-f]+_${line})"`).exec(
      cardIn(await read(at), 'a.txt'),
    )?.[1];
    assert.ok(link !== undefined, line);
    const form =
      /<section class="card comment-form"[^]*?<\/section>/.exec(
        await read(`${path}${link.replaceAll('&amp;', '&')}`),
      )?.[0] ?? '';
    const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const sent = Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
    const { status, location } = await reviewer.visitor.post(`${path}/comments?commit_id=${commit}`, {
      ...sent,
      body,
    });
    assert.equal(status, 303);
    assert.match(location ?? '', new RegExp(`commit_id=${commit}#note_`));
  };
  await add(one, 'new_1', 'on a line that a later commit removes');
  await add(two, 'new_21', 'on a line that stays');
  assert.deepEqual(await positions(opened), [
    ['on a line that a later commit removes', null, 1],
    ['on a line that stays', null, 20],
  ]);
  const all = await read(path);
  assert.match(cardIn(all, 'a.txt'), />twenty\n<[^]*?<tr class="thread">[^]*?on a line that stays/);
  assert.match(all, /1 outdated thread<[^]+on a line that a later commit removes/);
  const ofOne = await read(`${path}?commit_id=${one}`);
  assert.match(cardIn(ofOne, 'a.txt'), />first\n<[^]*?<tr class="thread">[^]*?that a later commit removes/);
  assert.ok(!ofOne.includes('on a line that stays'));
  const ofTwo = await read(`${path}?commit_id=${two}`);
  assert.match(cardIn(ofTwo, 'a.txt'), />twenty\n<[^]*?<tr class="thread">[^]*?on a line that stays/);
});

test('shows reactions to comments, and adds and removes them in the tab', async () => {
  const opened = await open();
  const { path, api } = opened;
  const fields = await formAt(path, 'new_10');
  await reviewer.visitor.post(`${path}/comments`, { ...fields, body: '- [ ] rename', intent: 'comment' });
  const [{ notes }] = await discussionsOf(opened);
  const note: number = notes[0].id;
  await gantry.api(`POST ${api}/notes/${note}/award_emoji`, { json: { name: 'rocket' } });
  const card = async (as = reviewer): Promise<string> => cardIn(await read(path, as), 'a.txt');
  assert.match(
    await card(),
    /<button class="reaction" name="name" value="rocket"[^>]*aria-label="rocket: 1, by Administrator"/,
  );
  const back = `${path}#note_${note}`;
  const form = `<form method="post" action="${path.replace('/diffs', '/award_emoji')}" class="reactions" data-inline>`;
  assert.ok((await card()).includes(form), await card());
  const [, returnTo = ''] = /name="return_to" value="([^"]+)"/.exec(await card()) ?? [];
  assert.equal(returnTo, back);
  const sent = { name: 'rocket', note_id: String(note), return_to: returnTo };
  const added = await reviewer.visitor.post(path.replace('/diffs', '/award_emoji'), sent);
  assert.equal(added.location, returnTo);
  assert.match(await card(), /aria-label="rocket: 2, including yours, by Administrator, [^"]+"/);
  const anonymous = cardIn((await openVisitor(gantry).get(path)).text, 'a.txt');
  assert.match(anonymous, /<span class="reaction" title="rocket: Administrator, [^"]+">/);
  assert.match(anonymous, /<span class="visually-hidden"> rocket, by Administrator, [^<]+<\/span>/);
  assert.doesNotMatch(anonymous, /award_emoji/);
  // A task of the thread leads back to the tab, too.
  const base = /id="tasks_[^>]*>.*?name="base" value="([^"]+)"/s.exec(await card(reviewer))?.[1] ?? '';
  const tasks = path.replace('/diffs', `/notes/${note}/tasks`);
  const ticked = await reviewer.visitor.post(tasks, { line: '0', base, return_to: returnTo });
  assert.equal(ticked.location, returnTo);
  assert.match(await card(), /aria-checked="true" aria-label="rename"/);
});

test('comments that are loaded again lead back to the part of the tab that has them', async () => {
  const names = Array.from({ length: 60 }, (_name, at) => `f${String(at).padStart(2, '0')}.txt`);
  await seedBranch(gantry, project, 'many-files', {
    files: Object.fromEntries(names.map((name) => [name, 'x\n'])),
  });
  const { iid } = await openRequest(gantry, project, 'many-files', { sudo: author.username });
  await settle(gantry);
  const api = `/projects/${project.id}/merge_requests/${iid}`;
  const { diff_refs } = (await gantry.api(`GET ${api}`)).body;
  const place = { position_type: 'text', new_path: 'f59.txt', old_path: 'f59.txt', new_line: 1 };
  const position = { ...diff_refs, ...place };
  assert.equal((await gantry.api(`POST ${api}/discussions`, { json: { body: 'x', position } })).status, 201);
  const path = `/${project.full_path}/merge_requests/${iid}/diffs`;
  const again = async (query: string) => {
    const shown = await read(`${path}${query}`);
    const fragment = /data-threads="([^"]+)"/.exec(shown)?.[1]?.replaceAll('&amp;', '&') ?? '';
    return /name="return_to" value="([^"#]+)#note_/.exec(await read(fragment))?.[1];
  };
  assert.equal(await again('?page=2'), `${path}?page=2`);
  assert.equal(await again('?file=f59.txt'), `${path}?file=f59.txt`);
  assert.match(await read(`${path}/threads?file=f59.txt`), /All files/);
});
