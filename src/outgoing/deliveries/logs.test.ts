/** Tests of hooks, their log, resends, and the fields of payloads that receivers read. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type HookReceiver, startHookReceiver } from '../../../test/support/servers/hook_receiver.ts';
import { seedProject } from '../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../test/support/service.ts';
import { insertLogs } from './attempt.ts';

let gantry: TestService;
let receiver: HookReceiver;
let project: string;
let hook: string;
let projectId: number;
before(async () => {
  [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
  const json = { allow_local_requests_from_hooks_and_services: true };
  await gantry.api('PUT /application/settings', { json });
  projectId = (await seedProject(gantry)).id;
  project = `/projects/${projectId}`;
  const made = await gantry.api(`POST ${project}/hooks`, {
    json: {
      url: receiver.url,
      token: 'quite-secret',
      push_events: true,
      tag_push_events: true,
      merge_requests_events: true,
      releases_events: true,
    },
  });
  hook = `${project}/hooks/${made.body.id}`;
});
after(async () => {
  await gantry.close();
  await receiver.close();
});
beforeEach(() => receiver.clear());

const drain = async (): Promise<void> => await gantry.service.worker.drain();
const test = async (trigger: string): Promise<Reply> => await gantry.api(`POST ${hook}/test/${trigger}`);

const has = (value: object, names: string): void =>
  assert.deepEqual(
    names.split(/[\s,]+/).filter((name) => !(name in value)),
    [],
    'missing fields',
  );

const place = `project, repository`;

describe('payloads', () => {
  it('of pushes, tags and releases have the commits', async () => {
    await gantry.api(`POST ${project}/repository/commits`, {
      json: {
        branch: 'main',
        commit_message: 'First\n\nBody',
        actions: [{ action: 'create', file_path: 'a.txt', content: 'a' }],
      },
    });
    await drain();
    await gantry.api(`POST ${project}/repository/commits`, {
      json: {
        branch: 'main',
        commit_message: 'Second',
        actions: [
          { action: 'update', file_path: 'a.txt', content: 'b' },
          { action: 'create', file_path: 'b.txt', content: 'b' },
        ],
      },
    });
    await gantry.api(`POST ${project}/repository/tags?tag_name=v1&ref=main`);
    await gantry.api(`POST ${project}/releases`, { json: { tag_name: 'v1', name: 'One', description: 'x' } });
    await drain();
    // Order is kept for each branch and tag.
    const bodies = receiver.received.map(({ body }) => body);
    const [first, second] = bodies.filter(({ ref }) => ref === 'refs/heads/main');
    const tag = bodies.find(({ object_kind }) => object_kind === 'tag_push');
    const release = bodies.find(({ object_kind }) => object_kind === 'release');
    assert.equal(receiver.received.length, 4);
    has(
      second,
      `object_kind event_name before after ref ref_protected checkout_sha message user_id user_name user_username
      user_email user_avatar project_id commits total_commits_count push_options ${place}`.trim(),
    );
    assert.deepEqual(
      [first.before, first.total_commits_count, first.commits[0].title],
      ['0'.repeat(40), 1, 'First'],
    );
    assert.deepEqual([second.ref, second.total_commits_count], ['refs/heads/main', 1]);
    has(second.commits[0], 'id message title timestamp url author added modified removed');
    assert.deepEqual(
      [second.commits[0].added, second.commits[0].modified, second.commits[0].removed],
      [['b.txt'], ['a.txt'], []],
    );
    has(
      second.project,
      `id name description web_url avatar_url git_ssh_url git_http_url namespace visibility_level path_with_namespace
      default_branch homepage url ssh_url http_url ci_config_path`.trim(),
    );
    has(second.repository, 'name url description homepage git_http_url git_ssh_url visibility_level');
    assert.deepEqual(
      [tag.object_kind, tag.ref, tag.checkout_sha],
      ['tag_push', 'refs/tags/v1', second.after],
    );
    has(release, 'id created_at description name released_at tag url action assets commit project');
    assert.deepEqual([release.action, release.tag, release.commit.id], ['create', 'v1', second.after]);
  });

  it('of merge requests tell pushes of code by oldrev', async () => {
    const commit = async (branch: string, more: object = {}): Promise<void> => {
      const actions = [{ action: 'create', file_path: `${branch}-${Math.random()}.txt`, content: 'x' }];
      const json = { branch, commit_message: 'Change', actions, ...more };
      const { status, text } = await gantry.api(`POST ${project}/repository/commits`, { json });
      assert.equal(status, 201, text);
    };
    await commit('feature', { start_branch: 'main' });
    const json = { source_branch: 'feature', target_branch: 'main', title: 'Draft: Feature' };
    const { body } = await gantry.api(`POST ${project}/merge_requests`, { json });
    await drain();
    await gantry.api(`PUT ${project}/merge_requests/${body.iid}`, { json: { title: 'Feature' } });
    await drain();
    const review = await gantry.api(`POST ${project}/merge_requests/${body.iid}/draft_notes/bulk_publish`, {
      json: { reviewer_state: 'requested_changes' },
    });
    assert.equal(review.status, 204, review.text);
    await drain();
    await gantry.api(`POST ${project}/merge_requests/${body.iid}/approve`);
    await drain();
    await commit('feature');
    await drain();
    const merged = await gantry.api(`PUT ${project}/merge_requests/${body.iid}/merge`);
    assert.equal(merged.status, 200, merged.text);
    await drain();
    const payloads = receiver.received
      .map(({ body: one }) => one)
      .filter((one) => one.object_kind === 'merge_request');
    assert.deepEqual(
      payloads.map(({ object_attributes: { action, oldrev } }) => [action, typeof oldrev]),
      [
        ['open', 'undefined'],
        ['update', 'undefined'],
        ['update', 'undefined'],
        ['approved', 'undefined'],
        ['update', 'string'],
        ['merge', 'undefined'],
      ],
    );
    const states = payloads.map(({ reviewers }) => reviewers.map(({ state }: { state: string }) => state));
    assert.deepEqual(states.slice(0, 4), [[], [], ['requested_changes'], ['approved']]);
    const [, update] = payloads;
    assert.deepEqual(update.changes.draft, { previous: true, current: false });
    has(update, `object_kind event_type user labels changes assignees reviewers object_attributes ${place}`);
    has(
      update.object_attributes,
      `id iid title description state action source_branch target_branch source_project_id target_project_id source
      target last_commit merge_status detailed_merge_status merge_commit_sha draft work_in_progress author_id
      assignee_ids reviewer_ids labels url created_at updated_at merge_params head_pipeline_id
      blocking_discussions_resolved`.trim(),
    );
    assert.equal(update.object_attributes.last_commit.title, 'Change');
  });
});

describe('payloads of pipelines', () => {
  it('and of their jobs have the fields that readers use', async () => {
    const { id } = await seedProject(gantry);
    const json = { url: receiver.url, push_events: false, pipeline_events: true, job_events: true };
    await gantry.api(`POST /projects/${id}/hooks`, { json: { ...json, deployment_events: true } });
    const content = 'build: { script: make, environment: staging }';
    const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content }];
    await gantry.api(`POST /projects/${id}/repository/commits`, {
      json: { branch: 'main', commit_message: 'Build', actions },
    });
    await drain();
    const [pipeline] = (await gantry.api(`GET /projects/${id}/pipelines`)).body;
    await gantry.api(`POST /projects/${id}/pipelines/${pipeline.id}/cancel`);
    await gantry.api(`POST /projects/${id}/deployments`, {
      json: { environment: 'live', sha: pipeline.sha, ref: 'main', tag: false, status: 'success' },
    });
    await drain();
    const kinds = (kind: string) =>
      receiver.received.map(({ body }) => body).filter(({ object_kind }) => object_kind === kind);
    const statuses = kinds('pipeline').map(({ object_attributes: { status } }) => status);
    assert.deepEqual(statuses, ['pending', 'canceled']);
    assert.deepEqual(
      kinds('build').map(({ build_status }) => build_status),
      ['pending', 'canceled'],
    );
    const [last] = kinds('pipeline').slice(-1);
    has(last, `object_attributes merge_request commit builds user ${place}`);
    has(
      last.object_attributes,
      `id iid name ref tag sha before_sha source status detailed_status stages created_at finished_at duration
      queued_duration variables url`.trim(),
    );
    has(
      last.builds[0],
      `id stage name status created_at started_at finished_at duration queued_duration failure_reason when manual
      allow_failure user runner artifacts_file environment`.trim(),
    );
    has(
      kinds('build')[0],
      `ref tag before_sha sha retries_count build_id build_name build_stage build_status build_created_at
      build_started_at build_finished_at build_duration build_queued_duration build_allow_failure build_failure_reason
      pipeline_id runner project_id project_name user commit repository environment`.trim(),
    );
    const [deployment] = kinds('deployment');
    has(
      deployment,
      `status deployment_id deployable_id deployable_url environment user short_sha commit_url commit_title ref`,
    );
    assert.deepEqual([deployment.environment, deployment.commit_title], ['live', 'Build']);
  });
});

describe('POST /test/:trigger', () => {
  it('a test delivery sends the latest record of its kind', async () => {
    const { status, body, text } = await test('push_events');
    assert.equal(status, 201, text);
    assert.deepEqual(body, { message: '201 Created' });
    assert.equal(receiver.received[0]?.headers['x-gitlab-event'], 'Push Hook');
    for (const trigger of ['tag_push_events', 'merge_requests_events', 'releases_events', 'member_events'])
      assert.equal((await test(trigger)).status, 201, trigger);
  });

  it('refuses without a record, for an unknown trigger, and where the receiver fails', async () => {
    assert.equal((await test('confidential_issues_events')).status, 422);
    assert.equal((await test('no_events')).status, 400);
    receiver.answer((_request, response) => void response.writeHead(503).end());
    const { status, body } = await test('push_events');
    assert.deepEqual([status, body.error], [422, 'The receiver answered 503']);
  });
});

describe('a successful test', () => {
  it('ends the pause of a hook, and what waits is delivered', async () => {
    const json = { url: receiver.url, push_events: false, issues_events: true };
    const { id } = (await gantry.api(`POST ${project}/hooks`, { json })).body;
    const own = `${project}/hooks/${id}`;
    const stateOf = async (): Promise<string> => (await gantry.api(`GET ${own}`)).body.alert_status;
    const fail = (): void => receiver.answer((_request, response) => void response.writeHead(500).end());
    fail();
    assert.equal((await gantry.api(`POST ${project}/issues`, { json: { title: 'Waits' } })).status, 201);
    let now = Date.now();
    for (const pause of [0, 1, 5, 15]) {
      now += pause * 1_000;
      gantry.setTime(now);
      await drain();
    }
    assert.equal(await stateOf(), 'temporarily_disabled');
    assert.equal((await gantry.api(`POST ${own}/test/issues_events`)).status, 422);
    assert.equal(await stateOf(), 'temporarily_disabled', 'a failed test changes nothing');
    await gantry.api(`POST ${project}/issues`, { json: { title: 'Later' } });
    receiver.clear();
    assert.equal((await gantry.api(`POST ${own}/test/issues_events`)).status, 201);
    assert.equal(await stateOf(), 'executable');
    await drain();
    const titles = receiver.received.map(({ body }) => body.object_attributes.title);
    assert.deepEqual(new Set(titles), new Set(['Waits', 'Later']));
    assert.equal(titles.length, 3, 'the test, and both deliveries');
    gantry.setTime(null);
  });
});

describe('the log', () => {
  it('has request and answer, without secrets, and sends again with the same ids', async () => {
    receiver.answer(
      (_request, response) => void response.writeHead(200, { 'x-a': 'b' }).end('y'.repeat(20_000)),
    );
    await test('push_events');
    const { body, text, headers } = await gantry.api(`GET ${hook}/events?per_page=1`);
    assert.ok(Number(headers.get('x-total')) > 1);
    const [log] = body;
    assert.doesNotMatch(text, /quite-secret/);
    assert.deepEqual(
      [log.trigger, log.response_status, log.response_body.length, log.response_headers['x-a']],
      ['push_hooks', 200, 8192, 'b'],
    );
    assert.deepEqual(log.request_data, receiver.received.at(-1)?.body);
    const resent = await gantry.api(`POST ${hook}/events/${log.id}/resend`);
    assert.deepEqual([resent.status, resent.body], [201, { response_status: 200 }]);
    const [before, again] = receiver.received.slice(-2);
    assert.equal(again?.text, before?.text);
    assert.equal(again?.headers['webhook-id'], before?.headers['webhook-id']);
    assert.equal((await gantry.api(`POST ${hook}/events/999999/resend`)).status, 404);
  });
});

// Last, for its deliveries go on.
describe('a thousand hooks', () => {
  it('of one project each receive a change', async () => {
    const { id } = await seedProject(gantry);
    const { store } = gantry.service.platform;
    const { body } = await gantry.api(`POST /projects/${id}/hooks`, {
      json: { url: receiver.url, push_events: false, issues_events: true },
    });
    await store.write(async (tx) => {
      const row = await tx.db
        .selectFrom('hooks')
        .selectAll()
        .where('id', '=', body.id)
        .executeTakeFirstOrThrow();
      const { id: _id, ...columns } = row;
      for (let at = 1; at < 1_000; at += 1) await tx.db.insertInto('hooks').values(columns).execute();
    });
    // One more change of hooks makes the service load them again.
    await gantry.api(`PUT /projects/${id}/hooks/${body.id}`, { json: { name: 'First' } });
    assert.equal(
      (await gantry.api(`POST /projects/${id}/hooks`, { json: { url: receiver.url } })).status,
      400,
    );
    const made = await gantry.api(`POST /projects/${id}/issues`, { json: { title: 'Wide' } });
    assert.equal(made.status, 201);
    const { count } = await store.db
      .selectFrom('hook_deliveries')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    assert.ok(count + receiver.received.length >= 1_000);
    await gantry.api(`DELETE /projects/${id}`);
  });
});

describe('the log of a hook', () => {
  const row = {
    delivery_uuid: 'a',
    event_uuid: 'b',
    trigger_name: 'push_events',
    event_name: 'Push Hook',
    url: 'https://example.com',
    request_headers: '{}',
    request_data: '{}',
    response_headers: '{}',
    response_body: '',
    response_status: 200,
    error: null,
    execution_duration: 1,
  };

  const addRows = async (hook_id: number, count: number, more: Partial<typeof row> = {}): Promise<void> =>
    await gantry.service.platform.store.write(async (tx) => {
      for (let added = 0; added < count; added += 1) await insertLogs(tx, [{ ...row, ...more, hook_id }]);
    });

  const countRows = async (id: number, query = ''): Promise<number> => {
    const { status, headers, text } = await gantry.api(`GET ${project}/hooks/${id}/events${query}`);
    assert.equal(status, 200, text);
    return Number(headers.get('x-total'));
  };

  const addHook = async (): Promise<number> =>
    (await gantry.api(`POST ${project}/hooks`, { json: { url: receiver.url } })).body.id;

  it('keeps the latest hundred successes and failures of a hook each, and those of other hooks', async () => {
    const [one, other] = [await addHook(), await addHook()];
    await addRows(other, 15);
    await addRows(one, 130, { response_status: 500 });
    await addRows(one, 160);
    const [failures, successes] = [
      await countRows(one, '?status=server_failure'),
      await countRows(one, '?status=successful'),
    ];
    for (const count of [failures, successes]) assert.ok(count >= 100 && count < 111, `${count} rows`);
    assert.equal(await countRows(one), failures + successes);
    assert.equal(await countRows(other), 15);
  });

  it('is filtered by response codes and kinds of answers', async () => {
    const id = await addHook();
    const answers: [code: number | null, count: number][] = [
      [200, 1],
      [204, 2],
      [404, 3],
      [503, 4],
      [302, 1],
      [null, 2],
    ];
    for (const [code, count] of answers)
      await addRows(id, count, {
        response_status: code as number,
        ...(code === null && { error: 'ECONNREFUSED' as unknown as null }),
      });
    const expected: [query: string, count: number][] = [
      ['status=successful', 3],
      ['status=client_failure', 3],
      ['status=server_failure', 4],
      ['status=no_response', 2],
      ['status=204', 2],
      ['status=204,404', 5],
      ['status[]=302&status[]=successful', 4],
      ['status=418', 0],
    ];
    for (const [query, count] of expected) assert.equal(await countRows(id, `?${query}`), count, query);
    const repeated = Array.from({ length: 63 }, () => '404').join();
    const many = Array.from({ length: 24 }, () => `status[]=${repeated}`).join('&');
    assert.equal(await countRows(id, `?${many}&status[]=successful`), 6, 'fifteen hundred codes');
    for (const bad of ['failed', '20', '2000', '-200', '0x1', '200;500']) {
      const { status, body } = await gantry.api(`GET ${project}/hooks/${id}/events?status=${bad}`);
      assert.deepEqual([status, Object.keys(body.message)], [400, ['status']], bad);
    }
  });

  it('the log of a hook keeps attempts for eight days', async () => {
    const [one, other] = [await addHook(), await addHook()];
    const now = Date.now();
    await addRows(one, 12);
    gantry.setTime(now + 7 * 86_400_000);
    await addRows(other, 10);
    assert.equal(await countRows(one), 12);
    gantry.setTime(now + 9 * 86_400_000);
    await addRows(other, 10);
    assert.equal(await countRows(one), 0);
    assert.equal(await countRows(other), 20);
    gantry.setTime(null);
  });
});
