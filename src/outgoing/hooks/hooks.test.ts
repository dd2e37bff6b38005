/** Records of hooks over the API. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedGroup, seedProject, seedUser } from '../../../test/support/seed.ts';
import { interpolateUrl, unsealValues } from './secrets.ts';
import { localUrls } from '../../../test/support/local_urls.ts';
import { type Reply, type TestService, startTestService } from '../../../test/support/service.ts';

const url = 'https://hooks.example.com/a/../b?token={secret}&x=%20#part';

let gantry: TestService;
let project: string;
before(async () => {
  gantry = await startTestService();
  project = `/projects/${(await seedProject(gantry)).id}/hooks`;
});
after(async () => await gantry.close());

const post = async (json: object, path = project): Promise<Reply> =>
  await gantry.api(`POST ${path}`, { json });
const put = async (id: number, json: object): Promise<Reply> =>
  await gantry.api(`PUT ${project}/${id}`, { json });
const sealed = async (id: number) =>
  await gantry.service.platform.store.db
    .selectFrom('hooks')
    .select(['sealed_token', 'sealed_custom_headers', 'sealed_url_variables'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

describe('hooks of a project', () => {
  it('answers every field, the URL unchanged, and no secret', async () => {
    const { status, body, text } = await post({
      url,
      name: 'Builds',
      description: 'Starts builds',
      token: 'very-secret',
      push_events: false,
      note_events: true,
      confidential_note_events: true,
      push_events_branch_filter: 'release/*',
      url_variables: [{ key: 'secret', value: 'hidden-value' }],
      custom_headers: [{ key: 'X-Key', value: 'hidden-header' }],
      custom_webhook_template: '{"kind": "{{object_kind}}"}',
      vulnerability_events: true,
    });
    assert.equal(status, 201, text);
    const { id, created_at, project_id, ...rest } = body;
    assert.equal(typeof id, 'number');
    assert.equal(project, `/projects/${project_id}/hooks`);
    assert.match(created_at, /^\d{4}-/);
    assert.deepEqual(rest, {
      url,
      name: 'Builds',
      description: 'Starts builds',
      push_events: false,
      tag_push_events: false,
      issues_events: false,
      confidential_issues_events: false,
      merge_requests_events: false,
      note_events: true,
      confidential_note_events: true,
      job_events: false,
      pipeline_events: false,
      wiki_page_events: false,
      deployment_events: false,
      releases_events: false,
      member_events: false,
      emoji_events: false,
      feature_flag_events: false,
      repository_update_events: false,
      enable_ssl_verification: true,
      push_events_branch_filter: 'release/*',
      branch_filter_strategy: 'wildcard',
      alert_status: 'executable',
      disabled_until: null,
      url_variables: [{ key: 'secret' }],
      custom_headers: [{ key: 'X-Key' }],
      custom_webhook_template: '{"kind": "{{object_kind}}"}',
      format: 'json',
    });
    assert.doesNotMatch(text, /very-secret|hidden/);
    assert.deepEqual((await gantry.api(`GET ${project}/${id}`)).body, body);
    assert.deepEqual((await gantry.api(`GET ${project}`)).body.at(-1), body);
    assert.doesNotMatch(JSON.stringify(await sealed(id)), /very-secret|hidden/);
  });

  it('a hook receives pushes by default', async () => {
    const { body } = await post({ url: 'https://hooks.example.com' });
    assert.deepEqual(
      [body.push_events, body.issues_events, body.enable_ssl_verification],
      [true, false, true],
    );
  });

  it('hooks are created by forms with nested fields', async () => {
    const form = new URLSearchParams([
      ['url', 'https://hooks.example.com/{path}'],
      ['url_variables[][key]', 'path'],
      ['url_variables[][value]', 'x'],
    ]).toString();
    const { status, body } = await gantry.api(`POST ${project}`, { form });
    assert.deepEqual([status, body.url_variables], [201, [{ key: 'path' }]]);
  });

  it('keeps on an edit what it does not name', async () => {
    const { body } = await post({ url: 'https://hooks.example.com/1', token: 'x', issues_events: true });
    const edited = await put(body.id, { url: 'https://hooks.example.com/2', push_events: false });
    assert.deepEqual(edited.body, { ...body, url: 'https://hooks.example.com/2', push_events: false });
    assert.notEqual((await sealed(body.id)).sealed_token, null);
  });

  it('drops secrets when the URL leads to another host', async () => {
    const secrets = { token: 'x', custom_headers: [{ key: 'X-Key', value: 'y' }] };
    const { body } = await post({ url: 'https://hooks.example.com/1', ...secrets });
    await put(body.id, { url: 'https://other.example.com/1' });
    const { sealed_token, sealed_custom_headers } = await sealed(body.id);
    assert.deepEqual([sealed_token, sealed_custom_headers], [null, null]);
    await put(body.id, { url: 'https://third.example.com/1', token: 'new' });
    assert.notEqual((await sealed(body.id)).sealed_token, null);
  });

  it('drops secrets when a variable leads to another host', async () => {
    const variables = [{ key: 'host', value: 'hooks' }];
    const { body } = await post({
      url: 'https://{host}.example.com/',
      token: 'x',
      url_variables: variables,
    });
    assert.equal((await put(body.id, { url_variables: [{ key: 'host', value: 'other' }] })).status, 200);
    assert.equal((await sealed(body.id)).sealed_token, null);
  });

  it('keeps the values of headers and variables that are sent without one', async () => {
    const { body } = await post({
      url: 'https://hooks.example.com/{path}',
      url_variables: [{ key: 'path', value: 'x' }],
      custom_headers: [{ key: 'X-Key', value: 'y' }],
    });
    const before = await sealed(body.id);
    const { url_variables, custom_headers } = body;
    const kept = await put(body.id, { url_variables, custom_headers });
    assert.deepEqual(kept.body, body);
    const values = (row: Awaited<ReturnType<typeof sealed>>) => [
      unsealValues(gantry.service.platform, row.sealed_url_variables),
      unsealValues(gantry.service.platform, row.sealed_custom_headers),
    ];
    assert.deepEqual(values(await sealed(body.id)), values(before));
    assert.equal((await put(body.id, { custom_headers: [{ key: 'X-Other' }] })).status, 422);
    const moved = { url: 'https://other.example.com/', url_variables: [] };
    assert.equal((await put(body.id, { ...moved, custom_headers })).status, 422);
    assert.equal((await put(body.id, { ...moved, custom_headers: [] })).status, 200);
  });

  it('does not send the values of variables to another host', async () => {
    const { body } = await post({
      url: 'https://hooks.example.com/{path}',
      url_variables: [{ key: 'path', value: 'x' }],
    });
    assert.equal((await put(body.id, { url: 'https://other.example.com/{path}' })).status, 422);
    const moved = await put(body.id, { url: 'https://other.example.com/' });
    assert.deepEqual([moved.status, moved.body.url_variables], [200, []]);
  });

  it('a deleted hook gets 404', async () => {
    const { id } = (await post({ url: 'https://hooks.example.com' })).body;
    assert.equal((await gantry.api(`DELETE ${project}/${id}`)).status, 204);
    assert.equal((await gantry.api(`GET ${project}/${id}`)).status, 404);
    assert.equal((await gantry.api(`DELETE ${project}/${id}`)).status, 404);
  });

  it('a hook gets 404 in another project', async () => {
    const { id } = (await post({ url: 'https://hooks.example.com' })).body;
    const other = await seedProject(gantry);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const options = method === 'PUT' ? { json: {} } : {};
      const { status } = await gantry.api(`${method} /projects/${other.id}/hooks/${id}`, options);
      assert.equal(status, 404);
    }
  });
});

describe('invalid hooks', () => {
  const refused: [string, object][] = [
    ['no scheme', { url: 'hooks.example.com' }],
    ['another scheme', { url: 'ftp://hooks.example.com' }],
    ['a script', { url: 'javascript:alert(1)' }],
    ['a blank in the URL', { url: 'https://hooks.example.com/ x' }],
    ['loopback by a variable', { url: 'http://{h}/', url_variables: [{ key: 'h', value: '127.0.0.1' }] }],
    ...localUrls.map((one): [string, object] => [one, { url: one }]),
    ['a header with a line end', { custom_headers: [{ key: 'X-A', value: 'a\r\nb: c' }] }],
    ['a reserved header', { custom_headers: [{ key: 'Host', value: 'a' }] }],
    ['headers that are no list', { custom_headers: 'x' }],
    ['a variable without a value', { url_variables: [{ key: 'a' }] }],
    ['a template that is not JSON', { custom_webhook_template: '{"a": {{b}' }],
    ['a token with a line end', { token: 'a\nb' }],
    ['a broken pattern', { branch_filter_strategy: 'regex', push_events_branch_filter: '(' }],
  ];
  for (const [name, more] of refused) {
    it(`refuses ${name}`, async () => {
      const { status, text } = await post({ url: 'https://hooks.example.com', ...more });
      assert.equal(status, 422, text);
    });
  }

  it('replaces only the names of its own variables', () => {
    const address = 'https://a.test/{constructor}/{b}';
    assert.equal(interpolateUrl(address, { b: 'c' }), 'https://a.test/{constructor}/c');
  });

  it('a hook without a URL is refused', async () => {
    assert.equal((await post({})).status, 400);
    assert.equal((await post({ url: ' ' })).status, 400);
  });
});

describe('hooks of groups and of the instance', () => {
  it('hooks of a group belong to it alone', async () => {
    const group = await seedGroup(gantry);
    const { status, body } = await post({ url, member_events: true }, `/groups/${group.id}/hooks`);
    assert.deepEqual(
      [status, body.group_id, body.member_events, 'project_id' in body],
      [201, group.id, true, false],
    );
    assert.equal((await gantry.api(`GET /groups/${group.id}/hooks`)).body.length, 1);
    assert.equal((await gantry.api(`GET /projects/${(await seedProject(gantry)).id}/hooks`)).body.length, 0);
  });

  it('of the instance have the flags of system hooks', async () => {
    const { status, body } = await post({ url, issues_events: true, push_events: true }, '/hooks');
    assert.equal(status, 201);
    assert.deepEqual(
      [body.push_events, body.repository_update_events, body.issues_events],
      [true, true, undefined],
    );
    const { token } = await seedUser(gantry);
    assert.equal((await gantry.api('GET /hooks', { as: token })).status, 403);
    assert.equal((await gantry.api('GET /hooks')).body.length, 1);
  });
});
