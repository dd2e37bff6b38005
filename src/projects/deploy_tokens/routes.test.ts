/** Deploy tokens: who makes them, and what they open. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { seedGroup, seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { seedVisitor } from '../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => {
  await gantry.close();
});

const newProject = async (namespace?: number) => {
  const attributes = { visibility: 'private' as const, ...(namespace !== undefined && { namespace }) };
  const project = await seedProject(gantry, attributes);
  await seedCommit(gantry, project.id, { a: '1' });
  return project;
};

const add = async (path: string, json: object = {}) => {
  const reply = await gantry.api(`POST ${path}/deploy_tokens`, {
    json: { name: 'Servers', scopes: ['read_repository'], ...json },
  });
  assert.equal(reply.status, 201, reply.text);
  return reply.body as { id: number; username: string; token: string };
};

type Login = { username: string; token: string };

const basic = ({ username, token }: Login) => ({
  authorization: `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}`,
});

const clone = async (path: string, login: Login, service = 'git-upload-pack'): Promise<number> => {
  const url = `${gantry.url}/${path}.git/info/refs?service=${service}`;
  const reply = await fetch(url, { headers: basic(login) });
  await reply.arrayBuffer();
  return reply.status;
};

/** The actions that a token of the registry grants. */
const pull = async (path: string, login: Login, actions = 'pull,push'): Promise<string[] | number> => {
  const query = `service=container_registry&scope=repository:${path}:${actions}`;
  const reply = await fetch(`${gantry.url}/jwt/auth?${query}`, { headers: basic(login) });
  if (reply.status !== 200) return reply.status;
  const { token } = (await reply.json()) as { token: string };
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    access: { actions: string[] }[];
  };
  return claims.access.flatMap((one) => one.actions);
};

it('a token of a project reads its code, and nothing else', async () => {
  const [project, other] = [await newProject(), await newProject()];
  const path = `/projects/${project.id}`;
  const { token, ...made } = await add(path);
  assert.deepEqual(made, {
    id: made.id,
    name: 'Servers',
    username: `gitlab+deploy-token-${made.id}`,
    expires_at: null,
    scopes: ['read_repository'],
    revoked: false,
    expired: false,
  });
  const login = { username: made.username, token };
  assert.equal(await clone(project.full_path, login), 200);
  const page = `/${project.full_path}/-/deploy_tokens`;
  const { visitor: admin } = await seedVisitor(gantry, { admin: 1 });
  await until('the address of the use is shown', async () =>
    (await admin.get(page)).text.includes('>from 127.0.0.1<'),
  );
  assert.equal(await clone(project.full_path, login, 'git-receive-pack'), 401);
  assert.equal(await clone(other.full_path, login), 401);
  assert.equal(await clone(project.full_path, { ...login, username: 'other' }), 401);
  assert.equal(await clone(project.full_path, { ...login, token: `${token}x` }), 401);
  assert.equal(await pull(project.full_path, login), 401);
  assert.equal((await gantry.api(`GET ${path}`, { as: token })).status, 401);
  const listed = (await gantry.api(`GET ${path}/deploy_tokens`)).body;
  assert.deepEqual(listed, [made]);
  assert.deepEqual((await gantry.api(`GET ${path}/deploy_tokens/${made.id}`)).body, made);
  assert.ok((await gantry.api('GET /deploy_tokens?per_page=100')).body.length > 0);
  await gantry.api(`PUT ${path}`, { json: { repository_access_level: 'disabled' } });
  assert.notEqual(await clone(project.full_path, login), 200);
});

it('a token of a group opens the projects of the group and of those below it', async () => {
  const group = await seedGroup(gantry, { visibility: 'private' });
  const below = await seedGroup(gantry, { visibility: 'private', parent: group.id });
  const [project, outside] = [await newProject(below.id), await newProject()];
  const login = await add(`/groups/${group.id}`);
  assert.equal(await clone(project.full_path, login), 200);
  assert.equal(await clone(outside.full_path, login), 401);
});

it('registry scopes open the registry as far as they say', async () => {
  const project = await newProject();
  const path = `/projects/${project.id}`;
  const reads = await add(path, { scopes: ['read_registry'], username: 'reader' });
  assert.equal(reads.username, 'reader');
  assert.deepEqual(await pull(project.full_path, reads), ['pull']);
  assert.notEqual(await clone(project.full_path, reads), 200);
  const writes = await add(path, { scopes: ['read_registry', 'write_registry'] });
  assert.deepEqual(await pull(project.full_path, writes), ['pull', 'push']);
});

it('ends when it expires, when it is revoked, and with its project', async () => {
  const project = await newProject();
  const path = `/projects/${project.id}`;
  const now = Date.UTC(2030, 0, 1);
  gantry.setTime(now);
  const [brief, long] = [await add(path, { expires_at: '2030-01-02T00:00:00Z' }), await add(path)];
  assert.equal(await clone(project.full_path, brief), 200);
  gantry.setTime(now + 2 * 86_400_000);
  assert.equal(await clone(project.full_path, brief), 401);
  const ids = async (query: string): Promise<number[]> =>
    (await gantry.api(`GET ${path}/deploy_tokens?${query}`)).body.map(({ id }: { id: number }) => id);
  assert.deepEqual([await ids('active=true'), await ids('active=false')], [[long.id], [brief.id]]);
  assert.equal((await gantry.api(`DELETE ${path}/deploy_tokens/${long.id}`)).status, 204);
  assert.equal(await clone(project.full_path, long), 401);
  assert.equal((await gantry.api(`DELETE ${path}/deploy_tokens/${long.id}`)).status, 404);
  const last = await add(path);
  await gantry.api(`DELETE ${path}`);
  assert.equal(await clone(project.full_path, last), 401);
  gantry.setTime(null);
});

it('is refused for invalid input, and hidden from developers and other places', async () => {
  const [project, other] = [await newProject(), await newProject()];
  const path = `/projects/${project.id}`;
  for (const wrong of [
    { name: ' ' },
    { scopes: [] },
    { scopes: ['api'] },
    { username: 'a b' },
    { expires_at: '2000-01-01T00:00:00Z' },
  ]) {
    const json = { name: 'x', scopes: ['read_repository'], ...wrong };
    assert.equal(
      (await gantry.api(`POST ${path}/deploy_tokens`, { json })).status,
      400,
      JSON.stringify(wrong),
    );
  }
  const { id } = await add(path);
  for (const method of ['GET', 'DELETE'])
    assert.equal((await gantry.api(`${method} /projects/${other.id}/deploy_tokens/${id}`)).status, 404);
  const developer = await seedUser(gantry);
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  assert.equal((await gantry.api(`GET ${path}/deploy_tokens`, { as: developer.token })).status, 403);
});
