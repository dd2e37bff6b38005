/** Every field of the application settings takes effect at once when it changes. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { keyRefusal } from '../../../src/identity/keys/rules.ts';
import {
  type SettingName,
  type Settings,
  defaults,
  settingNames,
} from '../../../src/core/settings/fields.ts';
import {
  getFirstBranchProtection,
  isGitProtocolEnabled,
} from '../../../src/core/settings/setting_effects.ts';
import { makeApplication } from '../../support/oauth_client.ts';
import { type SeededUser, seedProject, seedUser, unique } from '../../support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../support/service.ts';
import { sampleKeys } from '../../support/repositories/ssh_keys.ts';
import { type Visitor, openVisitor } from '../../support/visitor.ts';

const password = 'correct horse battery';
const provider = {
  name: 'elsewhere',
  label: 'Elsewhere',
  issuer: 'http://127.0.0.1:9',
  client_id: 'us',
  client_secret: 'ours',
};

let gantry: TestService;
let person: SeededUser;
before(async () => {
  gantry = await startTestService({
    GANTRY_REPOSITORY_STORAGES: 'default,second',
    GANTRY_SIGN_IN_PROVIDERS: JSON.stringify([provider]),
    GANTRY_REGISTRY: 'registry.example.com',
  });
  person = await seedUser(gantry);
});
after(async () => await gantry.close());

const put = async (json: Partial<Settings>): Promise<void> => {
  const { status, text } = await gantry.api('PUT /application/settings', { json });
  assert.equal(status, 200, text);
};
// In this order: a switched-on integration may not lose its address.
beforeEach(async () => {
  await put({ ide_enabled: false, diagram_enabled: false, domain_blacklist_enabled: false });
  await put(defaults);
});

/** Sends a request as a user without administrator rights, unless `as` says otherwise. */
const post = async (path: string, json: object, as = person.token): Promise<Reply> =>
  await gantry.api(`POST ${path}`, { json, as });
const page = async (path: string): Promise<string> => (await openVisitor(gantry).get(path)).text;

const newUser = async (): Promise<{ username: string; id: number }> => {
  const username = unique('acting');
  const json = { username, name: username, email: `${username}@example.com`, password };
  return (await gantry.api('POST /users', { json })).body;
};
const signedIn = async (): Promise<Visitor> => {
  const browser = openVisitor(gantry);
  await browser.signIn((await newUser()).username, password);
  return browser;
};
/** The page of the user's own projects, for a user who has a project. */
const projectsPage = async (): Promise<() => Promise<string>> => {
  const { username, id } = await newUser();
  await gantry.api(`POST /projects/user/${id}`, { json: { name: unique('shown') } });
  const browser = openVisitor(gantry);
  await browser.signIn(username, password);
  return async () => (await browser.get('/')).text;
};
const signUp = async (domain: string): Promise<{ status: number; text: string }> => {
  const username = unique('joining');
  const browser = openVisitor(gantry);
  await browser.get('/users/sign_up');
  const form = { name: username, username, email: `${username}@${domain}`, password };
  return await browser.post('/users/sign_up', form);
};
const passwordGrant = async (username: string): Promise<number> => {
  const body = new URLSearchParams({ grant_type: 'password', username, password });
  return (await fetch(`${gantry.url}/oauth/token`, { method: 'POST', body })).status;
};
const upload = async (bytes: number): Promise<number> => {
  const { id } = await seedProject(gantry);
  const body = new FormData();
  body.append('file', new Blob([Buffer.alloc(bytes)]), 'a.bin');
  const headers = { 'private-token': 'root-token-of-the-tests' };
  return (await fetch(`${gantry.url}/api/v4/projects/${id}/uploads`, { method: 'POST', body, headers }))
    .status;
};
const current = (): Settings => gantry.service.platform.settings.current;

/** Restrictions of keys, on upload and on use. */
const keyCase =
  (name: SettingName, key: keyof typeof sampleKeys, more: number): (() => Promise<void>) =>
  async () => {
    const { text, family, bits } = sampleKeys[key];
    const add = async (): Promise<Reply> => await post('/user/keys', { title: 'mine', key: text });
    const isUsable = (): boolean => keyRefusal(current(), { family, bits }) === null;
    await put({ [name]: more });
    assert.match(JSON.stringify((await add()).body), more === -1 ? /is forbidden/ : /must be at least/);
    assert.equal(isUsable(), false);
    await put({ [name]: -1 });
    assert.match(JSON.stringify((await add()).body), /type is forbidden/);
    assert.equal(isUsable(), false);
    await put({ [name]: 0 });
    assert.equal((await add()).status, 201);
    assert.equal(isUsable(), true);
  };

const visibilityOfNew = async (path: string, more: object): Promise<string> => {
  const { status, body } = await post(path, { name: unique('fresh'), path: unique('fresh'), ...more });
  assert.equal(status, 201, JSON.stringify(body));
  return body.visibility;
};

const addHook = async (url: string): Promise<number> => {
  const { id } = await seedProject(gantry, { owner: person.id });
  return (await post(`/projects/${id}/hooks`, { url })).status;
};

const snippet = { title: 'x', file_name: 'x.txt', content: 'x' };

const acts: Record<SettingName, () => Promise<void>> = {
  default_projects_limit: async () => {
    const existing = await seedUser(gantry);
    await put({ default_projects_limit: 1 });
    const { id, token } = await seedUser(gantry);
    assert.equal((await post('/projects', { name: 'one' }, token)).status, 201);
    assert.equal((await post('/projects', { name: 'two' }, token)).status, 403);
    await put({ default_projects_limit: 2 });
    assert.equal((await post('/projects', { name: 'two' }, token)).status, 403);
    assert.equal((await gantry.api('GET /user', { as: token })).body.projects_limit, 1);
    // Lowering the default takes nothing from existing users.
    await put({ default_projects_limit: 0 });
    assert.equal((await post('/projects', { name: 'one' }, existing.token)).status, 201);
    assert.equal((await gantry.api('POST /projects', { json: { name: unique('of-root') } })).status, 201);
    await gantry.api(`PUT /users/${id}`, { json: { projects_limit: 2 } });
    assert.equal((await post('/projects', { name: 'two' }, token)).status, 201);
  },
  signup_enabled: async () => {
    assert.equal((await signUp('example.com')).status, 303);
    await put({ signup_enabled: false });
    assert.notEqual((await signUp('example.com')).status, 303);
    assert.doesNotMatch(await page('/users/sign_in'), /sign_up/);
  },
  password_authentication_enabled: async () => {
    const { username } = await newUser();
    const browser = openVisitor(gantry);
    await browser.get('/users/sign_in'); // while there is still a form
    assert.equal(await passwordGrant(username), 200);
    await put({ password_authentication_enabled: false });
    assert.equal((await browser.post('/users/sign_in', { login: username, password })).status, 422);
    assert.doesNotMatch(await page('/users/sign_in'), /type="password"/);
    assert.equal(await passwordGrant(username), 400);
    await put({ password_authentication_enabled: true });
    await openVisitor(gantry).signIn(username, password);
  },
  avatar_service_enabled: async () => {
    const project = await seedProject(gantry);
    const made = (await gantry.api(`POST /projects/${project.id}/issues`, { json: { title: 'x' } })).body;
    const shown = async (): Promise<(string | null)[]> => [
      (await gantry.api('GET /user')).body.avatar_url,
      (await gantry.api(`GET /projects/${project.id}/issues`)).body[0].author.avatar_url,
      (await gantry.api(`GET /projects/${project.id}/issues/${made.iid}`)).body.author.avatar_url,
    ];
    const before = await shown();
    for (const url of before) assert.match(String(url), /^http/);
    await put({ avatar_service_enabled: false });
    assert.deepEqual(await shown(), [null, null, null]);
    await put({ avatar_service_enabled: true });
    assert.deepEqual(await shown(), before);
  },
  sign_in_text: async () => {
    await put({ sign_in_text: 'Ask <Maria> & co.' });
    assert.match(await page('/users/sign_in'), /Ask &lt;Maria&gt; &amp; co\./);
  },
  home_page_url: async () => {
    const to = async (): Promise<string | null> => (await openVisitor(gantry).get('/')).location;
    assert.equal(await to(), '/users/sign_in');
    await put({ home_page_url: 'https://example.com/home' });
    assert.equal(await to(), 'https://example.com/home');
    assert.equal((await (await signedIn()).get('/')).status, 200);
  },
  default_branch_protection: async () => {
    const protection = async (level: number) => {
      await put({ default_branch_protection: level });
      return getFirstBranchProtection(current());
    };
    assert.equal(await protection(0), null);
    assert.deepEqual(await protection(1), { push: 'developer', merge: 'master' });
    assert.deepEqual(await protection(2), { push: 'master', merge: 'master' });
  },
  restricted_visibility_levels: async () => {
    const project = await seedProject(gantry, { visibility: 'private', owner: person.id });
    await put({ restricted_visibility_levels: ['public'] });
    const refusal = { visibility_level: ['public has been restricted by your administrator'] };
    for (const [path, more] of [
      ['/projects', { name: 'open' }],
      ['/groups', { name: 'open', path: unique('open') }],
    ] as const) {
      const { status, body } = await post(path, { ...more, visibility: 'public' });
      assert.deepEqual([status, body], [400, { message: refusal }], path);
      const allowed = { name: unique('in'), path: unique('in'), visibility: 'internal' };
      assert.equal((await post(path, allowed)).status, 201);
    }
    assert.equal((await post('/snippets', { ...snippet, visibility: 'public' })).status, 400);
    const edit = { json: { visibility: 'public' }, as: person.token };
    assert.equal((await gantry.api(`PUT /projects/${project.id}`, edit)).status, 400);
    // Administrators may always.
    const json = { name: unique('open'), visibility: 'public' };
    assert.equal((await gantry.api('POST /projects', { json })).status, 201);
  },
  max_attachment_size: async () => {
    const size = 1_200_000;
    assert.equal(await upload(size), 201);
    await put({ max_attachment_size: 1 });
    assert.ok([400, 413].includes(await upload(size)));
    await put({ max_attachment_size: 2 });
    assert.equal(await upload(size), 201);
  },
  session_expire_delay: async () => {
    const browser = await signedIn();
    try {
      gantry.setTime(Date.now() + 61 * 60_000);
      assert.equal((await browser.get('/profile')).status, 200);
      await put({ session_expire_delay: 60 });
      gantry.setTime(Date.now() + 130 * 60_000);
      assert.equal((await browser.get('/profile')).status, 302);
    } finally {
      gantry.setTime(null);
    }
  },
  default_project_visibility: async () => {
    assert.equal(await visibilityOfNew('/projects', {}), 'private');
    await put({ default_project_visibility: 'internal' });
    assert.equal(await visibilityOfNew('/projects', {}), 'internal');
    assert.equal(await visibilityOfNew('/projects', { visibility: 'public' }), 'public');
  },
  default_snippet_visibility: async () => {
    assert.equal(await visibilityOfNew('/snippets', snippet), 'private');
    await put({ default_snippet_visibility: 'internal' });
    assert.equal(await visibilityOfNew('/snippets', snippet), 'internal');
  },
  default_group_visibility: async () => {
    assert.equal(await visibilityOfNew('/groups', {}), 'private');
    await put({ default_group_visibility: 'public' });
    assert.equal(await visibilityOfNew('/groups', {}), 'public');
  },
  domain_whitelist: async () => {
    await put({ domain_whitelist: ['good.example', '*.better.example'] });
    assert.equal((await signUp('good.example')).status, 303);
    assert.equal((await signUp('a.better.example')).status, 303);
    const { status, text } = await signUp('other.example');
    assert.equal(status, 422);
    assert.match(text, /domain is not authorized for sign-up/);
  },
  domain_blacklist_enabled: async () => {
    await put({ domain_blacklist: ['bad.example'] });
    assert.equal((await signUp('bad.example')).status, 303);
    await put({ domain_blacklist_enabled: true, domain_blacklist: ['bad.example'] });
    assert.equal((await signUp('bad.example')).status, 422);
  },
  domain_blacklist: async () => {
    await put({ domain_blacklist_enabled: true, domain_blacklist: ['*.bad.example'] });
    assert.equal((await signUp('a.bad.example')).status, 422);
    assert.equal((await signUp('fine.example')).status, 303);
    await put({ domain_blacklist: ['fine.example'] });
    assert.equal((await signUp('fine.example')).status, 422);
    assert.equal((await signUp('a.bad.example')).status, 303);
  },
  user_oauth_applications: async () => {
    const browser = await signedIn();
    const register = async (): Promise<number> => {
      await browser.get('/profile/applications');
      const form = { name: 'Robot', redirect_uri: 'https://app.example.com/callback', scopes: 'api' };
      return (await browser.post('/profile/applications', form)).status;
    };
    await put({ user_oauth_applications: false });
    assert.ok((await register()) >= 400);
    await put({ user_oauth_applications: true });
    assert.equal(await register(), 200);
    // Administrators register those of the instance in any case.
    await put({ user_oauth_applications: false });
    assert.ok((await makeApplication(gantry)).client_id);
  },
  after_sign_out_path: async () => {
    const out = async (): Promise<string | null> => {
      const browser = await signedIn();
      await browser.get('/');
      return (await browser.post('/users/sign_out')).location;
    };
    assert.equal(await out(), '/users/sign_in');
    await put({ after_sign_out_path: 'https://example.com/bye' });
    assert.equal(await out(), 'https://example.com/bye');
    await put({ after_sign_out_path: '/explore/../bye?from=später#end' });
    assert.equal(await out(), '/bye?from=sp%C3%A4ter#end');
  },
  container_registry_token_expire_delay: async () => {
    const life = async (): Promise<number> => {
      const url = `${gantry.url}/jwt/auth?service=registry.example.com`;
      const { expires_in, token } = (await (await fetch(url)).json()) as {
        expires_in: number;
        token: string;
      };
      const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
      assert.equal(claims.exp - claims.iat, expires_in);
      return expires_in;
    };
    assert.equal(await life(), 300);
    await put({ container_registry_token_expire_delay: 12 });
    assert.equal(await life(), 720);
  },
  repository_storages: async () => {
    const storagesOf = async (count: number): Promise<Set<string>> => {
      const ids = [];
      for (let made = 0; made < count; made += 1) {
        ids.push((await gantry.api('POST /projects', { json: { name: unique('stored') } })).body.id);
      }
      const query = gantry.service.platform.store.db.selectFrom('projects').select('repository_storage');
      const rows = await query.where('id', 'in', ids).execute();
      return new Set(rows.map(({ repository_storage }) => repository_storage));
    };
    assert.deepEqual(await storagesOf(3), new Set(['default']));
    await put({ repository_storages: ['second'] });
    assert.deepEqual(await storagesOf(3), new Set(['second']));
    await put({ repository_storages: ['default', 'second'] });
    // That thirty fair choices are all alike happens once in 500 million.
    assert.deepEqual(await storagesOf(30), new Set(['default', 'second']));
  },
  enabled_git_access_protocol: async () => {
    const enabled = () => (['http', 'ssh'] as const).filter((one) => isGitProtocolEnabled(current(), one));
    assert.deepEqual(enabled(), ['http', 'ssh']);
    await put({ enabled_git_access_protocol: 'ssh' });
    assert.deepEqual(enabled(), ['ssh']);
    await put({ enabled_git_access_protocol: 'http' });
    assert.deepEqual(enabled(), ['http']);
  },
  ide_enabled: async () => {
    const shown = await projectsPage();
    await put({ ide_url: 'https://ide.example.com' });
    assert.doesNotMatch(await shown(), /Open in the IDE/);
    await put({ ide_enabled: true, ide_url: 'https://ide.example.com' });
    assert.match(await shown(), /Open in the IDE/);
  },
  ide_url: async () => {
    const shown = await projectsPage();
    await put({ ide_enabled: true, ide_url: 'https://ide.example.com/open' });
    assert.match(await shown(), /href="https:\/\/ide\.example\.com\/open\?repo=http/);
    await put({ ide_url: 'https://other.example.com' });
    assert.match(await shown(), /href="https:\/\/other\.example\.com\/\?repo=http/);
  },
  disabled_oauth_sign_in_sources: async () => {
    assert.match(await page('/users/sign_in'), /Elsewhere/);
    await put({ disabled_oauth_sign_in_sources: ['elsewhere'] });
    assert.doesNotMatch(await page('/users/sign_in'), /Elsewhere/);
    const browser = openVisitor(gantry);
    await browser.get('/users/sign_in');
    const { status, location } = await browser.post('/users/auth/elsewhere');
    assert.ok(status === 404 || location === '/users/sign_in', `${status} ${location}`);
  },
  diagram_enabled: async () => {
    await put({ diagram_url: 'https://diagrams.example.com' });
    assert.doesNotMatch(await page('/users/sign_in'), /data-diagram-server/);
    await put({ diagram_enabled: true, diagram_url: 'https://diagrams.example.com' });
    assert.match(await page('/users/sign_in'), /data-diagram-server="https:\/\/diagrams\.example\.com"/);
  },
  diagram_url: async () => {
    await put({ diagram_enabled: true, diagram_url: 'https://a.example.com' });
    await put({ diagram_url: 'https://b.example.com' });
    assert.match(await page('/users/sign_in'), /data-diagram-server="https:\/\/b\.example\.com"/);
  },
  terminal_max_session_time: async () => {
    const read = async (): Promise<unknown> =>
      (await gantry.api('GET /application/settings')).body.terminal_max_session_time;
    assert.equal(await read(), 0);
    await put({ terminal_max_session_time: 90 });
    assert.equal(await read(), 90);
  },
  polling_interval_multiplier: async () => {
    const { id } = await seedProject(gantry);
    await gantry.api(`POST /projects/${id}/issues`, { json: { title: 'x' } });
    const hint = async (): Promise<string | null> =>
      (await gantry.api(`GET /projects/${id}/issues/1/notes`)).headers.get('poll-interval');
    assert.equal(await hint(), '10000');
    await put({ polling_interval_multiplier: 1.5 });
    assert.equal(await hint(), '15000');
    await put({ polling_interval_multiplier: 0 });
    assert.equal(await hint(), '-1');
  },
  rsa_key_restriction: keyCase('rsa_key_restriction', 'rsa1024', 2048),
  dsa_key_restriction: keyCase('dsa_key_restriction', 'dsa', 2048),
  ecdsa_key_restriction: keyCase('ecdsa_key_restriction', 'ecdsa256', 384),
  ed25519_key_restriction: keyCase('ed25519_key_restriction', 'ed25519', -1),
  allow_local_requests_from_hooks_and_services: async () => {
    const add = async (): Promise<number> => await addHook('http://127.0.0.1:9/');
    assert.equal(await add(), 422);
    await put({ allow_local_requests_from_hooks_and_services: true });
    assert.equal(await add(), 201);
  },
  outbound_local_requests_whitelist: async () => {
    assert.equal(await addHook('http://10.1.2.3/'), 422);
    await put({ outbound_local_requests_whitelist: ['10.1.0.0/16'] });
    assert.deepEqual([await addHook('http://10.1.2.3/'), await addHook('http://10.2.2.3/')], [201, 422]);
  },
};

describe('each setting takes effect', () => {
  for (const name of settingNames) it(name, acts[name]);
});
