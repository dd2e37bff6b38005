/** Tests threads on code in the overview of a merge request: their lines, suggestions and replies. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
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
let developer: SeededVisitor;

const numbered = (count: number): string =>
  Array.from({ length: count }, (_line, at) => `const line${at + 1} = ${at + 1};\n`).join('');

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  developer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  await seedCommit(gantry, project.id, { 'a.ts': numbered(40) });
});
after(async () => await gantry.close());

let last = 0;

/** Opens a merge request that replaces lines 20 and 21 of `a.ts`, and adds files. */
const open = async (files: Record<string, string> = {}) => {
  const branch = `topic-${++last}`;
  const changed = numbered(40).replace(/const line20[^]*?line21 = 21;\n/, 'let twenty = "20";\nlet more;\n');
  await seedBranch(gantry, project, branch, { files: { 'a.ts': changed, ...files } });
  const request = await openRequest(gantry, project, branch);
  await settle(gantry);
  const { diff_refs } = (await gantry.api(`GET ${toPath(request)}`)).body;
  const comment = async (body: string, place: object): Promise<{ id: string; note: number }> => {
    const position = { ...diff_refs, position_type: 'text', new_path: 'a.ts', old_path: 'a.ts', ...place };
    const reply = await gantry.api(`POST ${toPath(request)}/discussions`, { json: { body, position } });
    assert.equal(reply.status, 201, reply.text);
    return { id: reply.body.id, note: reply.body.notes[0].id };
  };
  const path = `/${project.full_path}/merge_requests/${request.iid}`;
  return { branch, comment, path, api: toPath(request) };
};

const read = async (path: string, { visitor } = developer): Promise<string> => {
  const { status, text } = await visitor.get(path);
  assert.equal(status, 200);
  return text;
};

/** Returns the comment as the page shows it. */
const noteIn = (text: string, note: number): string =>
  new RegExp(`<article class="note" id="note_${note}"[^]*?</article>`).exec(text)?.[0] ?? '';

/** Returns the rows of code of a comment: mark and text. */
const codeIn = (note: string): string[] =>
  [...note.matchAll(/<tr( class="(?:add|del)")? id="code_[^]*?<td>([^]*?)\n<\/td><\/tr>/g)].map(
    ([, mark = '', text = '']) =>
      (mark.includes('add') ? '+' : mark.includes('del') ? '-' : ' ') +
      text.replaceAll(/<[^>]+>/g, '').replaceAll('&quot;', '"'),
  );

test('shows the lines that a thread is on, highlighted', async () => {
  const { comment, path } = await open();
  const { note } = await comment('why?', { new_line: 20 });
  const shown = noteIn(await read(path), note);
  assert.deepEqual(codeIn(shown), [
    ' const line19 = 19;',
    '-const line20 = 20;',
    '-const line21 = 21;',
    '+let twenty = "20";',
  ]);
  assert.match(shown, /<span class="hljs-keyword">let<\/span>/);
  assert.ok(shown.indexOf('<table') < shown.indexOf('why?'), 'the code is above the comment');
  assert.deepEqual(codeIn(noteIn(await read(path, { ...developer, visitor: openVisitor(gantry) }), note)), [
    ...codeIn(shown),
  ]);
});

test('shows removed and unchanged lines, and at most eight of a range', async () => {
  const { comment, path } = await open({ 'new.txt': numbered(30) });
  const removed = await comment('removed', { old_line: 20 });
  const same = await comment('same', { old_line: 23, new_line: 23 });
  const range = { start: { new_line: 5, type: 'new' }, end: { new_line: 25, type: 'new' } };
  const inNew = { old_path: 'new.txt', new_path: 'new.txt' };
  const long = await comment('long', { ...inNew, new_line: 25, line_range: range });
  const top = await comment('top', { ...inNew, new_line: 1 });
  const text = await read(path);
  assert.equal(codeIn(noteIn(text, removed.note)).at(-1), '-const line20 = 20;');
  assert.deepEqual(codeIn(noteIn(text, same.note)).slice(-2), [' const line22 = 22;', ' const line23 = 23;']);
  assert.deepEqual(
    codeIn(noteIn(text, long.note)),
    [18, 19, 20, 21, 22, 23, 24, 25].map((line) => `+const line${line} = ${line};`),
  );
  assert.deepEqual(codeIn(noteIn(text, top.note)), ['+const line1 = 1;']);
});

test('shows the lines of the version on which a thread began', async () => {
  const { branch, comment, path } = await open();
  const { note } = await comment('outdated', { new_line: 20 });
  await seedBranch(gantry, project, branch, { from: branch, files: { 'a.ts': 'all new\n' } });
  await settle(gantry);
  const shown = noteIn(await read(path), note);
  assert.match(shown, /On an earlier version/);
  assert.equal(codeIn(shown).at(-1), '+let twenty = "20";');
});

test('reads the diffs of at most twenty files for a page', async () => {
  const names = Array.from({ length: 22 }, (_name, at) => `f${at}.txt`);
  const { comment, path } = await open(Object.fromEntries(names.map((name) => [name, 'x\n'])));
  for (const name of names) await comment(name, { old_path: name, new_path: name, new_line: 1 });
  const text = await read(path);
  assert.equal(text.split('class="card thread-code"').length - 1, 20);
  assert.match(text, /<code>f21\.txt, line 1<\/code>/);
});

test('applies a suggestion from the overview, and returns to it', async () => {
  const { comment, path, branch } = await open();
  const body = 'Rather:\n\n```suggestion\nlet better = 20;\n```\n\n- [ ] then test it';
  const { note } = await comment(body, { new_line: 20 });
  const shown = noteIn(await read(path), note);
  assert.match(shown, /Suggested change[^]*?<mark>twenty<\/mark>[^]*?<mark>better<\/mark>/);
  assert.doesNotMatch(shown, /<pre/);
  assert.doesNotMatch(shown, /type="checkbox" name="ids/);
  assert.doesNotMatch(
    noteIn(await read(path, { ...developer, visitor: openVisitor(gantry) }), note),
    /Apply suggestion/,
  );
  const form = /<form method="post" action="([^"]*\/suggestions)"[^>]*>([^]*?)<\/form>/.exec(shown) ?? [];
  const fields = [...(form[2] ?? '').matchAll(/name="([^"]+)" value="([^"]*)"/g)];
  const sent = Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
  const applied = await developer.visitor.post(form[1] ?? '', sent);
  assert.deepEqual([applied.status, applied.location], [303, `${path}#note_${note}`]);
  const file = await gantry.api(`GET /projects/${project.id}/repository/files/a.ts/raw?ref=${branch}`);
  assert.match(file.text, /let better = 20;/);
  assert.match(noteIn(await read(path), note), /Applied/);
});

test('ticks a task below a suggestion', async () => {
  const { comment, path, api } = await open();
  const { note } = await comment('```suggestion\nx\n```\n- [ ] first\n- [ ] second', { new_line: 20 });
  const maintainer = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  const text = noteIn(await read(path, maintainer), note);
  const line = /name="line" value="(\d+)"[^>]* aria-label="second"/.exec(text)?.[1] ?? '';
  const base = /name="base" value="([^"]+)"/.exec(text)?.[1] ?? '';
  assert.equal((await maintainer.visitor.post(`${path}/notes/${note}/tasks`, { line, base })).status, 303);
  const stored = (await gantry.api(`GET ${api}/notes/${note}`)).body.body;
  assert.equal(stored, '```suggestion\nx\n```\n- [ ] first\n- [x] second');
});

test('replies to a thread and resolves it in one step', async () => {
  const { comment, path, api } = await open();
  const { id, note } = await comment('why?', { new_line: 20 });
  assert.match(noteIn(await read(path), note), /name="resolve" value="1">Reply and resolve/);
  const { status, location } = await developer.visitor.post(`${path}/notes`, {
    discussion_id: id,
    body: 'Done',
    resolve: '1',
  });
  assert.equal(status, 303);
  assert.match(location ?? '', /#note_\d+$/);
  const { notes } = (await gantry.api(`GET ${api}/discussions/${id}`)).body;
  assert.deepEqual(
    notes.map(({ body, resolved }: { body: string; resolved: boolean }) => [body, resolved]),
    [
      ['why?', true],
      ['Done', true],
    ],
  );
  assert.doesNotMatch(noteIn(await read(path), note), /Reply and resolve/);
  const stranger = await seedVisitor(gantry);
  const other = await comment('more?', { new_line: 21 });
  assert.doesNotMatch(noteIn(await read(path, stranger), other.note), /Reply and resolve/);
  const refused = await stranger.visitor.post(`${path}/notes`, {
    discussion_id: other.id,
    body: 'mine',
    resolve: '1',
  });
  assert.equal(refused.status, 403);
  assert.equal((await gantry.api(`GET ${api}/discussions/${other.id}`)).body.notes.length, 1);
});
