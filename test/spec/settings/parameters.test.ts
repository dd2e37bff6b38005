/** API document, "Application settings": the record and its parameters. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { seedUser } from '../../support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../support/service.ts';

let gantry: TestService;
before(async () => void (gantry = await startTestService({ GANTRY_REPOSITORY_STORAGES: 'default,second' })));
after(async () => await gantry.close());

const usual = {
  default_projects_limit: 100_000,
  signup_enabled: true,
  password_authentication_enabled: true,
  avatar_service_enabled: true,
  sign_in_text: null,
  home_page_url: null,
  default_branch_protection: 2,
  restricted_visibility_levels: [],
  max_attachment_size: 10,
  session_expire_delay: 10_080,
  default_project_visibility: 'private',
  default_snippet_visibility: 'private',
  default_group_visibility: 'private',
  domain_whitelist: [],
  domain_blacklist_enabled: false,
  domain_blacklist: [],
  user_oauth_applications: true,
  after_sign_out_path: null,
  container_registry_token_expire_delay: 5,
  repository_storages: ['default'],
  enabled_git_access_protocol: null,
  ide_enabled: false,
  ide_url: null,
  disabled_oauth_sign_in_sources: [],
  diagram_enabled: false,
  diagram_url: null,
  terminal_max_session_time: 0,
  polling_interval_multiplier: 1,
  rsa_key_restriction: 0,
  dsa_key_restriction: 0,
  ecdsa_key_restriction: 0,
  ed25519_key_restriction: 0,
};

/** Settings beyond the document. */
const additional = {
  allow_local_requests_from_hooks_and_services: false,
  outbound_local_requests_whitelist: [],
};

const path = '/application/settings';
const put = async (json: object): Promise<Reply> => await gantry.api(`PUT ${path}`, { json });
const kept = async (): Promise<Record<string, unknown>> => (await gantry.api(`GET ${path}`)).body;
/** Those of the record that a test speaks of. */
const fieldsOf = async (json: object): Promise<object> => {
  const record = await kept();
  return Object.fromEntries(Object.keys(json).map((name) => [name, record[name]]));
};

// In this order: a switched-on integration may not lose its address.
afterEach(async () => {
  await put({ ide_enabled: false, diagram_enabled: false, domain_blacklist_enabled: false });
  await put(usual);
});

describe('GET /application/settings', () => {
  it('answers the one record: all fields of the document, with their defaults, and our additions', async () => {
    const { status, body } = await gantry.api(`GET ${path}`);
    const { id, created_at, updated_at, ...rest } = body;
    assert.deepEqual([status, id, rest], [200, 1, { ...usual, ...additional }]);
    for (const time of [created_at, updated_at]) assert.match(time, /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
    assert.equal(Object.keys(body).length, 37);
  });
});

describe('administrators only', () => {
  for (const line of [`GET ${path}`, `PUT ${path}`]) {
    it(`${line}: 401 without a token, 403 for a user, 403 under sudo as a user`, async () => {
      const user = await seedUser(gantry);
      const replies = await Promise.all([
        gantry.api(line, { as: null }),
        gantry.api(line, { as: user.token }),
        gantry.api(line, { headers: { sudo: user.username } }),
      ]);
      assert.deepEqual(
        replies.map(({ status, body }) => [status, body.message]),
        [
          [401, '401 Unauthorized'],
          [403, '403 Forbidden'],
          [403, '403 Forbidden'],
        ],
      );
    });
  }

  it('a refused PUT changes nothing', async () => {
    const user = await seedUser(gantry);
    await gantry.api(`PUT ${path}?signup_enabled=false`, { as: user.token });
    assert.deepEqual(await fieldsOf(usual), usual);
  });
});

describe('PUT /application/settings', () => {
  const others = {
    default_projects_limit: 3,
    signup_enabled: false,
    password_authentication_enabled: false,
    avatar_service_enabled: false,
    sign_in_text: 'Welcome,\nall',
    home_page_url: 'https://example.com/home',
    default_branch_protection: 1,
    restricted_visibility_levels: ['public', 'internal'],
    max_attachment_size: 20,
    session_expire_delay: 60,
    default_project_visibility: 'internal',
    default_snippet_visibility: 'public',
    default_group_visibility: 'public',
    domain_whitelist: ['example.com', '*.example.org'],
    domain_blacklist_enabled: true,
    domain_blacklist: ['bad.example'],
    user_oauth_applications: false,
    after_sign_out_path: 'https://example.com/bye',
    container_registry_token_expire_delay: 7,
    repository_storages: ['default', 'second'],
    enabled_git_access_protocol: 'ssh',
    ide_enabled: true,
    ide_url: 'https://ide.example.com',
    disabled_oauth_sign_in_sources: ['github', 'twitter'],
    diagram_enabled: true,
    diagram_url: 'http://diagrams.example.com',
    terminal_max_session_time: 30,
    polling_interval_multiplier: 1.5,
    rsa_key_restriction: 2048,
    dsa_key_restriction: -1,
    ecdsa_key_restriction: 384,
    ed25519_key_restriction: 256,
  };

  it('sets every parameter, answers the whole record, and keeps it', async () => {
    const { status, body } = await put(others);
    assert.equal(status, 200);
    assert.deepEqual(await kept(), body);
    assert.deepEqual(await fieldsOf(others), others);
    assert.equal(Object.keys(body).length, 37);
  });

  it('takes them from the query and from a form, too', async () => {
    const query = await gantry.api(
      `PUT ${path}?default_projects_limit=9&restricted_visibility_levels[]=public`,
    );
    assert.equal(query.status, 200);
    const form = 'repository_storages[]=second&terminal_max_session_time=5&signup_enabled=0';
    assert.equal((await gantry.api(`PUT ${path}`, { form })).status, 200);
    const wanted = {
      default_projects_limit: 9,
      restricted_visibility_levels: ['public'],
      repository_storages: ['second'],
      terminal_max_session_time: 5,
      signup_enabled: false,
    };
    assert.deepEqual(await fieldsOf(wanted), wanted);
  });

  it('is partial: absent fields stay, and no parameter at all is 200', async () => {
    await put({ max_attachment_size: 11, sign_in_text: 'Hello' });
    await put({ max_attachment_size: 12 });
    const { status, body } = await put({});
    assert.deepEqual([status, body.max_attachment_size, body.sign_in_text], [200, 12, 'Hello']);
  });

  it('is atomic: one invalid value and nothing changes', async () => {
    const { status } = await put({
      signup_enabled: false,
      max_attachment_size: 0,
      default_projects_limit: 1,
    });
    assert.equal(status, 400);
    assert.deepEqual(await fieldsOf(usual), usual);
  });

  it('updated_at rises with a change, and with nothing else', async () => {
    const first = (await put({ max_attachment_size: 13 })).body.updated_at;
    assert.equal((await put({ max_attachment_size: 13 })).body.updated_at, first);
    const later = (await put({ max_attachment_size: 14 })).body;
    assert.ok(later.updated_at > first && later.created_at < first);
  });

  it('null and an empty text clear texts and lists; enabled_git_access_protocol also takes nil', async () => {
    await put(others);
    const cleared = {
      sign_in_text: null,
      home_page_url: '',
      after_sign_out_path: null,
      restricted_visibility_levels: null,
      domain_whitelist: '',
      enabled_git_access_protocol: 'nil',
    };
    assert.equal((await put(cleared)).status, 200);
    assert.deepEqual(await fieldsOf(cleared), {
      sign_in_text: null,
      home_page_url: null,
      after_sign_out_path: null,
      restricted_visibility_levels: [],
      domain_whitelist: [],
      enabled_git_access_protocol: null,
    });
    await put({ enabled_git_access_protocol: 'ssh' });
    assert.equal((await put({ enabled_git_access_protocol: '' })).body.enabled_git_access_protocol, null);
  });

  it('the domain lists are split at commas, semicolons, blanks and line ends', async () => {
    await put({ domain_whitelist: 'A.example, b.example;c.example\n*.d.example  a.example' });
    const domain_whitelist = ['a.example', 'b.example', 'c.example', '*.d.example'];
    assert.deepEqual(await fieldsOf({ domain_whitelist }), { domain_whitelist });
    const many = Array.from({ length: 1000 }, (_, number) => `${number}.example.com`);
    await put({ domain_whitelist: many.join(', ') });
    assert.deepEqual(await fieldsOf({ domain_whitelist: many }), { domain_whitelist: many });
    for (const wrong of [[...many, 'x.example'].join(' '), `a.example ${'x'.repeat(256)}`]) {
      const { status, body } = await put({ domain_whitelist: wrong });
      assert.equal(status, 400);
      assert.match(
        body.message.domain_whitelist[0],
        /^is too long \(maximum is (?:1000 values|255 characters)\)$/,
      );
    }
  });

  it('accepts the names that older clients use, and answers the document’s alone', async () => {
    const { status, body } = await put({
      gravatar_enabled: false,
      signin_enabled: false,
      koding_enabled: true,
      koding_url: 'https://ide.example.com',
      plantuml_enabled: true,
      plantuml_url: 'https://diagrams.example.com',
    });
    assert.equal(status, 200);
    const { avatar_service_enabled, password_authentication_enabled, ide_enabled, ide_url } = body;
    assert.deepEqual(
      [avatar_service_enabled, password_authentication_enabled, ide_enabled, ide_url, body.diagram_enabled],
      [false, false, true, 'https://ide.example.com', true],
    );
    assert.equal(body.diagram_url, 'https://diagrams.example.com');
    assert.ok(!('koding_url' in body || 'gravatar_enabled' in body || 'plantuml_url' in body));
  });

  const wrong: [field: string, value: unknown, text: string][] = [
    ['default_projects_limit', 'many', 'is invalid'],
    ['default_projects_limit', -1, 'must be greater than or equal to 0'],
    ['signup_enabled', 'perhaps', 'is invalid'],
    ['home_page_url', 'example.com', 'must be a valid URL'],
    ['home_page_url', 'javascript:alert(1)', 'must be a valid URL'],
    ...[
      'users',
      '//evil.example',
      '/\\evil.example',
      '/.//evil.example',
      '/a b',
      '/a\tb',
      '/a\nb',
      '\\a',
    ].map((path): [string, string, string] => ['after_sign_out_path', path, 'must be a valid URL']),
    ['home_page_url', '/explore', 'must be a valid URL'],
    ['home_page_url', 'https://example.com/\nx', 'must be a valid URL'],
    ['default_branch_protection', 4, 'does not have a valid value'],
    ['restricted_visibility_levels', ['secret'], "'secret' is not a valid visibility level"],
    ['max_attachment_size', 0, 'must be greater than 0'],
    ['session_expire_delay', -1, 'must be greater than or equal to 0'],
    ['default_project_visibility', 'secret', 'does not have a valid value'],
    ['default_snippet_visibility', 'secret', 'does not have a valid value'],
    ['default_group_visibility', 'secret', 'does not have a valid value'],
    ['container_registry_token_expire_delay', 0, 'must be greater than 0'],
    ['repository_storages', ['foo', 'default', 'bar'], "can't include: foo, bar"],
    ['repository_storages', [], "can't be blank"],
    ['enabled_git_access_protocol', 'ftp', 'does not have a valid value'],
    ['disabled_oauth_sign_in_sources', ['x'.repeat(256)], 'is too long (maximum is 255 characters)'],
    ['diagram_url', 'ftp://example.com', 'must be a valid URL'],
    ['terminal_max_session_time', -1, 'must be greater than or equal to 0'],
    ['polling_interval_multiplier', -0.5, 'must be greater than or equal to 0'],
    ['polling_interval_multiplier', 'often', 'is invalid'],
    [
      'rsa_key_restriction',
      256,
      'must be forbidden, allowed, or one of these sizes: 1024, 2048, 3072, or 4096',
    ],
    ['dsa_key_restriction', 4096, 'must be forbidden, allowed, or one of these sizes: 1024, 2048, or 3072'],
    ['ecdsa_key_restriction', 1, 'must be forbidden, allowed, or one of these sizes: 256, 384, or 521'],
    ['ed25519_key_restriction', 512, 'must be forbidden, allowed, or one of these sizes: 256'],
  ];
  for (const [field, value, text] of wrong) {
    it(`${field}=${JSON.stringify(value)} is refused: ${text}`, async () => {
      const { status, body } = await put({ [field]: value });
      assert.deepEqual([status, body], [400, { message: { [field]: [text] } }]);
      assert.deepEqual(await fieldsOf(usual), usual);
    });
  }

  for (const value of [
    '/',
    '/bye',
    '/users/sign_in?from=a#b',
    '/sp%C3%A4ter',
    '/später',
    'http://a.example',
  ]) {
    it(`after_sign_out_path=${value} is taken: a path, or a URL`, async () => {
      assert.equal((await put({ after_sign_out_path: value })).status, 200);
      assert.deepEqual(await fieldsOf({ after_sign_out_path: value }), { after_sign_out_path: value });
    });
  }

  it('all four kinds of keys cannot be forbidden at once', async () => {
    const kinds = ['rsa', 'dsa', 'ecdsa', 'ed25519'].map((kind) => [`${kind}_key_restriction`, -1]);
    const { status, body } = await put(Object.fromEntries(kinds));
    assert.deepEqual([status, body], [400, { message: { allowed_key_types: ["can't be blank"] } }]);
    assert.equal((await put(Object.fromEntries(kinds.slice(1)))).status, 200);
    assert.equal((await put({ rsa_key_restriction: -1 })).status, 400);
  });

  for (const [flag, needed, value] of [
    ['ide_enabled', 'ide_url', 'https://ide.example.com'],
    ['diagram_enabled', 'diagram_url', 'https://diagrams.example.com'],
    ['domain_blacklist_enabled', 'domain_blacklist', ['bad.example']],
  ] as const) {
    it(`${needed} is required in a request whose ${flag} is true, also where it is stored`, async () => {
      const missing = await put({ [flag]: true });
      assert.deepEqual(
        [missing.status, missing.body],
        [400, { message: `400 (Bad request) "${needed}" not given` }],
      );
      const blank = flag.startsWith('domain')
        ? 'Domain blacklist cannot be empty if Blacklist is enabled.'
        : "can't be blank";
      const reply = await put({ [flag]: true, [needed]: '' });
      assert.deepEqual([reply.status, reply.body], [400, { message: { [needed]: [blank] } }]);
      assert.equal((await put({ [flag]: true, [needed]: value })).status, 200);
      // While the switch is on, its requirements cannot be removed.
      assert.deepEqual((await put({ [needed]: null })).body, { message: { [needed]: [blank] } });
      // It stays while the switch is off, and is named again to turn it on.
      for (const before of [true, false]) {
        assert.equal((await put({ [flag]: before, [needed]: value })).status, 200);
        const again = await put({ [flag]: true });
        assert.deepEqual([again.status, again.body], [missing.status, missing.body]);
        const { body } = await gantry.api(`GET ${path}`);
        assert.deepEqual([body[flag], body[needed]], [before, value]);
      }
      assert.equal((await put({ max_attachment_size: 17 })).status, 200);
      assert.equal((await put({ [flag]: true, [needed]: value })).status, 200);
      assert.equal((await put({ max_attachment_size: 18 })).status, 200);
      assert.equal((await put({ [flag]: false })).status, 200);
      assert.equal((await put({ [flag]: false, [needed]: null })).status, 200);
    });
  }

  it('concurrent changes are all kept', async () => {
    const changes = [
      { max_attachment_size: 31 },
      { session_expire_delay: 32 },
      { terminal_max_session_time: 33 },
      { default_projects_limit: 34 },
      { container_registry_token_expire_delay: 35 },
    ];
    await Promise.all(changes.map(put));
    assert.deepEqual(await fieldsOf(Object.assign({}, ...changes)), Object.assign({}, ...changes));
  });

  it('is recorded in the audit log: user, field, old and new value', async () => {
    await put({ max_attachment_size: 99, signup_enabled: false });
    const [latest] = (await gantry.api('GET /audit_events?kind=settings.changed')).body;
    assert.equal(latest.actor_id, 1);
    assert.deepEqual(latest.details, { max_attachment_size: [10, 99], signup_enabled: [true, false] });
  });
});
