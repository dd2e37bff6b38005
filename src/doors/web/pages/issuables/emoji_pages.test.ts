/** The page with all emoji, and where a reaction leads. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedProject } from '../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';

let gantry: TestService;
let guest: SeededVisitor;
let api: string;
let path: string;
let note: number;

before(async () => {
  gantry = await startTestService();
  const project = await seedProject(gantry, { visibility: 'public' });
  guest = await seedVisitor(gantry, { project: project.id, access_level: 10 });
  api = `/projects/${project.id}/issues/1`;
  path = `/${project.full_path}/issues/1`;
  await gantry.api(`POST /projects/${project.id}/issues`, { json: { title: 'Deck' } });
  note = (await gantry.api(`POST ${api}/notes`, { json: { body: 'Text' } })).body.id;
});
after(async () => await gantry.close());

const read = async (address: string): Promise<string> => {
  const { status, text } = await guest.visitor.get(address);
  assert.equal(status, 200, text);
  return text;
};

const buttonsIn = (text: string): string[] =>
  [...text.matchAll(/<button class="icon-button" name="name" value="([^"]+)"/g)].map(([, name = '']) => name);

test('the menu of reactions leads to all emoji, which a search finds by parts of their names', async () => {
  const link = `href="${path}/award_emoji?note_id=${note}">More emoji&hellip;</a>`;
  assert.ok((await read(path)).includes(link));
  const all = await read(`${path}/award_emoji`);
  assert.match(all, /The first 300 of \d{4} emoji/);
  assert.equal(buttonsIn(all).length, 300);
  assert.deepEqual(buttonsIn(await read(`${path}/award_emoji?search=sparkling+heart`)), ['sparkling_heart']);
  assert.deepEqual(buttonsIn(await read(`${path}/award_emoji?search=Crab`)), ['crab']);
  const none = await read(`${path}/award_emoji?search=${encodeURIComponent('"><b>')}`);
  assert.match(none, /No emoji has this name/);
  assert.match(none, /value="&quot;&gt;&lt;b&gt;"/);
});

test('reacts to a comment with any emoji, and leads back to it', async () => {
  const page = await read(`${path}/award_emoji?note_id=${note}&search=crab`);
  assert.match(page, new RegExp(`name="note_id" value="${note}"`));
  assert.match(page, new RegExp(`href="${path}#note_${note}">Back to the issue`));
  const added = await guest.visitor.post(`${path}/award_emoji`, { name: 'crab', note_id: String(note) });
  assert.equal(added.location, `${path}#note_${note}`);
  assert.equal((await gantry.api(`GET ${api}/notes/${note}/award_emoji`)).body[0].name, 'crab');
  assert.match(await read(path), /aria-label="crab: 1, including yours, by [^"]+"/);
});

test('an emoji with several names is one reaction, whatever name finds it', async () => {
  const found = async (search: string) => buttonsIn(await read(`${path}/award_emoji?search=${search}`));
  assert.deepEqual(await found('poop'), ['hankey']);
  const names = async (): Promise<string[]> =>
    (await gantry.api(`GET ${api}/award_emoji`)).body.map(({ name }: { name: string }) => name);
  const react = async (name: string) => await guest.visitor.post(`${path}/award_emoji`, { name });
  await react('poop');
  await react('hankey');
  assert.deepEqual(await names(), [], 'taken back');
  await gantry.api(`POST ${api}/award_emoji?name=poop`);
  await react('hankey');
  assert.deepEqual(await names(), ['poop', 'poop'], 'counted together');
  await react('hankey');
  assert.deepEqual(await names(), ['poop']);
});

test('leads only to pages of ours', async () => {
  const post = async (return_to: string) =>
    (await guest.visitor.post(`${path}/award_emoji`, { name: 'tada', return_to })).location;
  assert.equal(await post('/explore?page=2#x'), '/explore?page=2#x');
  for (const elsewhere of ['//other.example', 'https://other.example', '/\\other.example', 'x'])
    assert.equal(await post(elsewhere), '/', elsewhere);
  const page = await read(`${path}/award_emoji?return_to=javascript:alert(1)`);
  assert.match(page, /href="\/">Back to the issue/);
});

test('offers emoji only to those who may react', async () => {
  await gantry.api(`PUT ${api}`, { json: { discussion_locked: true } });
  const stranger = await seedVisitor(gantry);
  assert.equal((await stranger.visitor.get(`${path}/award_emoji`)).status, 404);
  assert.equal((await stranger.visitor.get(`${path}/award_emoji?note_id=${note + 999}`)).status, 404);
  await gantry.api(`PUT ${api}`, { json: { discussion_locked: false } });
  assert.equal((await stranger.visitor.get(`${path}/award_emoji`)).status, 200);
  assert.equal((await stranger.visitor.get(`${path}/award_emoji?note_id=${note + 999}`)).status, 404);
});
