/** Details of payloads that the payloads of `docs/webhook_payloads.json` do not show. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { eventFlagNames } from '../../../src/outgoing/hooks/event_flags.ts';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { type SeededUser, seedGroup, seedMember, seedProject, seedUser } from '../../support/seed.ts';
import {
  openRequest as openOn,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../support/seed_merge_requests.ts';
import { type HookReceiver, startHookReceiver } from '../../support/servers/hook_receiver.ts';
import { type TestService, rootToken, startTestService } from '../../support/service.ts';

let gantry: TestService;
let receiver: HookReceiver;
let reviewer: SeededUser;
let project: string;
let projectId: number;

const send = async (line: string, json: object = {}, as = rootToken) => {
  const { status, body, text } = await gantry.api(line, { json, as });
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  return body;
};

before(async () => {
  [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
  await send('PUT /application/settings', { allow_local_requests_from_hooks_and_services: true });
  const group = await seedGroup(gantry);
  projectId = (await seedProject(gantry, { namespace: group.id })).id;
  project = `/projects/${projectId}`;
  reviewer = await seedUser(gantry);
  await seedMember(gantry, { user: reviewer.id, project: projectId, access_level: 40 });
  await send(`POST /groups/${group.id}/labels`, { name: 'shared', color: '#00ff00' });
  const flags = Object.fromEntries(eventFlagNames.map((name) => [name, true]));
  await send(`POST ${project}/hooks`, { url: receiver.url, ...flags });
  await seedCommit(gantry, projectId, { 'a.txt': 'a' });
});
after(async () => {
  await gantry.close();
  await receiver.close();
});
beforeEach(async () => {
  await gantry.service.worker.drain();
  receiver.clear();
});

/** The payloads of one kind that a change causes. */
const payloadsAfter = async (kind: string, act: () => Promise<unknown>) => {
  await gantry.service.worker.drain();
  receiver.clear();
  await act();
  await gantry.service.worker.drain();
  return receiver.received.map(({ body }) => body).filter(({ object_kind }) => object_kind === kind);
};

const changesAfter = async (kind: string, act: () => Promise<unknown>) => {
  const [payload] = await payloadsAfter(kind, act);
  return payload.changes;
};

const openRequest = async (branch: string): Promise<string> => {
  await seedCommit(gantry, projectId, { [`${branch}.txt`]: 'b' }, { branch, from: 'main' });
  const json = { source_branch: branch, target_branch: 'main', title: branch };
  const { iid } = await send(`POST ${project}/merge_requests`, json);
  return `${project}/merge_requests/${iid}`;
};

describe('pushes', () => {
  it('list the latest 20 commits, oldest first, and count all', async () => {
    const shas: string[] = [];
    for (let at = 0; at < 22; at += 1)
      shas.push(await seedCommit(gantry, projectId, { 'n.txt': `${at}` }, { branch: 'long', from: 'main' }));
    const [push] = await payloadsAfter(
      'push',
      async () => await send(`POST ${project}/repository/branches`, { branch: 'copy', ref: 'long' }),
    );
    assert.equal(push.total_commits_count, 22);
    assert.deepEqual(
      push.commits.map(({ id }: { id: string }) => id),
      shas.slice(2),
    );
  });
});

describe('jobs', () => {
  it('tell what they do to their environment', async () => {
    const content = `
build: { script: make }
deploy: { script: make, environment: { name: live, on_stop: remove } }
check: { script: make, environment: { name: live, action: verify } }
remove: { script: make, when: manual, environment: { name: live, action: stop } }`;
    const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content }];
    const [pipeline] = await payloadsAfter('pipeline', async () => {
      await send(`POST ${project}/repository/commits`, {
        branch: 'ci',
        start_branch: 'main',
        commit_message: 'CI',
        actions,
      });
    });
    const found = pipeline.builds.map(
      ({ name, environment }: { name: string; environment: { action: string } | null }) => [
        name,
        environment?.action ?? null,
      ],
    );
    assert.deepEqual(Object.fromEntries(found), {
      build: null,
      check: 'verify',
      deploy: 'start',
      remove: 'stop',
    });
    const jobs = await gantry.api(`GET ${project}/pipelines/${pipeline.object_attributes.id}/jobs`);
    const remove = jobs.body.find(({ name }: { name: string }) => name === 'remove');
    const [build] = await payloadsAfter(
      'build',
      async () => await send(`POST ${project}/jobs/${remove.id}/play`),
    );
    assert.deepEqual(
      [build.build_name, build.environment.name, build.environment.action],
      ['remove', 'live', 'stop'],
    );
  });
});

describe('changes', () => {
  it('changes in a payload have the times before and after', async () => {
    const { iid } = await send(`POST ${project}/issues`, { title: 'One' });
    const path = `${project}/issues/${iid}`;
    const estimate = await changesAfter(
      'issue',
      async () => await send(`POST ${path}/time_estimate`, { duration: '1h' }),
    );
    assert.deepEqual(estimate.time_estimate, { previous: 0, current: 3600 });
    assert.deepEqual(Object.keys(estimate.updated_at), ['previous', 'current']);
    await send(`POST ${path}/add_spent_time`, { duration: '1m' });
    const spent = await changesAfter(
      'issue',
      async () => await send(`POST ${path}/add_spent_time`, { duration: '2m' }),
    );
    assert.deepEqual(spent.total_time_spent, { previous: 60, current: 180 });
    assert.equal('time_estimate' in spent, false);
  });

  it('have all of labels that were removed', async () => {
    const { iid } = await send(`POST ${project}/issues`, { title: 'One', labels: 'shared,bug,old' });
    const labels = (await gantry.api(`GET ${project}/labels`)).body;
    const changes = await changesAfter('issue', async () => {
      await send(`PUT ${project}/issues/${iid}`, { labels: 'old,new' });
    });
    const [previous, current] = [changes.labels.previous, changes.labels.current];
    const brief = ({ title, id, color, type }: Record<string, unknown>): unknown[] => [
      title,
      id,
      color,
      type,
    ];
    const expected = (name: string, type: string): unknown[] => {
      const label = labels.find((one: { name: string }) => one.name === name);
      return [name, label.id, label.color, type];
    };
    assert.deepEqual(previous.map(brief), [
      expected('bug', 'ProjectLabel'),
      expected('old', 'ProjectLabel'),
      expected('shared', 'GroupLabel'),
    ]);
    assert.deepEqual(
      current.map(({ title }: { title: string }) => title),
      ['new', 'old'],
    );
  });

  it('changes in a payload name reviewers who are asked again', async () => {
    const path = await openRequest('again');
    await send(`PUT ${path}`, { reviewer_ids: [reviewer.id, 1] });
    await send(`POST ${path}/approve`, {}, reviewer.token);
    const [payload] = await payloadsAfter('merge_request', async () => {
      await send(`POST ${path}/notes`, { body: `/request_review @${reviewer.username}` });
    });
    const brief = (reviewers: Record<string, unknown>[]): unknown[] =>
      reviewers.map(({ id, state, re_requested }) => [id, state, re_requested]);
    const asked = [
      [reviewer.id, 'unreviewed', true],
      [1, 'unreviewed', false],
    ];
    assert.deepEqual(brief(payload.reviewers), asked);
    assert.deepEqual(brief(payload.changes.reviewers.current), asked);
    assert.deepEqual(brief(payload.changes.reviewers.previous), [
      [reviewer.id, 'approved', false],
      [1, 'unreviewed', false],
    ]);
  });
});

describe('merge requests', () => {
  const addHook = async (id: number): Promise<void> => {
    const json = {
      url: receiver.url,
      push_events: false,
      merge_requests_events: true,
      pipeline_events: true,
    };
    await send(`POST /projects/${id}/hooks`, json);
  };

  it('say why they cannot be merged, as the API does', async () => {
    const coded = await seedCoded(gantry, {}, { only_allow_merge_if_all_discussions_are_resolved: 1 });
    await addHook(coded.id);
    await seedBranch(gantry, coded, 'topic');
    const request = await openOn(gantry, coded, 'topic');
    await settle(gantry);
    assert.equal((await readRequest(gantry, request)).detailed_merge_status, 'mergeable');
    const path = `/projects/${coded.id}/merge_requests/${request.iid}`;
    const statusAfter = async (json: object): Promise<string> => {
      const [payload] = await payloadsAfter('merge_request', async () => await send(`PUT ${path}`, json));
      const { detailed_merge_status } = await readRequest(gantry, request);
      assert.equal(payload.object_attributes.detailed_merge_status, detailed_merge_status);
      return detailed_merge_status;
    };
    assert.equal(await statusAfter({ title: 'One' }), 'mergeable');
    await send(`POST ${path}/discussions`, { body: 'Why?' });
    assert.equal(await statusAfter({ title: 'Two' }), 'discussions_not_resolved');
    assert.equal(await statusAfter({ title: 'Draft: Two' }), 'draft_status');
  });

  it('have the same status in payloads of their pipelines', async () => {
    const coded = await seedCoded(gantry);
    await addHook(coded.id);
    const content = 'build: { script: make, rules: [{ if: $CI_MERGE_REQUEST_IID }] }';
    await seedBranch(gantry, coded, 'topic', { files: { '.gitlab-ci.yml': content } });
    const request = await openOn(gantry, coded, 'topic', { title: 'Draft: One' });
    const path = `/projects/${coded.id}/merge_requests/${request.iid}`;
    await settle(gantry);
    const [pipeline] = await payloadsAfter('pipeline', async () => await send(`POST ${path}/pipelines`));
    assert.equal(pipeline.merge_request.detailed_merge_status, 'draft_status');
  });
});
