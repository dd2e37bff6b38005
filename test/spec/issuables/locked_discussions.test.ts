/** Locked discussions: members of the project comment, nobody else does. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openRequest, seedBranch, seedCoded } from '../../support/seed_merge_requests.ts';
import { type SeededUser, seedMember, seedUser } from '../../support/seed.ts';
import { type World, answer, startWorld } from '../world.ts';

let world: World;
let project: number;
let guest: SeededUser;
let developer: SeededUser;
let author: SeededUser;
before(async () => {
  world = await startWorld();
  const coded = await seedCoded(world.gantry, { visibility: 'public' });
  project = coded.id;
  await seedBranch(world.gantry, coded, 'topic');
  guest = await seedUser(world.gantry);
  developer = await seedUser(world.gantry);
  author = await seedUser(world.gantry);
  await seedMember(world.gantry, { user: guest.id, project, access_level: 10 });
  await seedMember(world.gantry, { user: developer.id, project, access_level: 30 });
});
after(async () => await world.close());

const forbidden = [403, { message: '403 Forbidden' }];

const issuePath = async (as: string): Promise<string> => {
  const { iid } = await world.issue(project, {}, as);
  return `/projects/${project}/issues/${iid}`;
};

const lock = async (path: string, locked: boolean, as = developer.token) =>
  await world.api(`PUT ${path}`, { as, json: { discussion_locked: locked } });

const note = async (path: string, as: string, body = 'A word') =>
  await world.api(`POST ${path}/notes`, { as, json: { body } });

const lockOf = async (path: string): Promise<boolean | null> =>
  (await world.api(`GET ${path}`)).body.discussion_locked;

const systemNotes = async (path: string): Promise<string[]> => {
  const { body } = await world.api(`GET ${path}/notes?sort=asc`);
  return body.filter((one: { system: boolean }) => one.system).map((one: { body: string }) => one.body);
};

for (const kind of ['issue', 'merge request'] as const) {
  describe(`the discussion of ${kind === 'issue' ? 'an issue' : 'a merge request'}`, () => {
    let path: string;
    before(async () => {
      if (kind === 'issue') path = await issuePath(author.token);
      else {
        const { iid } = await openRequest(world.gantry, { id: project }, 'topic');
        path = `/projects/${project}/merge_requests/${iid}`;
      }
    });

    it('is locked and unlocked, once, with a note of it', async () => {
      assert.equal(await lockOf(path), null);
      const { updated_at } = (await world.api(`GET ${path}`)).body;
      const reply = await lock(path, true);
      assert.deepEqual([reply.status, reply.body.discussion_locked], [200, true]);
      assert.equal(reply.headers.get('gantry-ignored-parameters'), null);
      assert.ok(reply.body.updated_at > updated_at);
      const again = await lock(path, true);
      assert.equal(again.body.updated_at, reply.body.updated_at);
      const list = path.slice(0, path.lastIndexOf('/'));
      assert.equal((await world.api(`GET ${list}`)).body[0].discussion_locked, true);
      assert.equal((await lock(path, false)).body.discussion_locked, false);
      assert.equal((await world.api(`GET ${list}`)).body[0].discussion_locked, false);
      assert.deepEqual(await systemNotes(path), [
        `locked the discussion in this ${kind}`,
        `unlocked the discussion in this ${kind}`,
      ]);
    });

    it('accepts comments only from members and administrators while it is locked', async () => {
      const { id } = (await note(path, author.token)).body;
      const thread = (await world.api(`POST ${path}/discussions`, { as: author.token, json: { body: 'x' } }))
        .body;
      assert.equal((await lock(path, true)).status, 200);
      const as = author.token;
      const lines: [line: string, json?: object][] = [
        [`POST ${path}/notes`, { body: 'Again' }],
        [`POST ${path}/notes`, { body: '/subscribe' }],
        [`PUT ${path}/notes/${id}`, { body: 'Again' }],
        [`DELETE ${path}/notes/${id}`],
        [`POST ${path}/discussions`, { body: 'Again' }],
        [`POST ${path}/discussions/${thread.id}/notes`, { body: 'Again' }],
      ];
      for (const [line, json] of lines) {
        assert.deepEqual(answer(await world.api(line, { as, ...(json && { json }) })), forbidden, line);
      }
      const award = await world.api(`POST ${path}/award_emoji`, { as, json: { name: 'tada' } });
      assert.equal(award.status, 404);
      for (const token of [guest.token, developer.token, undefined]) {
        const reply = await world.api(`POST ${path}/notes`, {
          ...(token && { as: token }),
          json: { body: 'y' },
        });
        assert.equal(reply.status, 201);
      }
      assert.equal((await lock(path, false)).status, 200);
      assert.equal((await note(path, author.token)).status, 201);
      assert.equal((await world.api(`DELETE ${path}/notes/${id}`, { as })).status, 204);
    });

    it('is locked by a comment’s quick action', async () => {
      const { status, body } = await note(path, developer.token, '/lock');
      assert.deepEqual([status, body.commands_changes], [201, { discussion_locked: true }]);
      assert.equal(await lockOf(path), true);
      await note(path, developer.token, 'Peace.\n/unlock');
      assert.equal(await lockOf(path), false);
    });

    it('cannot be locked by a user without the right to administer it', async () => {
      const own = kind === 'issue' ? author.token : developer.token;
      if (kind === 'issue') {
        assert.equal((await lock(path, true, own)).body.discussion_locked, false);
        await note(path, own, 'Mine.\n/lock');
      } else assert.equal((await lock(path, true, guest.token)).status, 403);
      assert.equal(await lockOf(path), false);
      assert.equal((await world.api(`PUT ${path}`, { json: { discussion_locked: 'x' } })).status, 400);
    });
  });
}

it('reports a lock set before locks existed as unlocked, without a note', async () => {
  const path = await issuePath(developer.token);
  assert.equal((await lock(path, false)).body.discussion_locked, false);
  assert.deepEqual(await systemNotes(path), []);
});

it('moves with its issue', async () => {
  const { id: to } = await world.project();
  const path = await issuePath(developer.token);
  await lock(path, true);
  const moved = await world.api(`POST ${path}/move`, { json: { to_project_id: to } });
  assert.deepEqual([moved.status, moved.body.discussion_locked], [201, true]);
});

it('keeps the draft of a user who can no longer comment', async () => {
  await seedBranch(world.gantry, { id: project }, 'drafted');
  const { iid } = await openRequest(world.gantry, { id: project }, 'drafted');
  const path = `/projects/${project}/merge_requests/${iid}`;
  const as = author.token;
  const draft = await world.api(`POST ${path}/draft_notes`, { as, json: { note: 'Later' } });
  assert.equal(draft.status, 201);
  await lock(path, true);
  const published = await world.api(`PUT ${path}/draft_notes/${draft.body.id}/publish`, { as });
  assert.deepEqual(answer(published), forbidden);
  assert.equal((await world.api(`GET ${path}/draft_notes`, { as })).body.length, 1);
  const other = await world.api(`POST ${path}/draft_notes`, { as, json: { note: 'No' } });
  assert.deepEqual(answer(other), forbidden);
});
