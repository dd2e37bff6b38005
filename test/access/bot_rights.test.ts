/** Bots of projects and groups: what they make does not outlive their token, and they never stand in for people. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedGroup, seedMember, seedProject, seedUser } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const newBot = async (access_level: number, token: object = {}) => {
  const owner = await seedUser(gantry);
  const group = await seedGroup(gantry, { visibility: 'private', owner: owner.id });
  const made = await gantry.api(`POST /groups/${group.id}/access_tokens`, {
    as: owner.token,
    json: { name: 'Bot', scopes: ['api'], access_level, ...token },
  });
  assert.equal(made.status, 201, made.text);
  return { owner, group, bot: { id: made.body.user_id as number, token: made.body.token as string } };
};

const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGdKx4yfiJkGvM1DyLXWGpJGdoLZhQDdrYGlqTpy3Hhc a@b';

it('a bot adds no SSH key, which would sign in after its token has ended', async () => {
  const { bot } = await newBot(30);
  assert.equal((await gantry.api('POST /user/keys', { as: bot.token, json: { key } })).status, 403);
  assert.equal((await gantry.api(`POST /users/${bot.id}/keys`, { json: { key } })).status, 403);
});

it('an administrator gives a bot no token beside its own, and no password', async () => {
  const { bot } = await newBot(30);
  const json = { name: 'x', scopes: ['api'] };
  assert.equal((await gantry.api(`POST /users/${bot.id}/personal_access_tokens`, { json })).status, 403);
  assert.equal((await gantry.api(`POST /users/${bot.id}/impersonation_tokens`, { json })).status, 403);
});

it('a group keeps an owner who is no bot', async () => {
  const { bot, owner, group } = await newBot(50);
  const path = `/groups/${group.id}/members/${owner.id}`;
  assert.equal((await gantry.api(`DELETE ${path}`, { as: owner.token })).status, 403);
  assert.equal((await gantry.api(`DELETE ${path}`, { as: bot.token })).status, 403);
  assert.equal((await gantry.api(`PUT ${path}`, { as: bot.token, json: { access_level: 10 } })).status, 403);
});

it('bots end with the groups and projects of a user who is deleted', async () => {
  const { bot, owner } = await newBot(50);
  const project = await seedProject(gantry, { owner: owner.id, visibility: 'private' });
  const ofProject = await gantry.api(`POST /projects/${project.id}/access_tokens`, {
    as: owner.token,
    json: { name: 'Bot', scopes: ['api'], access_level: 40 },
  });
  assert.equal(ofProject.status, 201, ofProject.text);
  assert.equal((await gantry.api(`DELETE /users/${owner.id}?hard_delete=true`)).status, 204);
  assert.equal((await gantry.api('GET /user', { as: ofProject.body.token })).status, 401);
  assert.equal((await gantry.api('GET /user', { as: bot.token })).status, 401);
});

it('a rotation gives no role above that of the caller, through a shared group either', async () => {
  const { group, bot } = await newBot(50);
  const shared = await seedGroup(gantry, { visibility: 'private' });
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, group: shared.id, access_level: 50 });
  await gantry.api(`POST /groups/${group.id}/share`, { json: { group_id: shared.id, group_access: 40 } });
  const tokens = (await gantry.api(`GET /groups/${group.id}/access_tokens`)).body;
  const path = `/groups/${group.id}/access_tokens/${tokens[0].id}`;
  assert.equal((await gantry.api(`POST ${path}/rotate`, { as: user.token })).status, 403);
  assert.equal((await gantry.api(`GET /groups/${group.id}/access_tokens`, { as: user.token })).status, 403);
  assert.equal((await gantry.api('GET /user', { as: bot.token })).status, 200);
});

it('a bot does nothing after the last day of its token', async () => {
  const { group, bot } = await newBot(50, { expires_at: '2100-01-01' });
  const project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': 'a: { script: [x] }' });
  const trigger = await gantry.api(`POST /projects/${project.id}/triggers`, {
    as: bot.token,
    json: { description: 'x' },
  });
  assert.equal(trigger.status, 201, trigger.text);
  const runPipeline = async () =>
    await gantry.api(`POST /projects/${project.id}/trigger/pipeline`, {
      as: null,
      json: { token: trigger.body.token, ref: 'main' },
    });
  assert.equal((await runPipeline()).status, 201);
  gantry.setTime(Date.UTC(2100, 0, 2));
  try {
    assert.equal((await gantry.api('GET /user', { as: bot.token })).status, 401);
    const run = await runPipeline();
    assert.equal(run.status, 400, run.text);
  } finally {
    gantry.setTime(null);
  }
});

it('keeps its role with a rotated token, and does not win back a role that was ended', async () => {
  const { group, owner, bot } = await newBot(40, { expires_at: '2100-01-01' });
  const path = `/groups/${group.id}`;
  const rotate = async (as: string): Promise<string> =>
    (
      await gantry.api('POST /personal_access_tokens/self/rotate', {
        as,
        json: { expires_at: '2100-03-01' },
      })
    ).body.token;
  const second = await rotate(bot.token);
  const status = async (as: string): Promise<number> => (await gantry.api(`GET ${path}`, { as })).status;
  gantry.setTime(Date.UTC(2100, 1, 2));
  try {
    assert.equal(await status(second), 200);
    const ended = { access_level: 40, expires_at: '2100-02-10' };
    const member = `${path}/members/${bot.id}`;
    assert.equal((await gantry.api(`PUT ${member}`, { as: owner.token, json: ended })).status, 200);
    const third = await rotate(second);
    gantry.setTime(Date.UTC(2100, 1, 12));
    assert.equal(await status(third), 404);
  } finally {
    gantry.setTime(null);
  }
});
