/** Changes that cause one delivery of each kind, in the order of `docs/webhook_payloads.json`. */
import assert from 'node:assert/strict';
import type { Reply, TestService } from '../support/service.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- a payload
type Payload = any;

/** Which delivery of a change is kept: the path of the hook, and a test of its payload. */
export type Pick = { name: string; at: 'project' | 'group' | 'system'; is: (payload: Payload) => boolean };

export type Step = { picks: Pick[]; run: () => Promise<unknown> };

const kind =
  (wanted: string, test: (attributes: Payload, payload: Payload) => boolean = () => true) =>
  (payload: Payload): boolean =>
    payload.object_kind === wanted && test(payload.object_attributes ?? payload, payload);

const event =
  (wanted: string) =>
  (payload: Payload): boolean =>
    payload.event_name === wanted;

const action = (wanted: string) => (attributes: Payload) => attributes.action === wanted;

const password = 'correct horse battery';
const key =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEt7bT1YtWo8S0dHn7T2p4Ww8m3nU0hS6o1VhK2r9L5x ada@example.com';

type Ids = { project: number; group: number; ada: number; runner: string };

/** Sends requests of the scenario, which must all succeed. */
export type Send = (line: string, json?: object) => Promise<Reply['body']>;

export const makeSend =
  (gantry: TestService): Send =>
  async (line, json) => {
    const { status, body, text } = await gantry.api(line, json === undefined ? {} : { json });
    assert.ok(status < 300, `${line}: ${status} ${text}`);
    return body;
  };

const one = (name: string, at: Pick['at'], is: Pick['is'], run: Step['run']): Step => ({
  picks: [{ name, at, is }],
  run,
});

const commit = (
  send: Send,
  { project }: Ids,
  branch: string,
  change: { actions: object[]; start_branch?: string; message?: string },
): (() => Promise<unknown>) => {
  const { message = 'Change files\n\nFor a reason.', ...rest } = change;
  const json = { branch, commit_message: message, ...rest };
  return async () => await send(`POST /projects/${project}/repository/commits`, json);
};

const file = (action_: 'create' | 'update' | 'delete', file_path: string, content = `${action_}\n`) => ({
  action: action_,
  file_path,
  ...(action_ !== 'delete' && { content }),
});

export const pushSteps = (send: Send, ids: Ids): Step[] => {
  const path = `/projects/${ids.project}/repository`;
  const first = { actions: [file('create', 'README.md'), file('create', 'old.txt')], message: 'Begin' };
  const second = {
    actions: [file('update', 'README.md'), file('create', 'b.txt'), file('delete', 'old.txt')],
  };
  const push = kind('push');
  return [
    one('push: new branch', 'project', push, commit(send, ids, 'main', first)),
    {
      picks: [
        { name: 'push', at: 'project', is: push },
        { name: 'repository_update', at: 'system', is: event('repository_update') },
      ],
      run: commit(send, ids, 'main', second),
    },
    one(
      'push: another branch',
      'project',
      push,
      async () => await send(`POST ${path}/branches?branch=topic&ref=main`),
    ),
    one('push: deleted branch', 'project', push, async () => await send(`DELETE ${path}/branches/topic`)),
    one(
      'tag_push',
      'project',
      kind('tag_push'),
      async () => await send(`POST ${path}/tags?tag_name=v1.0&ref=main&message=First`),
    ),
    one(
      'release: by a tag',
      'project',
      kind('release', action('create')),
      async () => await send(`POST ${path}/tags/v1.0/release`, { description: 'Notes' }),
    ),
    one(
      'release: update by a tag',
      'project',
      kind('release', action('update')),
      async () => await send(`PUT ${path}/tags/v1.0/release`, { description: 'Other notes' }),
    ),
    one(
      'tag_push: deleted tag',
      'project',
      kind('tag_push'),
      async () => await send(`DELETE ${path}/tags/v1.0`),
    ),
  ];
};

export const issueSteps = (send: Send, { project, ada }: Ids): Step[] => {
  const path = `/projects/${project}/issues`;
  const issue = (name: string) => kind('issue', action(name));
  const note = kind('note');
  const attributes = {
    title: 'A crack',
    description: 'In the deck',
    labels: 'bug',
    assignee_ids: [ada],
    due_date: '2026-02-03',
  };
  return [
    one('issue: open', 'project', issue('open'), async () => await send(`POST ${path}`, attributes)),
    one(
      'issue: update',
      'project',
      issue('update'),
      async () =>
        await send(`PUT ${path}/1`, { title: 'A long crack', labels: 'bug,urgent', assignee_ids: [] }),
    ),
    one(
      'issue: update of the spent time',
      'project',
      issue('update'),
      async () => await send(`POST ${path}/1/add_spent_time`, { duration: '1h' }),
    ),
    one(
      'issue: close',
      'project',
      issue('close'),
      async () => await send(`PUT ${path}/1`, { state_event: 'close' }),
    ),
    one(
      'issue: reopen',
      'project',
      issue('reopen'),
      async () => await send(`PUT ${path}/1`, { state_event: 'reopen' }),
    ),
    one(
      'issue: confidential',
      'project',
      kind('issue', ({ confidential }) => confidential === true),
      async () => await send(`POST ${path}`, { title: 'A weakness', confidential: true }),
    ),
    one(
      'note: on an issue',
      'project',
      note,
      async () => await send(`POST ${path}/1/notes`, { body: 'Seen' }),
    ),
    one(
      'note: on a confidential issue',
      'project',
      note,
      async () => await send(`POST ${path}/2/notes`, { body: 'Hidden' }),
    ),
    one('note: on a snippet', 'project', note, async () => {
      const attributes = { title: 'Knot', file_name: 'knot.txt', content: 'Tie', visibility: 'public' };
      const snippet = await send(`POST /projects/${project}/snippets`, attributes);
      await send(`POST /projects/${project}/snippets/${snippet.id}/notes`, { body: 'Seen' });
    }),
    one(
      'emoji: award',
      'project',
      kind('emoji'),
      async () => await send(`POST ${path}/1/award_emoji`, { name: 'rocket' }),
    ),
    one('emoji: revoke', 'project', kind('emoji'), async () => {
      const [award] = await send(`GET ${path}/1/award_emoji`);
      await send(`DELETE ${path}/1/award_emoji/${award.id}`);
    }),
  ];
};

const noteSteps = (send: Send, { project }: Ids): Step[] => {
  const request = `/projects/${project}/merge_requests/1`;
  const note = kind('note');
  return [
    one(
      'note: on a merge request',
      'project',
      note,
      async () => await send(`POST ${request}/notes`, { body: 'Good' }),
    ),
    one('note: on a line', 'project', note, async () => {
      const { diff_refs } = await send(`GET ${request}`);
      const position = {
        position_type: 'text',
        ...diff_refs,
        old_path: 'rail.txt',
        new_path: 'rail.txt',
        new_line: 1,
      };
      await send(`POST ${request}/discussions`, { body: 'Why?', position });
    }),
    one('note: on a commit', 'project', note, async () => {
      const { sha } = await send(`GET ${request}`);
      await send(`POST /projects/${project}/repository/commits/${sha}/comments`, { note: 'Here' });
    }),
  ];
};

export const requestSteps = (send: Send, ids: Ids): Step[] => {
  const { project, ada } = ids;
  const path = `/projects/${project}/merge_requests`;
  const is = (name: string) => kind('merge_request', action(name));
  const attributes = {
    source_branch: 'rails',
    target_branch: 'main',
    title: 'Draft: Add rails',
    reviewer_ids: [ada],
  };
  const act = (line: string, json?: object) => async () => await send(line, json);
  const actions = [file('create', 'rail.txt')];
  return [
    { picks: [], run: commit(send, ids, 'rails', { actions, start_branch: 'main' }) },
    one('merge_request: open', 'project', is('open'), act(`POST ${path}`, attributes)),
    one(
      'merge_request: update',
      'project',
      is('update'),
      act(`PUT ${path}/1`, { title: 'Add rails', labels: 'safety' }),
    ),
    one(
      'merge_request: update by a push',
      'project',
      is('update'),
      commit(send, ids, 'rails', { actions: [file('update', 'rail.txt')] }),
    ),
    one('merge_request: approved', 'project', is('approved'), act(`POST ${path}/1/approve`)),
    one('merge_request: unapproved', 'project', is('unapproved'), act(`POST ${path}/1/unapprove`)),
    one('merge_request: close', 'project', is('close'), act(`PUT ${path}/1`, { state_event: 'close' })),
    one('merge_request: reopen', 'project', is('reopen'), act(`PUT ${path}/1`, { state_event: 'reopen' })),
    ...noteSteps(send, ids),
    one('merge_request: merge', 'project', is('merge'), act(`PUT ${path}/1/merge`)),
  ];
};

const configuration = `build:
  script: [make]
deploy:
  stage: deploy
  script: [make deploy]
  environment: { name: production, url: https://bridge.example.com }
`;

/** Runs the next job. */
const runJob = (send: Send, { runner }: Ids): (() => Promise<unknown>) => {
  return async () => {
    const { id, token } = await send('POST /jobs/request', { token: runner, info: { features: {} } });
    await send(`PUT /jobs/${id}`, { token, state: 'success' });
  };
};

export const jobSteps = (send: Send, ids: Ids): Step[] => {
  const status = (noun: string, wanted: string) => kind(noun, (attributes) => attributes.status === wanted);
  const job = (wanted: string) => kind('build', ({ build_status }) => build_status === wanted);
  return [
    {
      picks: [
        { name: 'pipeline: pending', at: 'project', is: status('pipeline', 'pending') },
        { name: 'build: pending', at: 'project', is: job('pending') },
      ],
      run: commit(send, ids, 'main', { actions: [file('create', '.gitlab-ci.yml', configuration)] }),
    },
    one('build: success', 'project', job('success'), runJob(send, ids)),
    {
      picks: [
        { name: 'deployment: success', at: 'project', is: status('deployment', 'success') },
        { name: 'pipeline: success', at: 'project', is: status('pipeline', 'success') },
      ],
      run: runJob(send, ids),
    },
  ];
};

export const releaseSteps = (send: Send, { project }: Ids): Step[] => {
  const path = `/projects/${project}/releases`;
  const is = (name: string) => kind('release', action(name));
  const links = [{ name: 'Plans', url: 'https://bridge.example.com/plans.pdf' }];
  const attributes = { tag_name: 'v2.0', ref: 'main', name: 'Two', description: 'Notes', assets: { links } };
  return [
    one('release: create', 'project', is('create'), async () => await send(`POST ${path}`, attributes)),
    one(
      'release: update',
      'project',
      is('update'),
      async () => await send(`PUT ${path}/v2.0`, { name: 'Second' }),
    ),
    one('release: delete', 'project', is('delete'), async () => await send(`DELETE ${path}/v2.0`)),
  ];
};

const memberSteps = (
  send: Send,
  path: string,
  subscription: { at: Pick['at']; user: number; events: string[] },
): Step[] => {
  const { at, user, events } = subscription;
  const [added = '', updated = '', removed = ''] = events;
  const pick = (name: string, run: Step['run']) => one(name, at, event(name), run);
  return [
    pick(added, async () => await send(`POST ${path}/members`, { user_id: user, access_level: 30 })),
    pick(
      updated,
      async () => await send(`PUT ${path}/members/${user}`, { access_level: 40, expires_at: '2030-01-01' }),
    ),
    pick(removed, async () => await send(`DELETE ${path}/members/${user}`)),
  ];
};

export const peopleSteps = (send: Send, { project, group, ada }: Ids): Step[] => [
  ...memberSteps(send, `/projects/${project}`, {
    at: 'project',
    user: ada,
    events: ['user_add_to_team', 'user_update_for_team', 'user_remove_from_team'],
  }),
  ...memberSteps(send, `/groups/${group}`, {
    at: 'group',
    user: ada,
    events: ['user_add_to_group', 'user_update_for_group', 'user_remove_from_group'],
  }),
];

const userSteps = (send: Send, gantry: TestService): Step[] => {
  const attributes = {
    username: 'grace',
    name: 'Grace Hopper',
    email: 'grace@example.com',
    password,
    skip_confirmation: true,
  };
  const id = async (): Promise<number> => (await send('GET /users?search=grace'))[0].id;
  const pick = (name: string, run: Step['run']) => one(name, 'system', event(name), run);
  const signIn = async (): Promise<void> => {
    const headers = { authorization: `Basic ${Buffer.from(`grace2:${password}`).toString('base64')}` };
    await fetch(`${gantry.url}/tools/bridge.git/info/refs?service=git-upload-pack`, { headers });
  };
  return [
    pick('user_create', async () => await send('POST /users', attributes)),
    pick('user_rename', async () => await send(`PUT /users/${await id()}`, { username: 'grace2' })),
    pick('key_create', async () => await send(`POST /users/${await id()}/keys`, { title: 'k', key })),
    pick('key_destroy', async () => {
      const [{ id: keyId }] = await send(`GET /users/${await id()}/keys`);
      await send(`DELETE /users/${await id()}/keys/${keyId}`);
    }),
    { picks: [], run: async () => await send(`POST /users/${await id()}/block`) },
    pick('user_failed_login', signIn),
    pick('user_destroy', async () => await send(`DELETE /users/${await id()}`)),
  ];
};

export const systemSteps = (send: Send, gantry: TestService): Step[] => {
  const pick = (name: string, run: Step['run']) => one(name, 'system', event(name), run);
  const project = '/projects/yard%2Fcrane';
  const find = async (): Promise<number> => (await send('GET /groups?search=yard'))[0].id;
  return [
    ...userSteps(send, gantry),
    pick('group_create', async () => await send('POST /groups', { name: 'Yard', path: 'yard' })),
    pick(
      'project_create',
      async () => await send('POST /projects', { name: 'Crane', path: 'crane', namespace_id: await find() }),
    ),
    pick('project_update', async () => await send(`PUT ${project}`, { description: 'Lifts' })),
    pick('project_rename', async () => await send(`PUT ${project}`, { path: 'derrick' })),
    pick(
      'project_transfer',
      async () => await send('PUT /projects/yard%2Fderrick/transfer', { namespace: 'tools' }),
    ),
    pick('project_destroy', async () => await send('DELETE /projects/tools%2Fderrick')),
    pick('group_rename', async () => await send(`PUT /groups/${await find()}`, { path: 'yard2' })),
    one(
      'group_rename: into another group',
      'system',
      event('group_rename'),
      async () =>
        await send(`POST /groups/${await find()}/transfer`, {
          group_id: (await send('GET /groups/tools')).id,
        }),
    ),
    pick('group_destroy', async () => await send('DELETE /groups/tools%2Fyard2')),
  ];
};

/** Creates the places of the scenario. */
export const makePlaces = async (send: Send): Promise<Ids> => {
  const user = {
    username: 'ada',
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    password,
    skip_confirmation: true,
  };
  const ada = (await send('POST /users', user)).id;
  const group = (await send('POST /groups', { name: 'Tools', path: 'tools', visibility: 'public' })).id;
  const attributes = {
    name: 'Bridge',
    path: 'bridge',
    namespace_id: group,
    visibility: 'public',
    description: 'Spans',
  };
  const project = (await send('POST /projects', attributes)).id;
  const runner = (await send('POST /user/runners', { runner_type: 'instance_type', run_untagged: true }))
    .token;
  return { project, group, ada, runner };
};
