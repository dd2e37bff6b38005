/** Tests what people do with the comments of a timeline: filter, quote, tick and read them by headings. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedIssue, seedProject } from '../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { contentIn, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let developer: SeededVisitor;
let guest: SeededVisitor;
let issue: string;
let path: string;
const notes: Record<string, number> = {};

before(async () => {
  gantry = await startTestService();
  const project = await seedProject(gantry, { visibility: 'public' });
  developer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  guest = await seedVisitor(gantry);
  const { iid } = await seedIssue(gantry, { project: project.id, title: 'Tide' });
  issue = `/projects/${project.id}/issues/${iid}`;
  path = `/${project.full_path}/issues/${iid}`;
  const comment = async (name: string, body: string): Promise<void> => {
    const { location } = await developer.visitor.post(`${path}/notes`, { body });
    notes[name] = Number(location?.split('#note_')[1]);
  };
  await comment('tasks', 'To do:\n\n- [ ] low\n- [x] high');
  await comment('quoted', 'One <b>line</b>\n\nAnother');
  await gantry.api(`PUT ${issue}`, { json: { add_labels: 'docs' } });
});
after(async () => await gantry.close());

test('gives the description, each comment and each reply a heading', async () => {
  const { body: thread } = await gantry.api(`POST ${issue}/discussions`, { json: { body: 'Why?' } });
  await gantry.api(`POST ${issue}/discussions/${thread.id}/notes`, { json: { body: 'Because.' } });
  const { text } = await openVisitor(gantry).get(path);
  const headings = [...contentIn({ text } as never).matchAll(/<(h[2-4])[ >].*?<\/h[2-4]>/gs)]
    .map(([whole, tag]) => `${tag} ${whole.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ')}`)
    .filter((one) => / (?:wrote|commented|replied) |Activity/.test(one));
  assert.match(headings[0] ?? '', /^h2 .+ wrote the description /);
  assert.equal(headings[1], 'h2 Activity');
  assert.match(headings[2] ?? '', /^h3 .+ commented /);
  assert.match(headings.at(-1) ?? '', /^h4 .+ replied /);
});

test('shows comments or history alone, and remembers what was chosen by a button', async () => {
  const visitor = openVisitor(gantry);
  const show = async (query: string): Promise<[boolean, boolean]> => {
    const { status, text } = await visitor.get(path + query);
    assert.equal(status, 200);
    return [text.includes('Another'), text.includes('class="event"')];
  };
  assert.deepEqual(await show(''), [true, true]);
  assert.deepEqual(await show('?activity_filter=only_comments'), [true, false]);
  assert.deepEqual(await show(''), [true, true], 'an address is not remembered');
  const chosen = await visitor.post('/-/preferences', {
    activity_filter: 'only_activity',
    return_to: `${path}?activity_filter=only_comments&page=1`,
  });
  assert.deepEqual([chosen.status, chosen.location], [303, path]);
  assert.deepEqual(await show(''), [false, true]);
  assert.deepEqual(await show('?activity_filter=all_notes'), [true, true]);
  assert.equal((await visitor.get(`${path}?activity_filter=some`)).status, 400);
});

test('shows a new comment also to those who hide comments', async () => {
  const { visitor } = developer;
  await visitor.get(path);
  await visitor.post('/-/preferences', { activity_filter: 'only_activity', return_to: path });
  const { location } = await visitor.post(`${path}/notes`, { body: 'Fresh' });
  assert.match(location ?? '', /\?activity_filter=all_notes#note_\d+$/);
  assert.match((await visitor.get(location ?? '')).text, /Fresh/);
  await visitor.post('/-/preferences', { activity_filter: 'all_notes', return_to: path });
});

test('quotes a comment in a reply to its thread', async () => {
  const { visitor } = developer;
  assert.match((await visitor.get(path)).text, new RegExp(`notes/${notes['quoted']}/quote" data-quote`));
  const { status, text } = await visitor.get(`${path}/notes/${notes['quoted']}/quote`);
  assert.equal(status, 200);
  assert.match(text, />\n&gt; One &lt;b&gt;line&lt;\/b&gt;\n&gt; \n&gt; Another\n\n<\/textarea>/);
  const [, discussion_id = ''] = /name="discussion_id" value="([^"]+)"/.exec(text) ?? [];
  const posted = await visitor.post(`${path}/notes`, { discussion_id, body: '> One\n\nYes' });
  assert.match(posted.location ?? '', /#note_/);
  const { body } = await gantry.api(`GET ${issue}/discussions/${discussion_id}`);
  assert.deepEqual(
    body.notes.map((note: { body: string }) => note.body),
    ['One <b>line</b>\n\nAnother', '> One\n\nYes'],
  );
});

test('quotes nothing that the viewer may not answer or see', async () => {
  const quote = `${path}/notes/${notes['quoted']}/quote`;
  assert.match((await openVisitor(gantry).get(quote)).location ?? '', /sign_in/);
  const { body } = await gantry.api(`GET ${issue}/notes?activity_filter=only_activity`);
  assert.equal((await guest.visitor.get(`${path}/notes/${body[0].id}/quote`)).status, 404);
  assert.equal((await guest.visitor.get(`${path}/notes/999999/quote`)).status, 404);
  await gantry.api(`PUT ${issue}`, { json: { discussion_locked: true } });
  assert.equal((await guest.visitor.get(quote)).status, 403);
  await gantry.api(`PUT ${issue}`, { json: { discussion_locked: false } });
});

test('ticks a task of a comment, unless somebody edited it meanwhile', async () => {
  const { visitor } = developer;
  const tasks = `${path}/notes/${notes['tasks']}/tasks`;
  const baseIn = (text: string): string =>
    new RegExp(`action="${tasks}"[^]*?name="base" value="([^"]+)"`).exec(text)?.[1] ?? '';
  const base = baseIn((await visitor.get(path)).text);
  assert.notEqual(base, '');
  const ticked = await visitor.post(tasks, { line: '2', base });
  assert.match(ticked.location ?? '', new RegExp(`#note_${notes['tasks']}$`));
  const read = async (): Promise<string> =>
    (await gantry.api(`GET ${issue}/notes/${notes['tasks']}`)).body.body;
  assert.equal(await read(), 'To do:\n\n- [x] low\n- [x] high');
  const late = await visitor.post(tasks, { line: '3', base });
  assert.deepEqual([late.status, /Somebody edited this comment/.test(late.text)], [422, true]);
  assert.equal((await visitor.post(tasks, { line: '0', base })).status, 422);
  assert.equal(await read(), 'To do:\n\n- [x] low\n- [x] high');
  assert.doesNotMatch((await guest.visitor.get(path)).text, /data-tasks/);
  assert.equal((await guest.visitor.post(tasks, { line: '2', base })).status, 403);
});
