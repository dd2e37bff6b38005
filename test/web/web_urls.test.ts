/**
 * Follows every address of a page that answers of the API contain. The endpoints come from `docs/openapi.json`: each GET
 * whose answer has such a field is asked on a seeded instance. A new one that is not answered needs a record in
 * `seedMore`.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fill } from '../../tools/seed/fill.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { type Visitor, openVisitor } from '../support/visitor.ts';
import { seedRest } from './page_addresses.ts';

const password = 'correct horse';
const person = { name: 'A Person', password };
const key =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ6qnwOFqfCbZ0r2cPuHEeLkxKrBCQ7vhHyGzZVEAmvb key@example.com';
const project = `/projects/${encodeURIComponent('workshop/bridge')}`;

type Schema = { [key: string]: unknown };

let gantry: TestService;

/** Creates a record for each endpoint of which neither the seed nor `seedRest` creates one. */
const seedMore = async (): Promise<void> => {
  const send = async (line: string, json: object = {}): Promise<{ id: number }> => {
    const { status, text, body } = await gantry.api(line, { json });
    assert.equal(status, 201, `${line}: ${text}`);
    return body;
  };
  const { body: branch } = await gantry.api(`GET ${project}/repository/branches/main`);
  const sha: string = branch.commit.id;
  const deployed = { environment: 'production', sha, ref: 'main', tag: false, status: 'success' };
  await send(`POST ${project}/deployments`, deployed);
  await send(`POST ${project}/statuses/${sha}`, { state: 'success', name: 'outside' });
  await send(`POST ${project}/repository/commits/${sha}/comments`, { note: 'Fine' });
  await send(`POST ${project}/triggers`, { description: 'Nightly' });
  await send(`POST ${project}/fork`, { namespace_path: 'root' });
  await send(`POST ${project}/releases/v1.0/assets/links`, { name: 'Book', url: 'https://example.com/book' });
  const { id: guest } = await send('POST /users', { ...person, username: 'guest', email: 'g@example.com' });
  await send(`POST ${project}/members`, { user_id: guest, access_level: 20 });
  await send('POST /users', { ...person, username: 'chief', email: 'chief@example.com', admin: true });
  const snippet = { title: 'Own', file_name: 'a.txt', content: 'a', visibility: 'private' };
  for (const sudo of ['ada', 'chief'])
    await gantry.api('POST /snippets', { json: snippet, headers: { sudo } });
  await send('POST /applications', { name: 'App', redirect_uri: 'https://example.com', scopes: 'api' });
  await send('POST /user/keys', { title: 'Key', key });
  const { body: milestones } = await gantry.api(`GET ${project}/milestones`);
  const changes = [
    { state_event: 'close' },
    { milestone_id: 0 },
    { milestone_id: milestones[0].id },
    { labels: 'bug,seen' },
  ];
  const [spanned] = (await gantry.api(`GET ${project}/snippets`)).body;
  const noted = [`${project}/issues/1`, `${project}/merge_requests/2`];
  for (const one of noted)
    for (const json of changes) assert.equal((await gantry.api(`PUT ${one}`, { json })).status, 200);
  // Before the notes, as it writes some itself: the newest note has a reaction.
  const linked = { target_project_id: 'workshop/bridge', target_issue_iid: 2 };
  await gantry.api(`POST ${project}/issues/1/links`, { json: linked });
  for (const one of [...noted, `${project}/snippets/${spanned.id}`]) {
    const note = await send(`POST ${one}/notes`, { body: 'Look at this, @ada' });
    await send(`POST ${one}/award_emoji`, { name: 'tada' });
    await send(`POST ${one}/notes/${note.id}/award_emoji`, { name: 'tada' });
  }
  await send('POST /groups/workshop/boards', { name: 'Plan' });
  const [board] = (await gantry.api('GET /groups/workshop/boards')).body;
  const label = await send('POST /groups/workshop/labels', { name: 'planned', color: '#112233' });
  await send(`POST /groups/workshop/boards/${board.id}/lists`, { label_id: label.id });
  await send(`POST ${project}/merge_requests/2/draft_notes`, { note: 'A draft' });
};

before(async () => {
  gantry = await startTestService();
  await fill({ url: gantry.url, token: rootToken, password });
  await seedRest(gantry);
  await seedMore();
  await settle(gantry);
});
after(async () => await gantry.close());

const openApi = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8')) as {
  paths: Record<string, { get?: { responses: Record<string, Schema> } }>;
  components: Schema;
};

/** A field `url` alone is an address that users gave, such as that of a webhook. */
const isPageField = (name: string): boolean =>
  /_url$|^_links$|^(?:tag|commit)_path$/.test(name) && name !== 'avatar_url';

/** Checks whether an answer may contain the address of a page. */
const hasAddress = (schema: unknown, depth = 0): boolean => {
  if (typeof schema !== 'object' || schema === null || depth > 30) return false;
  const { $ref: reference, properties = {}, ...others } = schema as Schema;
  if (typeof reference === 'string') {
    const found = reference
      .split('/')
      .slice(2)
      .reduce<unknown>((at, part) => (at as Schema)[part], openApi.components);
    return hasAddress(found, depth + 1);
  }
  const fields = Object.entries(properties as Schema);
  if (fields.some(([name, field]) => isPageField(name) || hasAddress(field, depth + 1))) return true;
  return Object.values(others).some((one) => hasAddress(one, depth + 1));
};

const endpoints = Object.entries(openApi.paths)
  .filter(([, { get }]) => hasAddress(get?.responses['200']?.['content']))
  .map(([path]) => path);

/** What is asked of other tests: there is no record of it here, or its addresses are none of pages. */
const left: readonly RegExp[] = [
  /^\/job$/, // for tokens of jobs
  /\/hooks|\/badges/, // addresses of others
  /^\/templates\/|\/templates\/licenses/, // addresses of others
  /\/resource_groups\//,
  /^\/keys$/, // needs a fingerprint
  /\/pipelines\/\{pipeline_id\}\/bridges$/,
];

/** What only administrators may ask. */
const ofAdmins: readonly RegExp[] = [
  /^\/applications$/,
  /^\/keys/,
  /^\/snippets\/all$/,
  /^\/runners\//,
  /^\/application\/settings$/,
];

/** Property of an entry of a list that the parameter after the list takes, where it is not the id. */
const keys: Record<string, string> = {
  issue_iid: 'iid',
  merge_request_iid: 'iid',
  branch: 'name',
  key: 'key',
  issue_link_id: 'issue_link_id',
};

const knownValues: Record<string, string> = {
  '/projects/{id}': encodeURIComponent('workshop/bridge'),
  '/groups/{id}': 'workshop',
  '/projects/{id}/repository/files/{file_path}': encodeURIComponent('src/span.js'),
  '/projects/{id}/repository/tags/{tag_name}': 'v1.0',
  '/projects/{id}/releases/{tag_name}': 'v1.0',
  '/projects/{id}/repository/commits/{sha}': 'main',
  '/keys/{id}': '1',
  '/runners/{id}': '1',
  '/projects/{id}/issues/{issue_iid}': '1',
  '/projects/{id}/merge_requests/{merge_request_iid}': '2',
};

const queries: Record<string, string> = {
  '/projects/{id}/repository/compare': 'from=v1.0&to=handrails',
  '/issues': 'scope=all',
  '/merge_requests': 'scope=all',
  '/projects/{id}/pipelines': '',
  '/projects/{id}/repository/merge_base': 'refs[]=main&refs[]=handrails',
  '/search': 'scope=merge_requests&search=the',
  '/groups/{id}/search': 'scope=projects&search=bridge',
  '/groups/{id}/-/search': 'scope=issues&search=the',
  '/projects/{id}/search': 'scope=milestones&search=a',
  '/projects/{id}/-/search': 'scope=commits&search=add',
};

type Ask = (path: string) => Promise<{ status: number; body: unknown }>;

/** An entry of a list, as far as paths need it. */
type Listed = Record<string, string | number>;

/** Asks the list before a parameter; the notes of a discussion are within it. */
const loadList = async (ask: Ask, path: string): Promise<Listed[]> => {
  const { body } = await ask(path);
  if (Array.isArray(body)) return body as Listed[];
  const [, above = '', name = ''] = /^(.*)\/(\w+)$/.exec(path) ?? [];
  const within = ((await ask(above)).body as Schema | undefined)?.[name];
  return Array.isArray(within) ? (within as Listed[]) : [];
};

/** Replaces the parameters of a path by records of the lists before them; null: a list is empty. */
const fillPath = async (ask: Ask, declared: string): Promise<string | null> => {
  let [path, soFar] = ['', ''];
  for (const segment of declared.split('/').slice(1)) {
    soFar += `/${segment}`;
    const [, name] = /^\{(\w+)\}$/.exec(segment) ?? [];
    if (name === undefined) path += `/${segment}`;
    else {
      const [first] = knownValues[soFar] === undefined ? await loadList(ask, path) : [];
      const value = knownValues[soFar] ?? first?.[keys[name] ?? 'id'];
      if (value === undefined) return null;
      path += `/${value}`;
    }
  }
  return path;
};

/** Collects `[field, address]` of all fields that contain addresses. */
const collect = (value: unknown, name: string, into: Map<string, string>): void => {
  if (typeof value === 'string') {
    const url = isPageField(name) ? URL.parse(value, gantry.url) : null;
    // Addresses of repositories are for git.
    if (url?.origin === gantry.url && name !== 'http_url_to_repo') into.set(url.href, name);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, one] of Object.entries(value)) {
    // The names within `_links` are those of targets.
    collect(one, name === '_links' || Array.isArray(value) ? name : key, into);
  }
};

/** The same page of other records. */
const shapeOf = (address: string): string => address.replaceAll(/\/(?:\d+|[0-9a-f]{40})(?=[/?#]|$)/g, '/0');

const perShape = 2;

/** Takes a few addresses of each page. */
const choose = (addresses: Iterable<string>): string[] => {
  const counts = new Map<string, number>();
  return [...addresses].filter((address) => {
    const shape = shapeOf(address);
    counts.set(shape, (counts.get(shape) ?? 0) + 1);
    return (counts.get(shape) ?? 0) <= perShape;
  });
};

const follow = async (visitor: Visitor, address: string): Promise<number> => {
  let path = address.slice(gantry.url.length).split('#')[0] ?? '';
  for (let step = 0; step < 4; step += 1) {
    const { status, location } = await visitor.get(path);
    if (location === null || location.startsWith('/users/sign_in')) return status;
    path = location.replace(gantry.url, '');
  }
  return 310;
};

type Found = { addresses: Map<string, string>; unanswered: string[] };

/** @param others endpoints to leave out */
const askAll = async (username: string, others: readonly RegExp[]): Promise<Found> => {
  const ask: Ask = async (path) => await gantry.api(`GET ${path}`, { headers: { sudo: username } });
  const [addresses, unanswered] = [new Map<string, string>(), [] as string[]];
  const out = [...left, ...others];
  for (const declared of endpoints.filter((one) => !out.some((pattern) => pattern.test(one)))) {
    const path = await fillPath(ask, declared);
    const query = queries[declared] ?? 'ref=main';
    const { status, body } = path === null ? { status: 0, body: null } : await ask(`${path}?${query}`);
    if (status !== 200) unanswered.push(`${declared}: ${status}`);
    collect(body, '', addresses);
  }
  return { addresses, unanswered };
};

const wrongIn = async (username: string, addresses: Map<string, string>): Promise<string[]> => {
  const visitor = openVisitor(gantry);
  await visitor.signIn(username, password);
  const wrong: string[] = [];
  for (const address of choose(addresses.keys())) {
    const isApi = address.startsWith(`${gantry.url}/api/`);
    const status = isApi
      ? (await gantry.api(`GET ${address.slice(`${gantry.url}/api/v4`.length)}`)).status
      : await follow(visitor, address);
    if (status !== 200)
      wrong.push(`${addresses.get(address)}: ${address.slice(gantry.url.length)}: ${status}`);
  }
  return wrong;
};

test('every address of a page that members are told answers', async () => {
  const { addresses, unanswered } = await askAll('ada', ofAdmins);
  assert.deepEqual(unanswered, []);
  assert.ok(addresses.size > 60, `${addresses.size} addresses`);
  assert.deepEqual(await wrongIn('ada', addresses), []);
});

test('every address of a page that administrators are told answers', async () => {
  const { addresses, unanswered } = await askAll('chief', []);
  assert.deepEqual(unanswered, []);
  assert.deepEqual(await wrongIn('chief', addresses), []);
});
