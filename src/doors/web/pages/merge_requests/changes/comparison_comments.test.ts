/** Tests comments on the lines of a comparison of two versions. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import {
  openRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

let gantry: TestService;
let reviewer: SeededVisitor;
/** Addresses of the API and of the tab, and the tab compared with the first version. */
let api: string;
let path: string;
let compared: string;

const lines = (changed: Record<number, string>): string =>
  Array.from({ length: 40 }, (_line, at) => `${changed[at + 1] ?? `line ${at + 1}`}\n`).join('');

before(async () => {
  gantry = await startTestService();
  const project = await seedCoded(gantry, { visibility: 'public' });
  reviewer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  await seedCommit(gantry, project.id, { 'a.txt': lines({}), 'b.txt': 'b\n' });
  // The first version has a line more above: its numbers are not those of the target branch.
  const first = `added\n${lines({ 10: 'ten', 30: 'thirty' })}`;
  await seedBranch(gantry, project, 'topic', { files: { 'a.txt': first, 'b.txt': 'B\n' } });
  const { iid, sha } = await openRequest(gantry, project, 'topic');
  // The second version changes a line, and takes changes back.
  const second = `added\n${lines({ 10: 'ten', 12: 'twelve' })}`;
  await seedCommit(gantry, project.id, { 'a.txt': second, 'b.txt': 'b\n' }, { branch: 'topic' });
  await settle(gantry);
  api = `/projects/${project.id}/merge_requests/${iid}`;
  path = `/${project.full_path}/merge_requests/${iid}/diffs`;
  compared = `?start_sha=${sha}`;
});
after(async () => await gantry.close());

const read = async (address: string): Promise<string> => {
  const { status, text } = await reviewer.visitor.get(address);
  assert.equal(status, 200);
  return text;
};

const cardIn = (text: string, file: string): string =>
  text
    .split(/<section class="card diff-file"|<template/)
    .find((card) => card.startsWith(' id="diff-') && card.includes(`data-path="${file}"`)) ?? '';

/** Returns the fields of the form for a comment that the page shows. */
const fieldsIn = (text: string): Record<string, string> => {
  const form = /<section class="card comment-form"[^]*?<\/section>/.exec(text)?.[0] ?? '';
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
};

const positions = async (): Promise<unknown[]> => {
  const { body } = await gantry.api(`GET ${api}/discussions`);
  return body.flatMap(({ notes }: { notes: { body: string; position?: Record<string, unknown> }[] }) =>
    notes
      .filter(({ position }) => position !== undefined)
      .map(({ body: text, position = {} }) => [
        text,
        position['new_line'] ?? null,
        position['position_type'],
      ]),
  );
};

test('comments on new lines, and offers none on lines that only the older version has', async () => {
  const card = cardIn(await read(`${path}${compared}`), 'a.txt');
  assert.match(
    card,
    /<a href="\?[^"]*start_sha=[^"]*comment=diff-[\da-f]+_new_13" aria-label="Comment on line 13, added"/,
  );
  assert.doesNotMatch(card, /_old_13"/, 'the number of a removed line is of the older version');
  assert.match(card, /aria-label="Line 13, removed"/);
  const link = /href="(\?[^"]*comment=diff-[\da-f]+_new_13)"/.exec(card)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const fields = fieldsIn(await read(`${path}${link}`));
  const sent = await reviewer.visitor.post(`${path}/comments${compared}`, {
    ...fields,
    body: 'on the new line',
  });
  assert.equal(sent.status, 303, sent.text);
  assert.deepEqual(await positions(), [['on the new line', 13, 'text']]);
  assert.match(cardIn(await read(`${path}${compared}`), 'a.txt'), />twelve\n<[^]*?on the new line/);
});

test('offers no comments on lines and files that the version does not change any more', async () => {
  const page = await read(`${path}${compared}`);
  const card = cardIn(page, 'a.txt');
  assert.match(card, /aria-label="Line 31, added"/);
  assert.doesNotMatch(card, /_new_31"/);
  const restored = cardIn(page, 'b.txt');
  assert.match(restored, /aria-label="Line 1, added"/);
  assert.doesNotMatch(restored, /comment=/);
});

test('refuses comments on lines that are not of the version in words, and keeps the text for the file', async () => {
  const before_all = await positions();
  const fields = fieldsIn(await read(`${path}${compared}`));
  for (const [line, intent] of [
    ['old_13', 'comment'],
    ['old_13', 'review'],
    ['new_31', 'comment'],
    ['new_31', 'review'],
  ] as const) {
    const sent = { ...fields, path: 'a.txt', old_path: 'a.txt', line, intent, body: 'kept <text>' };
    const { status, text } = await reviewer.visitor.post(`${path}/comments${compared}`, sent);
    assert.equal(status, 422, line);
    const alert = /class="flash alert"[^>]*>([^<]*)/.exec(text)?.[1] ?? '';
    assert.match(alert, line === 'old_13' ? /line of an older version/ : /does not change this line/);
    assert.ok(!text.includes('line_code'));
    const again = fieldsIn(text);
    assert.deepEqual([again['path'], again['line']], ['a.txt', ''], 'the form is at the file now');
    assert.ok(text.includes('kept &lt;text&gt;'));
  }
  assert.deepEqual(await positions(), before_all);
  const onFile = { ...fields, path: 'a.txt', old_path: 'a.txt', line: '', body: 'on the file' };
  assert.equal((await reviewer.visitor.post(`${path}/comments${compared}`, onFile)).status, 303);
  assert.deepEqual((await positions()).at(-1), ['on the file', null, 'file']);
  const restored = { ...fields, path: 'b.txt', old_path: 'b.txt', line: 'new_1', body: 'kept' };
  const refused = await reviewer.visitor.post(`${path}/comments${compared}`, restored);
  assert.equal(refused.status, 422);
  assert.match(refused.text, /does not change this file/);
});
