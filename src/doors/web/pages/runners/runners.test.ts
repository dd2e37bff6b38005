/** Tests the pages of runners of the instance, a group and a project. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline, setJob } from '../../../../../test/support/ci/jobs.ts';
import { makePeer, seedRunner } from '../../../../../test/support/ci/fake_runner.ts';
import { seedGroup, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Seen, type Visitor } from '../../../../../test/support/visitor.ts';
import { createBuiltInRunner } from '../../../../ci/runners/registration/create_built_in_runner.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let admin: Visitor;
let master: Visitor;
let developer: Visitor;
let ofProject: string;
const ofAll = '/admin/runners';

const someone = async (level: number | null): Promise<Visitor> => {
  const attributes = level === null ? { admin: 1 as const } : { project: project.id, access_level: level };
  return (await seedVisitor(gantry, attributes)).visitor;
};

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  ofProject = `/${project.full_path}/-/runners`;
  [admin, master, developer] = await Promise.all([someone(null), someone(40), someone(30)]);
});
after(async () => await gantry.close());

const rowOf = (text: string, id: number): string =>
  [...text.matchAll(/<tr[^>]*>[\s\S]*?<\/tr>/g)]
    .map(([row]) => row)
    .find((row) => row.includes(`>#${id} `)) ?? '';
const tokenIn = ({ text }: Seen): string => /<code class="secret">([^<]+)<\/code>/.exec(text)?.[1] ?? '';
const record = async (id: number) => (await gantry.api(`GET /runners/${id}`)).body;
const list = async (path: string, who: Visitor): Promise<string> => {
  const { status, text } = await who.get(path);
  assert.equal(status, 200);
  return text;
};

test('shows the token of a created runner once', async () => {
  await admin.get(ofAll);
  const made = await admin.post(ofAll, {
    description: '<b>big</b>',
    tags: 'linux, x&y',
    run_untagged: '0',
    protected_only: '1',
    locked: '1',
    maximum_timeout: '900',
  });
  const token = tokenIn(made);
  assert.match(token, /^glrt-/);
  const id = Number(/Runner #(\d+) created/.exec(made.text)?.[1]);
  const text = await list(ofAll, admin);
  assert.ok(!text.includes(token));
  const row = rowOf(text, id);
  assert.match(
    row,
    /&lt;b&gt;big[\s\S]+Never contacted[\s\S]+Locked[\s\S]+Protected refs only[\s\S]+Tagged jobs only[\s\S]+linux, x&amp;y/,
  );
  const peer = makePeer(gantry, { token });
  assert.equal(await peer.request(), null);
  peer.close();
  const { tag_list, run_untagged, locked, access_level, maximum_timeout } = await record(id);
  assert.deepEqual(
    { tag_list, run_untagged, locked, access_level, maximum_timeout },
    {
      tag_list: ['linux', 'x&y'],
      run_untagged: false,
      locked: true,
      access_level: 'ref_protected',
      maximum_timeout: 900,
    },
  );
});

test('shows problems, and keeps the input', async () => {
  await admin.get(ofAll);
  const { status, text } = await admin.post(ofAll, {
    description: 'typed',
    run_untagged: '0',
    maximum_timeout: '5',
  });
  assert.equal(status, 422);
  assert.match(
    text,
    /id="tags_error">Tags can not be empty[\s\S]+Maximum job timeout \(seconds\) needs to be at least 10 minutes/,
  );
  assert.match(text, /value="typed"/);
  const { id } = await seedRunner(gantry);
  await admin.get(`${ofAll}/${id}`);
  assert.equal((await admin.post(`${ofAll}/${id}`, { run_untagged: '0' })).status, 422);
  for (const path of [ofAll, `${ofAll}/${id}`]) {
    const sent = { description: 'x'.repeat(1_025), tags: 'a, b', locked: '1', maximum_timeout: '9999999999' };
    const long = await admin.post(path, sent);
    assert.equal(long.status, 422);
    assert.match(long.text, /Description is too long[\s\S]+Maximum job timeout \(seconds\) is invalid/);
    assert.match(long.text, /value="x{1025}"[\s\S]+value="a, b"[\s\S]+value="9999999999"/);
    assert.match(long.text, /name="locked" type="checkbox" value="1" checked/);
    assert.doesNotMatch(long.text, /name="run_untagged" type="checkbox" value="1" checked/);
  }
  assert.equal((await record(id)).run_untagged, true);
});

test('shows state, last contact, version, executor and jobs', async () => {
  const seeded = await seedRunner(gantry);
  const peer = makePeer(gantry, { token: seeded.token });
  const { jobs } = await seedPipeline(gantry, { project: project.id, file: 'one: { script: x }' });
  const job = await peer.take();
  assert.equal(job.id, jobs['one']);
  let row = '';
  for (let tries = 0; tries < 200 && !row.includes('19.4.0'); tries += 1)
    row = rowOf(await list(ofAll, admin), seeded.id);
  assert.match(row, /Online[\s\S]+<time datetime=[\s\S]+19\.4\.0<br><code>shell<\/code>[\s\S]+<td>1<\/td>/);
  assert.doesNotMatch(await list(ofAll, admin), /without a sandbox/);
  await setJob(gantry, job.id, { status: 'success' });
  const hours = 60 * 60 * 1000;
  gantry.setTime(Date.now() + 3 * hours);
  assert.match(rowOf(await list(ofAll, admin), seeded.id), /Offline[\s\S]+<td>0<\/td>/);
  assert.ok(!(await list(`${ofAll}?status=online`, admin)).includes(`>#${seeded.id} `));
  assert.ok((await list(`${ofAll}?status=offline`, admin)).includes(`>#${seeded.id} `));
  gantry.setTime(null);
  peer.close();
});

test('pauses, resumes, edits and deletes a runner', async () => {
  const { id } = await seedRunner(gantry);
  await admin.get(ofAll);
  const done = async (verb: string): Promise<string> => {
    const { status, location } = await admin.post(`${ofAll}/${id}/${verb}`);
    assert.deepEqual([status, location], [303, ofAll]);
    return await list(ofAll, admin);
  };
  assert.match(rowOf(await done('pause'), id), /Paused[\s\S]+Resume/);
  assert.equal((await record(id)).paused, true);
  assert.match(rowOf(await done('resume'), id), /Pause</);
  const form = (await admin.get(`${ofAll}/${id}`)).text;
  assert.match(form, /name="run_untagged" type="checkbox" value="1" checked/);
  await admin.post(`${ofAll}/${id}`, { description: 'Other', tags: 'a,b', run_untagged: '1' });
  assert.deepEqual([(await record(id)).tag_list, (await record(id)).description], [['a', 'b'], 'Other']);
  assert.match(await done('delete'), new RegExp(`Runner #${id} was deleted`));
  assert.equal((await gantry.api(`GET /runners/${id}`)).status, 404);
  assert.equal((await admin.post(`${ofAll}/${id}/pause`)).status, 404);
});

test('resets tokens of runners and registration tokens', async () => {
  const { id, token } = await seedRunner(gantry);
  await admin.get(`${ofAll}/${id}`);
  const next = tokenIn(await admin.post(`${ofAll}/${id}/reset_token`));
  const verify = async (one: string) =>
    (await gantry.api('POST /runners/verify', { as: null, json: { token: one } })).status;
  assert.deepEqual([await verify(token), await verify(next)], [403, 200]);
  for (const [path, who, type] of [
    [ofAll, admin, 'instance_type'],
    [ofProject, master, 'project_type'],
  ] as const) {
    await who.get(path);
    const registration = tokenIn(await who.post(`${path}/reset_registration_token`));
    const made = await gantry.api('POST /runners', { as: null, json: { token: registration } });
    assert.equal(made.status, 201);
    assert.equal((await record(made.body.id)).runner_type, type);
  }
});

test('warns administrators of a built-in runner without a sandbox', async () => {
  const { token, id } = await createBuiltInRunner(gantry.service.platform);
  assert.doesNotMatch(await list(ofAll, admin), /without a sandbox/);
  const peer = makePeer(gantry, { token });
  await peer.request();
  peer.close();
  let text = '';
  for (let tries = 0; tries < 200 && !text.includes('without a sandbox'); tries += 1)
    text = await list(ofAll, admin);
  assert.match(
    text,
    new RegExp(`built-in runner \\(#${id}\\) runs jobs without a sandbox[\\s\\S]+bubblewrap`),
  );
  assert.match(rowOf(text, id), /of the instance, built in/);
  assert.doesNotMatch(await list(ofProject, master), /without a sandbox/);
});

test('a maintainer manages project runners, and only sees those of the instance', async () => {
  const own = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
  const shared = await seedRunner(gantry);
  const elsewhere = await seedRunner(gantry, {
    runner_type: 'project_type',
    projects: [(await seedProject(gantry)).id],
  });
  const text = await list(ofProject, master);
  assert.match(rowOf(text, own.id), /Pause runner[\s\S]+Delete runner[\s\S]+Disable runner/);
  assert.doesNotMatch(rowOf(text, shared.id), /<form|<a /);
  assert.equal(rowOf(text, elsewhere.id), '');
  const made = await master.post(ofProject, { description: 'mine', run_untagged: '1' });
  const id = Number(/Runner #(\d+) created/.exec(made.text)?.[1]);
  assert.equal((await record(id)).runner_type, 'project_type');
  await master.post(`${ofProject}/${id}/pause`);
  assert.equal((await record(id)).paused, true);
  for (const verb of ['pause', 'delete', 'reset_token']) {
    assert.equal((await master.post(`${ofProject}/${shared.id}/${verb}`)).status, 403, verb);
    assert.equal((await master.post(`${ofProject}/${elsewhere.id}/${verb}`)).status, 404, verb);
  }
  assert.equal((await master.get(`${ofProject}/${shared.id}`)).status, 403);
  assert.equal((await master.post(`${ofProject}/${own.id}/disable`)).status, 403);
});

test('an owner manages group runners, which serve the projects below', async () => {
  const group = await seedGroup(gantry, { visibility: 'private' });
  const below = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const person = async (level: number): Promise<Visitor> =>
    (await seedVisitor(gantry, { group: group.id, access_level: level })).visitor;
  const [owner, other] = [await person(50), await person(40)];
  const path = `/groups/${group.full_path}/-/runners`;
  const made = await owner.post(path, { description: 'of the group', run_untagged: '1' });
  const id = Number(/Runner #(\d+) created/.exec(made.text)?.[1]);
  assert.equal((await record(id)).runner_type, 'group_type');
  const row = rowOf(await list(path, owner), id);
  assert.match(row, /of a group[\s\S]+Pause runner[\s\S]+Delete runner/);
  assert.doesNotMatch(row, /Disable/);
  const { jobs } = await seedPipeline(gantry, { project: below.id, file: 'one: { script: x }' });
  const peer = makePeer(gantry, { token: tokenIn(made) });
  assert.equal((await peer.take()).id, jobs['one']);
  peer.close();
  for (const [verb, paused] of [
    ['pause', true],
    ['resume', false],
  ] as const) {
    assert.equal((await owner.post(`${path}/${id}/${verb}`)).location, path);
    assert.equal((await record(id)).paused, paused);
  }
  await owner.post(`${path}/${id}`, { description: 'renamed', run_untagged: '1' });
  assert.equal((await record(id)).description, 'renamed');
  const registration = await owner.post(`${path}/reset_registration_token`);
  assert.match(registration.text, /It registers runners of this group/);
  const registered = await gantry.api('POST /runners', { as: null, json: { token: tokenIn(registration) } });
  assert.equal((await record(registered.body.id)).runner_type, 'group_type');
  const shared = await seedRunner(gantry);
  assert.doesNotMatch(rowOf(await list(path, owner), shared.id), /<form|<a /);
  assert.equal((await owner.post(`${path}/${shared.id}/pause`)).status, 403);
  for (const address of [path, `${path}/${id}`]) assert.equal((await other.get(address)).status, 403);
  assert.equal((await other.post(`${path}/${id}/delete`)).status, 403);
  assert.match((await owner.get(`/groups/${group.full_path}/-/settings/ci_cd`)).text, /<h1>Runners<\/h1>/);
  assert.equal((await owner.post(`${path}/${id}/delete`)).location, path);
});

test('answers 404 to others, and requires the CSRF token', async () => {
  const { id } = await seedRunner(gantry);
  await developer.get('/profile');
  for (const path of [ofAll, `${ofAll}/${id}`]) {
    for (const who of [developer, master]) assert.equal((await who.get(path)).status, 404);
  }
  assert.equal((await developer.post(`${ofAll}/${id}/delete`)).status, 404);
  assert.equal((await developer.get(ofProject)).status, 403);
  assert.equal((await developer.post(ofProject, { description: 'x' })).status, 403);
  await admin.get(ofAll);
  assert.equal((await admin.post(`${ofAll}/${id}/delete`, { authenticity_token: null })).status, 422);
  assert.equal((await record(id)).id, id);
});
