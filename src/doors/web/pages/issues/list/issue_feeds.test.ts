/** Tests feeds of issues and of due dates, and the tokens in their addresses. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededGroup,
  type SeededProject,
  seedGroup,
  seedProject,
} from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

let gantry: TestService;
let group: SeededGroup;
let project: SeededProject;
let reporter: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  group = await seedGroup(gantry);
  project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  reporter = await seedVisitor(gantry, { group: group.id, access_level: 20 });
  for (const json of [
    { title: 'Pour, then wait; é', description: 'Two\nlines', due_date: '2030-02-03', labels: 'bug' },
    { title: 'Without a day', assignee_ids: [reporter.id] },
    { title: `Long ${'ö'.repeat(80)}`, due_date: '2030-12-31', assignee_ids: [reporter.id] },
  ]) {
    const { status } = await gantry.api(`POST /projects/${project.id}/issues`, { json });
    assert.equal(status, 201);
  }
});
after(async () => await gantry.close());

/** Finds the address of a feed on a page. */
const addressOn = async (path: string, ending: string): Promise<string> => {
  const { text } = await reporter.visitor.get(path);
  const [, address = ''] = new RegExp(`href="([^"]+\\.${ending}\\?[^"]+)"`).exec(text) ?? [];
  assert.match(address, /feed_token=/, `${path} has no ${ending}`);
  return address.replaceAll('&amp;', '&');
};

/** Reads without a session, as readers of feeds do. */
const read = async (address: string): Promise<{ status: number; type: string | null; text: string }> => {
  const answer = await fetch(gantry.url + address, { redirect: 'manual' });
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
};

const places = (): string[] => [
  `/${project.full_path}/issues`,
  `/groups/${group.full_path}/-/issues`,
  '/dashboard/issues',
];

test('readers without a session get the issues of a list as Atom', async () => {
  for (const path of places()) {
    const { status, type, text } = await read(await addressOn(path, 'atom'));
    assert.deepEqual([status, type], [200, 'application/atom+xml; charset=utf-8'], path);
    assert.match(text, /<title>[^<]*#3 Long/);
    assert.equal(text.includes('Pour, then wait'), path !== '/dashboard/issues');
  }
  const filtered = await read(await addressOn(`${places()[0]}?labels=bug`, 'atom'));
  assert.deepEqual([...filtered.text.matchAll(/<entry>/g)].length, 1);
});

test('readers get the due dates of a list as a calendar', async () => {
  for (const path of places()) {
    const { status, type, text } = await read(await addressOn(path, 'ics'));
    assert.deepEqual([status, type], [200, 'text/calendar; charset=utf-8'], path);
    const lines = text.split('\r\n');
    assert.deepEqual([lines[0], lines.at(-2), lines.at(-1)], ['BEGIN:VCALENDAR', 'END:VCALENDAR', '']);
    assert.ok(lines.every((line) => Buffer.byteLength(line) <= 75));
    const unfolded = text.replaceAll('\r\n ', '');
    assert.equal(unfolded.includes('Without a day'), false);
    assert.ok(unfolded.includes(`SUMMARY:Long ${'ö'.repeat(80)} (${project.full_path}#3)`));
    assert.match(unfolded, /DTSTART;VALUE=DATE:20301231/);
  }
  const { text } = await read(await addressOn(places()[0] ?? '', 'ics'));
  const unfolded = text.replaceAll('\r\n ', '');
  assert.ok(unfolded.includes(`SUMMARY:Pour\\, then wait\\; é (${project.full_path}#1)`));
  assert.ok(unfolded.includes('DESCRIPTION:Two\\nlines'));
});

test('a token opens nothing but its feed, until it is reset', async () => {
  const address = await addressOn(`/${project.full_path}/issues`, 'atom');
  const [, token = ''] = /feed_token=([^&]+)/.exec(address) ?? [];
  const refused = [
    `/${project.full_path}/issues?feed_token=${token}`,
    `/${project.full_path}/-/issues.ics?feed_token=${token}`,
    `/${project.full_path}/-/issues.atom?feed_token=${token}x`,
    `/${project.full_path}/-/issues.atom?feed_token=${token.replace(/^\d+/, '1')}`,
    `/${project.full_path}/-/issues.atom?feed_token=${'9'.repeat(40)}.x`,
    `/${project.full_path}/-/issues.atom`,
    `/api/v4/projects/${project.id}/issues?feed_token=${token}`,
  ];
  for (const one of refused) {
    const { status, text } = await read(one);
    assert.ok([302, 401, 404].includes(status), `${one} ${status}`);
    assert.equal(text.includes('Pour'), false);
  }
  await reporter.visitor.get('/profile/personal_access_tokens');
  assert.equal((await reporter.visitor.post('/profile/feed_addresses/reset')).status, 303);
  assert.equal((await read(address)).status, 404);
  assert.equal((await read(await addressOn(`/${project.full_path}/issues`, 'atom'))).status, 200);
});

test('a blocked user reads no feeds', async () => {
  const other = await seedVisitor(gantry, { group: group.id, access_level: 20 });
  const { text } = await other.visitor.get(`/${project.full_path}/issues`);
  const [, address = ''] = /href="([^"]+\.ics\?[^"]+)"/.exec(text) ?? [];
  assert.equal((await read(address.replaceAll('&amp;', '&'))).status, 200);
  assert.equal((await gantry.api(`POST /users/${other.id}/block`)).status, 201);
  assert.equal((await read(address.replaceAll('&amp;', '&'))).status, 404);
});

test('merge requests of groups and of own work have feeds, too', async () => {
  for (const path of [`/groups/${group.full_path}/-/merge_requests`, '/dashboard/merge_requests']) {
    const { text } = await reporter.visitor.get(path);
    // An empty list has no links.
    assert.match(text, /No open merge requests/);
    const { status } = await reporter.visitor.get(`${path}.atom`);
    assert.equal(status, 200);
  }
});
