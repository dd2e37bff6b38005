import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

/** Sends an anonymous request. */
const get = async (path: string) => await gantry.api(`GET /templates/${path}`, { as: null });

for (const [type, key, content] of [
  ['gitignores', 'Node', 'node_modules/'],
  ['dockerfiles', 'Node', 'FROM node'],
  ['gitlab_ci_ymls', 'Nodejs', 'npm test'],
] as const) {
  test(`anonymous callers list ${type} and read one`, async () => {
    const list = await get(`${type}?per_page=100`);
    assert.equal(list.status, 200);
    const rest = await get(`${type}?per_page=100&page=2`);
    const named = [...list.body, ...rest.body].filter((one: { key: string }) => one.key === key);
    assert.deepEqual(named, [{ key, name: key }]);
    const [first] = (await get(`${type}?per_page=1`)).body;
    assert.deepEqual(first, list.body[0]);
    assert.ok(Number(list.headers.get('x-total')) >= 9);
    const one = await get(`${type}/${key}`);
    assert.deepEqual([one.status, Object.keys(one.body), one.body.name], [200, ['name', 'content'], key]);
    assert.ok(one.body.content.includes(content));
    for (const bad of ['none', '..%2F..%2Fpackage.json', '%2E%2E', 'Node%00']) {
      assert.ok([400, 404].includes((await get(`${type}/${bad}`)).status), bad);
    }
  });
}

test('decodes an encoded key', async () => {
  assert.equal((await get('gitignores/C%2B%2B')).body.name, 'C++');
});

test('licenses have their facts and texts', async () => {
  const { body, headers } = await get('licenses?per_page=100');
  assert.equal(headers.get('x-total'), String(body.length));
  const [mit] = body.filter((license: { key: string }) => license.key === 'mit');
  const { content, description, ...facts } = mit;
  assert.deepEqual(facts, {
    key: 'mit',
    name: 'MIT License',
    nickname: null,
    featured: true,
    popular: true,
    html_url: 'https://choosealicense.com/licenses/mit/',
    source_url: 'https://opensource.org/license/mit/',
    conditions: ['include-copyright'],
    permissions: ['commercial-use', 'modifications', 'distribution', 'private-use'],
    limitations: ['liability', 'warranty'],
  });
  assert.match(description, /permissive license/);
  assert.match(content, /Copyright \(c\) \[year\] \[fullname\]/);
  const popular = (await get('licenses?popular=true')).body;
  assert.deepEqual(
    popular.map(({ key }: { key: string }) => key),
    ['apache-2.0', 'gpl-3.0', 'mit'],
  );
});

test('the placeholders of a license are replaced', async () => {
  gantry.setTime(Date.UTC(2031, 5, 1));
  const mit = (await get('licenses/MIT?fullname=Ada%20%241&project=Engine')).body;
  const gpl = (await get('licenses/gpl-3.0?fullname=Ada&project=Engine')).body;
  const plain = (await get('licenses/mit')).body;
  gantry.setTime(null);
  assert.match(mit.content, /Copyright \(c\) 2031 Ada \$1\n/);
  assert.match(gpl.content, /\n +Engine\n +Copyright \(C\) 2031 {2}Ada\n/);
  assert.match(plain.content, /Copyright \(c\) 2031 \[fullname\]\n/);
  assert.equal((await get('licenses/none')).status, 404);
});
