/** Tests the pages of access tokens and of deploy tokens of projects and groups. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedGroup, seedProject } from '../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

type Place = { api: string; path: string; owner: SeededVisitor; developer: SeededVisitor; project: number };

const newPlace = async (kind: 'projects' | 'groups'): Promise<Place> => {
  const group = await seedGroup(gantry, { visibility: 'private' });
  const project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const owner = await seedVisitor(gantry, { group: group.id, access_level: 50 });
  const developer = await seedVisitor(gantry, { group: group.id, access_level: 30 });
  const isProject = kind === 'projects';
  return {
    api: isProject ? `/projects/${project.id}` : `/groups/${group.id}`,
    path: isProject ? `/${project.full_path}/-` : `/groups/${group.full_path}/-`,
    owner,
    developer,
    project: project.id,
  };
};

const secretIn = (text: string): string => /<code class="secret">([^<]+)<\/code>/.exec(text)?.[1] ?? '';

for (const kind of ['projects', 'groups'] as const) {
  describe(`pages of tokens of ${kind}`, () => {
    it('create an access token, shown once, rotate and revoke it', async () => {
      const place = await newPlace(kind);
      const { visitor } = place.owner;
      const path = `${place.path}/settings/access_tokens`;
      assert.match((await visitor.get(path)).text, /No active tokens/);
      const refused = await visitor.post(path, { name: ' ', 'scopes[]': 'api', access_level: '30' });
      assert.deepEqual([refused.status, /Name can&#39;t be blank/.test(refused.text)], [422, true]);
      const form = { name: 'CI <b>', 'scopes[]': 'api', access_level: '30', expires_at: '2100-01-01' };
      const made = await visitor.post(path, form);
      const secret = secretIn(made.text);
      assert.deepEqual([made.status, (await gantry.api('GET /user', { as: secret })).status], [200, 200]);
      const listed = await visitor.get(path);
      assert.match(listed.text, /CI &lt;b&gt;[^]*Developer[^]*2100-01-01/);
      assert.doesNotMatch(listed.text, new RegExp(secret));
      const [token] = (await gantry.api(`GET ${place.api}/access_tokens`)).body;
      const rotated = await visitor.post(`${path}/${token.id}/rotate`);
      assert.equal((await gantry.api('GET /user', { as: secret })).status, 401);
      const second = secretIn(rotated.text);
      assert.equal((await gantry.api('GET /user', { as: second })).status, 200);
      const [, next] = (await gantry.api(`GET ${place.api}/access_tokens`)).body;
      assert.equal((await visitor.post(`${path}/${next.id}/revoke`)).location, path);
      assert.equal((await gantry.api('GET /user', { as: second })).status, 401);
      assert.match((await visitor.get(`${path}?state=inactive`)).text, /Revoked/);
    });

    it('create a deploy token, shown once, and revoke it', async () => {
      const place = await newPlace(kind);
      const { visitor } = place.owner;
      await seedCommit(gantry, place.project, { a: '1' });
      const path = `${place.path}/deploy_tokens`;
      assert.match((await visitor.get(path)).text, /No deploy tokens/);
      assert.equal((await visitor.post(path, { name: 'x' })).status, 422);
      const form = { name: 'Server', username: 'server', 'scopes[]': 'read_repository', life: 'none' };
      const made = await visitor.post(path, form);
      assert.match(made.text, /User name: <code>server<\/code>/);
      const [token] = (await gantry.api(`GET ${place.api}/deploy_tokens`)).body;
      assert.deepEqual([token.username, token.expires_at], ['server', null]);
      assert.doesNotMatch((await visitor.get(path)).text, new RegExp(secretIn(made.text)));
      assert.equal((await visitor.post(`${path}/${token.id}/revoke`)).location, path);
      assert.equal((await visitor.post(`${path}/${token.id}/revoke`)).status, 404);
      assert.deepEqual((await gantry.api(`GET ${place.api}/deploy_tokens`)).body, []);
    });

    it('are closed to those who do not administer the place, and to tokens of another place', async () => {
      const [place, other] = [await newPlace(kind), await newPlace(kind)];
      const json = { name: 'x', scopes: ['read_repository'] };
      const access = (await gantry.api(`POST ${place.api}/access_tokens`, { json })).body;
      const deploy = (await gantry.api(`POST ${place.api}/deploy_tokens`, { json })).body;
      for (const noun of ['settings/access_tokens', 'deploy_tokens']) {
        assert.equal((await place.developer.visitor.get(`${place.path}/${noun}`)).status, 403);
        assert.equal((await other.owner.visitor.get(`${place.path}/${noun}`)).status, 404);
      }
      await other.owner.visitor.get(`${other.path}/deploy_tokens`);
      for (const post of [
        `settings/access_tokens/${access.id}/revoke`,
        `settings/access_tokens/${access.id}/rotate`,
        `deploy_tokens/${deploy.id}/revoke`,
      ])
        assert.equal((await other.owner.visitor.post(`${other.path}/${post}`)).status, 404, post);
      assert.equal((await gantry.api('GET /user', { as: access.token })).status, 403);
    });
  });
}
