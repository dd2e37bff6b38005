/** Tests forms whose record somebody else saves while the form is open. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import {
  type SeededGroup,
  type SeededProject,
  seedGroup,
  seedProject,
} from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import type { Visitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let admin: Visitor;
let group: SeededGroup;
let project: SeededProject;

before(async () => {
  gantry = await startTestService();
  ({ visitor: admin } = await seedVisitor(gantry, { admin: 1 }));
});
after(async () => await gantry.close());

/** Makes a place of their own for some tests, so that they may use the same names. */
const seedPlace = async (): Promise<void> => {
  group = await seedGroup(gantry);
  project = await seedProject(gantry, { namespace: group.id });
  await seedCommit(gantry, project.id, { 'README.md': 'x' });
};

type Form = Record<string, string>;

type Opened = {
  /** Path of the page with the form. */
  page: string;
  /** Path that the form is sent to. Default: the page's. */
  action?: string;
  /** A field of the form, where several are sent to this path. */
  field?: string;
  /** Saves what somebody else changed. */
  theirs: () => Promise<unknown>;
  mine: Form;
  /** Fields of mine that the operation stores in another spelling. */
  spelling?: Form;
  /** What they saved, as the card shows it. */
  card: RegExp;
  /** Reads the value that both change. */
  read: () => Promise<unknown>;
  /** What is stored after their change, and after mine. */
  stored: readonly [theirs: unknown, mine: unknown];
};

// oxlint-disable-next-line typescript/no-explicit-any -- an answer of the API
const api = async (route: string, json?: object): Promise<any> => {
  const { status, body } = await gantry.api(route, json === undefined ? {} : { json });
  assert.ok(status < 300, `${route}: ${status} ${JSON.stringify(body)}`);
  return body;
};

const ofProject = (rest: string): string => `/projects/${project.id}/${rest}`;
const pageOf = (rest: string): string => `/${project.full_path}/-/${rest}`;

/** Returns the fingerprint in the form that is sent to an address, and has a field. */
const baseIn = (text: string, action: string, field = ''): string => {
  const start = text.indexOf(field, text.indexOf(`action="${action.replaceAll('&', '&amp;')}"`));
  const [, base] = /name="base" value="([^"]+)"/.exec(text.slice(start)) ?? [];
  assert.ok(start >= 0 && base !== undefined, `no fingerprint in the form to ${action}`);
  return base;
};

const label = async (): Promise<Opened> => {
  const { id } = await api(`POST ${ofProject('labels')}`, { name: 'shared', color: '#112233' });
  return {
    page: pageOf(`labels/${id}/edit`),
    action: pageOf(`labels/${id}`),
    theirs: async () => await api(`PUT ${ofProject(`labels/${id}`)}`, { color: '#445566' }),
    mine: { name: 'shared', color: '#112233', description: 'Mine', priority: '' },
    spelling: { name: ' shared ', color: '#abc' },
    card: /<h3>Color<\/h3><p class="lines">#445566/,
    read: async () => (await api(`GET ${ofProject(`labels/${id}`)}`)).color,
    stored: ['#445566', '#112233'],
  };
};

const board = async (): Promise<Opened> => {
  for (const name of ['alpha', 'beta']) await api(`POST ${ofProject('labels')}`, { name, color: '#112233' });
  const { id } = await api(`POST ${ofProject('boards')}`, { name: 'Work' });
  return {
    page: pageOf(`boards/${id}/edit`),
    action: pageOf(`boards/${id}`),
    theirs: async () =>
      await api(`PUT ${ofProject(`boards/${id}`)}`, { name: 'Theirs <b>', hide_closed_list: true }),
    mine: { name: 'Mine', show_open: '1', show_closed: '1', labels: '', assignee: '', milestone: '' },
    spelling: { labels: 'beta,alpha', assignee: '@ROOT' },
    card: /<h3>Name<\/h3><p class="lines">Theirs &lt;b&gt;<\/p><h3>Show the column Closed<\/h3><p class="lines">No</,
    read: async () => (await api(`GET ${ofProject(`boards/${id}`)}`)).name,
    stored: ['Theirs <b>', 'Mine'],
  };
};

const makeLists = async (names: readonly string[]): Promise<{ board: number; lists: number[] }> => {
  const made = await api(`POST ${ofProject('boards')}`, { name: 'Lists' });
  const lists: number[] = [];
  for (const name of names) {
    const { id } = await api(`POST ${ofProject('labels')}`, { name, color: '#112233' });
    lists.push((await api(`POST ${ofProject(`boards/${made.id}/lists`)}`, { label_id: id })).id);
  }
  return { board: made.id, lists };
};

const listLimit = async (): Promise<Opened> => {
  const made = await makeLists(['limited']);
  const list = ofProject(`boards/${made.board}/lists/${made.lists[0]}`);
  return {
    page: pageOf(`boards/${made.board}/edit`),
    action: pageOf(`boards/${made.board}/lists/${made.lists[0]}`),
    theirs: async () => await api(`PUT ${list}`, { max_issue_count: 5 }),
    mine: { max_issue_count: '3' },
    card: /<h3>Limit of limited<\/h3><p class="lines">5</,
    read: async () => (await api(`GET ${list}`)).max_issue_count,
    stored: [5, 3],
  };
};

const listOrder = async (): Promise<Opened> => {
  const made = await makeLists(['first', 'second', 'third']);
  const [first, second, third] = made.lists;
  const lists = ofProject(`boards/${made.board}/lists`);
  return {
    page: pageOf(`boards/${made.board}/edit`),
    action: pageOf(`boards/${made.board}/lists/${first}`),
    field: 'name="position"',
    theirs: async () => await api(`PUT ${lists}/${third}`, { position: 1 }),
    mine: { position: '1' },
    card: /<h3>Order of the lists<\/h3><p class="lines">first, third, second</,
    read: async () => (await api(`GET ${lists}`)).map((one: { id: number }) => one.id),
    stored: [
      [first, third, second],
      [third, first, second],
    ],
  };
};

const variable = async (): Promise<Opened> => {
  await api(`POST ${ofProject('variables')}`, { key: 'PLACE', value: 'here' });
  const one = ofProject('variables/PLACE');
  return {
    page: pageOf('variables/PLACE?scope=*'),
    action: pageOf('variables/PLACE?scope=*'),
    theirs: async () => await api(`PUT ${one}`, { value: 'there', protected: true }),
    mine: { value: 'mine', variable_type: 'env_var', environment_scope: '*' },
    spelling: { value: 'one\r\ntwo', environment_scope: '' },
    card: /<h3>Value<\/h3><p class="lines">there<\/p><h3>Only for protected branches and tags<\/h3><p class="lines">Yes</,
    read: async () => (await api(`GET ${one}`)).value,
    stored: ['there', 'mine'],
  };
};

const hook = async (): Promise<Opened> => {
  const { id } = await api(`POST ${ofProject('hooks')}`, { url: 'https://one.example.com' });
  const one = ofProject(`hooks/${id}`);
  return {
    page: pageOf(`hooks/${id}/edit`),
    action: pageOf(`hooks/${id}`),
    theirs: async () => await api(`PUT ${one}`, { url: 'https://two.example.com', issues_events: true }),
    mine: { url: 'https://one.example.com', push_events: '1', enable_ssl_verification: '1', name: 'Mine' },
    spelling: {
      url: ' https://one.example.com',
      branch_filter_strategy: 'wildcard',
      push_events_branch_filter: ' ',
      'custom_headers[0][key]': 'X-Two',
      'custom_headers[0][value]': 'b',
      'custom_headers[1][key]': 'X-One',
      'custom_headers[1][value]': 'a',
    },
    card: /<h3>URL<\/h3><p class="lines">https:\/\/two\.example\.com</,
    read: async () => (await api(`GET ${one}`)).url,
    stored: ['https://two.example.com', 'https://one.example.com'],
  };
};

const schedule = async (): Promise<Opened> => {
  const made = { description: 'Nightly', ref: 'main', cron: '0 4 * * *', cron_timezone: 'UTC' };
  const { id } = await api(`POST ${ofProject('pipeline_schedules')}`, { ...made, active: false });
  const one = ofProject(`pipeline_schedules/${id}`);
  return {
    page: pageOf(`pipeline_schedules/${id}`),
    theirs: async () => await api(`PUT ${one}`, { description: 'Theirs' }),
    mine: { ...made, description: 'Mine' },
    spelling: { description: ' Mine', cron_timezone: '' },
    card: /<h3>Description<\/h3><p class="lines">Theirs</,
    read: async () => (await api(`GET ${one}`)).description,
    stored: ['Theirs', 'Mine'],
  };
};

const message = async (): Promise<Opened> => {
  const made = {
    message: 'Down tonight',
    starts_at: '2030-01-01T00:00:00Z',
    ends_at: '2030-01-02T00:00:00Z',
  };
  const { id } = await api('POST /broadcast_messages', made);
  return {
    page: `/admin/broadcast_messages/${id}/edit`,
    action: `/admin/broadcast_messages/${id}`,
    theirs: async () =>
      await api(`PUT /broadcast_messages/${id}`, {
        message: 'Down tomorrow',
        theme: 'light-red',
        target_access_levels: [30, 40],
      }),
    mine: { ...made, message: 'Mine', theme: 'indigo', broadcast_type: 'banner' },
    spelling: { starts_at: '2030-01-01 00:00', ends_at: '', 'target_access_levels[]': '40' },
    card: /<h3>Message<\/h3><p class="lines">Down tomorrow<\/p><h3>Theme<\/h3><p class="lines">Light red<\/p><h3>Show only to<\/h3><p class="lines">Developers, Maintainers</,
    read: async () => (await api(`GET /broadcast_messages/${id}`)).message,
    stored: ['Down tomorrow', 'Mine'],
  };
};

const protection = async (): Promise<Opened> => {
  const all = ofProject('protected_branches');
  const level = async (): Promise<number> =>
    (await api(`GET ${all}/stable`)).push_access_levels[0].access_level;
  await api(`POST ${all}`, { name: 'stable', push_access_level: 40, merge_access_level: 40 });
  return {
    page: pageOf('protected_branches'),
    action: pageOf('protected_branches/change'),
    field: 'name="name" value="stable"',
    theirs: async () => await api(`PATCH ${all}/stable`, { push_access_level: 0 }),
    mine: { name: 'stable', push_access_level: '30', merge_access_level: '40' },
    card: /<h3>Allowed to push<\/h3><p class="lines">Nobody</,
    read: level,
    stored: [0, 30],
  };
};

const release = async (): Promise<Opened> => {
  const milestone = await api(`POST ${ofProject('milestones')}`, { title: 'Spring' });
  const one = ofProject('releases/v1');
  await api(`POST ${ofProject('releases')}`, { tag_name: 'v1', ref: 'main', description: 'First' });
  return {
    page: pageOf('releases/v1/edit'),
    action: pageOf('releases/v1'),
    theirs: async () => await api(`PUT ${one}`, { description: 'Theirs', milestones: [milestone.title] }),
    mine: { name: '', description: 'Mine' },
    spelling: { released_at: '', 'milestone_ids[]': String(milestone.id), description: 'a\r\nb ' },
    card: /<h3>Milestones<\/h3><p class="lines">Spring<\/p><h3>Release notes<\/h3><p class="lines">Theirs</,
    read: async () => (await api(`GET ${one}`)).description,
    stored: ['Theirs', 'Mine'],
  };
};

const projectSettings = async (): Promise<Opened> => {
  const one = `/projects/${project.id}`;
  return {
    page: pageOf('settings'),
    action: pageOf('settings/about'),
    theirs: async () => await api(`PUT ${one}`, { description: 'Theirs', topics: ['bridges'] }),
    mine: { name: project.path, description: 'Mine', topics: '', default_branch: 'main' },
    spelling: { description: 'a\r\nb', topics: 'two,, one,two' },
    card: /<h3>Description<\/h3><p class="lines">Theirs<\/p><h3>Topics<\/h3><p class="lines">bridges</,
    read: async () => (await api(`GET ${one}`)).description,
    stored: ['Theirs', 'Mine'],
  };
};

const groupSettings = async (): Promise<Opened> => {
  const one = `/groups/${group.id}`;
  return {
    page: `/groups/${group.full_path}/-/settings`,
    action: `/groups/${group.full_path}/-/settings/permissions`,
    theirs: async () => await api(`PUT ${one}`, { subgroup_creation_level: 'owner', membership_lock: true }),
    mine: {
      project_creation_level: 'developer',
      subgroup_creation_level: 'maintainer',
      membership_lock: '0',
      share_with_group_lock: '0',
    },
    card: /<h3>Roles that may create subgroups<\/h3><p class="lines">Owners<\/p><h3>Prevent adding members to projects<\/h3><p class="lines">Yes</,
    read: async () => (await api(`GET ${one}`)).subgroup_creation_level,
    stored: ['owner', 'maintainer'],
  };
};

const forms = {
  label,
  board,
  'limit of a list': listLimit,
  'place of a list': listOrder,
  variable,
  hook,
  schedule,
  'broadcast message': message,
  'protected branch': protection,
  release,
  'project settings': projectSettings,
  'group settings': groupSettings,
};

describe('a form that somebody else forestalled', () => {
  before(seedPlace);
  for (const [name, open] of Object.entries(forms)) {
    test(`shows what they saved, and overwrites nothing: ${name}`, async () => {
      const { page, action = page, field, theirs, mine, card, read, stored } = await open();
      const base = baseIn((await admin.get(page)).text, action, field);
      await theirs();
      const refused = await admin.post(action, { ...mine, base });
      assert.equal(refused.status, 422);
      assert.match(refused.text, /Somebody edited this \w+ meanwhile/);
      const [shown = ''] =
        /<h2 id="saved_meanwhile">Saved meanwhile[^]+?<\/section>/.exec(refused.text) ?? [];
      assert.match(shown, card);
      assert.ok(shown.includes('Discard mine, continue with this'));
      assert.deepEqual(await read(), stored[0]);
      const again = await admin.post(action, { ...mine, base: baseIn(refused.text, action, field) });
      assert.equal(again.status, 303);
      assert.deepEqual(await read(), stored[1]);
    });
  }
});

describe('a form that is sent twice', () => {
  before(seedPlace);
  for (const [name, open] of Object.entries(forms)) {
    test(`is saved: ${name}`, async () => {
      const { page, action = page, field, mine, spelling } = await open();
      const base = baseIn((await admin.get(page)).text, action, field);
      for (const time of ['first', 'second']) {
        const saved = await admin.post(action, { ...mine, ...spelling, base });
        assert.deepEqual([time, saved.status], [time, 303], saved.text);
      }
    });
  }

  test('or although a label was renamed since the page was opened: place of a list', async () => {
    const { board: id, lists } = await makeLists(['before', 'neighbour']);
    const action = pageOf(`boards/${id}/lists/${lists[0]}`);
    const base = baseIn((await admin.get(pageOf(`boards/${id}/edit`))).text, action, 'name="position"');
    await api(`PUT ${ofProject('labels/before')}`, { new_name: 'renamed' });
    assert.equal((await admin.post(action, { position: '1', base })).status, 303);
    const stored = await api(`GET ${ofProject(`boards/${id}/lists`)}`);
    assert.deepEqual(
      stored.map((one: { id: number }) => one.id),
      lists.toReversed(),
    );
  });
});
