import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedMember, seedProject, unique } from '../../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

const password = 'correct horse';
let gantry: TestService;

type Someone = { id: number; username: string };

const make = async (attributes: object = {}): Promise<Someone> => {
  const username = unique('user');
  const json = {
    username,
    name: `Name of ${username}`,
    email: `${username}@example.com`,
    password,
    ...attributes,
  };
  const { status, body } = await gantry.api('POST /users', { json });
  assert.equal(status, 201);
  return { id: body.id, username };
};

const signIn = async ({ username }: Someone): Promise<Visitor> => {
  const visitor = openVisitor(gantry);
  await visitor.signIn(username, password);
  return visitor;
};

let viewer: Visitor;
let admin: Visitor;
before(async () => {
  gantry = await startTestService();
  viewer = await signIn(await make());
  admin = await signIn(await make({ admin: true }));
});
after(async () => await gantry.close());

const titlesIn = (text: string): string[] =>
  [...text.matchAll(/class="title" href="\/(?:groups\/)?([^"]+)"/g)].map(([, path = '']) => path);

test('shows who a user is', async () => {
  const { username } = await make({
    bio: 'Builds <bridges>\nand boats',
    location: 'Lisbon',
    organization: 'Bridges Ltd',
    website_url: 'bridges.example',
    twitter: '@bridges',
    linkedin: 'not a name/../x',
  });
  const { status, text } = await viewer.get(`/${username}`);
  assert.equal(status, 200);
  assert.match(text, new RegExp(`<h1>Name of ${username}</h1>`));
  assert.match(text, /Builds &lt;bridges&gt;\nand boats/);
  for (const word of ['Lisbon', 'Bridges Ltd', 'Member since', 'not a name/../x'])
    assert.ok(text.includes(word));
  assert.match(text, /<a href="http:\/\/bridges\.example" rel="nofollow noopener noreferrer me">/);
  assert.match(text, /<a href="https:\/\/twitter\.com\/bridges"/);
  assert.doesNotMatch(text, /href="https:\/\/www\.linkedin/);
  assert.doesNotMatch(text, new RegExp(`${username}@example.com|/admin/users|Edit profile`));
});

test('shows the public address, and links to change the profile where one may', async () => {
  const user = await make();
  const email = `${user.username}@example.com`;
  await gantry.api(`PUT /users/${user.id}`, { json: { public_email: email } });
  assert.ok((await viewer.get(`/${user.username}`)).text.includes(`mailto:${email}`));
  assert.match((await (await signIn(user)).get(`/${user.username}`)).text, /href="\/profile">.*Edit profile/);
  assert.match((await admin.get(`/${user.username}`)).text, new RegExp(`href="/admin/users/${user.id}"`));
});

test('lists the projects that the viewer sees, with a filter and pages', async () => {
  const owner = await make();
  const paths = await Promise.all(
    (['public', 'internal', 'private'] as const).map(
      async (visibility) => (await seedProject(gantry, { owner: owner.id, visibility })).full_path,
    ),
  );
  const path = `/${owner.username}`;
  const seen = titlesIn((await viewer.get(path)).text);
  assert.deepEqual(seen.toSorted(), paths.slice(0, 2).toSorted());
  const all = titlesIn((await (await signIn(owner)).get(path)).text);
  assert.deepEqual(all.toSorted(), paths.toSorted());
  const second = await viewer.get(`${path}?per_page=1&page=2`);
  assert.equal(titlesIn(second.text).length, 1);
  assert.match(second.text, /page=1&amp;per_page=1">Previous/);
  const word = paths[0]?.split('/')[1] ?? '';
  assert.deepEqual(titlesIn((await viewer.get(`${path}?search=${word}`)).text), [paths[0]]);
  assert.match((await viewer.get(`${path}?search=nothing-like-it`)).text, /No results/);
});

test('lists starred projects and groups that the viewer sees', async () => {
  const user = await make();
  const [open, closed] = [
    await seedProject(gantry, { visibility: 'public' }),
    await seedProject(gantry, { visibility: 'private', owner: user.id }),
  ];
  for (const { id } of [open, closed]) await gantry.api(`POST /projects/${id}/star?sudo=${user.id}`);
  const [known, hidden, ended] = [
    await seedGroup(gantry, { visibility: 'public' }),
    await seedGroup(gantry, { visibility: 'private' }),
    await seedGroup(gantry, { visibility: 'public' }),
  ];
  for (const group of [known, hidden, ended]) {
    await seedMember(gantry, { user: user.id, group: group.id, access_level: 30 });
  }
  await gantry.service.platform.store.write(async ({ db }) => {
    const past = { expires_at: '2020-01-01' };
    await db
      .updateTable('members')
      .set(past)
      .where('source_id', '=', ended.id)
      .where('user_id', '=', user.id)
      .execute();
  });
  const tab = async (who: Visitor, name: string) =>
    titlesIn((await who.get(`/${user.username}?tab=${name}`)).text);
  assert.deepEqual(await tab(viewer, 'starred'), [open.full_path]);
  assert.deepEqual(await tab(viewer, 'groups'), [known.full_path]);
  const own = await signIn(user);
  assert.deepEqual((await tab(own, 'starred')).toSorted(), [open.full_path, closed.full_path].toSorted());
  assert.deepEqual((await tab(own, 'groups')).toSorted(), [known.full_path, hidden.full_path].toSorted());
  assert.equal((await viewer.get(`/${user.username}?tab=x`)).status, 400);
});

test('draws what the viewer sees of a year of contributions, and has it as a table', async () => {
  const user = await make();
  const [open, hidden] = [
    await seedProject(gantry, { visibility: 'public' }),
    await seedProject(gantry, { visibility: 'private' }),
  ];
  await seedMember(gantry, { user: user.id, project: hidden.id, access_level: 30 });
  const today = new Date().toISOString().slice(0, 10);
  const dayBefore = (days: number) =>
    new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10);
  const early = dayBefore(100);
  const act = async (
    project_id: number,
    days: readonly string[],
    action: 'created' | 'joined' = 'created',
  ): Promise<void> => {
    const rows = days.map((day) => ({
      created_at: Date.parse(day) + 1_000,
      project_id,
      author_id: user.id,
      action,
      target_type: null,
      target_id: null,
      subject_type: 'Project' as const,
      subject_id: project_id,
      data: '{}',
    }));
    await gantry.service.platform.store.write(
      async ({ db }) => await db.insertInto('activities').values(rows).execute(),
    );
  };
  await act(open.id, [today, ...Array.from({ length: 12 }, () => early), dayBefore(400)]);
  await act(hidden.id, [early]);
  await act(open.id, [early], 'joined');
  const path = `/${user.username}`;
  const { text } = await viewer.get(path);
  assert.match(text, /<h2 id="contributions">13 contributions in the last year<\/h2>/);
  assert.match(text, /<svg [^>]+ role="img" aria-label="13 contributions in the last year, on 2 days">/);
  assert.match(text, new RegExp(`<rect class="shade-2"[^>]+><title>${early}: 12 contributions</title>`));
  const table = /Contributions as a table[^]*?<\/table>/.exec(text)?.[0] ?? '';
  const cells = [...table.matchAll(/<time datetime="([^"]+)">[^]*?<td>(\d+)<\/td>/g)].map(
    ([, ...cell]) => cell,
  );
  assert.deepEqual(cells, [
    [today, '1'],
    [early, '12'],
  ]);
  assert.match((await (await signIn(user)).get(path)).text, /14 contributions in the last year/);
  assert.match((await viewer.get(`/${(await make()).username}`)).text, /0 contributions in the last year/);
  const day = await viewer.get(`${path}?tab=activity&day=${early}`);
  assert.match(day.text, new RegExp(`Activity on <time datetime="${early}">${early}</time>, in UTC`));
  assert.equal(day.text.split('<li><span class="lead">').length - 1, 12);
  assert.equal((await viewer.get(`${path}?tab=activity&day=soon`)).status, 400);
});

test('of a blocked user, shows only the name', async () => {
  const user = await make({ bio: 'Secret bio', location: 'Lisbon' });
  await seedProject(gantry, { owner: user.id, visibility: 'public' });
  await gantry.api(`POST /users/${user.id}/block`);
  const { status, text } = await viewer.get(`/${user.username}`);
  assert.equal(status, 200);
  assert.match(text, /This user is blocked/);
  assert.deepEqual([/Secret bio|Lisbon/.test(text), titlesIn(text)], [false, []]);
  assert.match((await admin.get(`/${user.username}`)).text, /Secret bio/);
});

test('sends anonymous visitors to sign in, for users that exist and for others', async () => {
  const { username } = await make();
  for (const name of [username, 'nobody-of-that-name']) {
    const { status, location } = await openVisitor(gantry).get(`/${name}`);
    assert.deepEqual([status, location], [302, `/users/sign_in?return_to=%2F${name}`]);
  }
  assert.equal((await viewer.get('/nobody-of-that-name')).status, 404);
});
