/** API document: cancel, retry and play of jobs; behaviour book 4.0, 4.8, 4.9, 4.12. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JobStatus } from '../../../src/platform/db/schema/ci.ts';
import { unsealValue } from '../../../src/ci/variables/queries.ts';
import { unique } from '../../support/seed.ts';
import { type PipelineSeed, type SeededPipeline, seedPipeline, setJob } from '../../support/ci/jobs.ts';
import { type CodeWorld, startCodeWorld } from '../code_world.ts';
import { type Reply, type Team, answer, ascending } from '../world.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
type Job = any;

let world: CodeWorld;
let team: Team;

before(async () => {
  world = await startCodeWorld();
  team = await world.codeTeam();
});
after(async () => await world.close());

const file = `
stages: [build, test, deploy]
compile: { stage: build, script: make, tags: [linux] }
ask: { stage: build, script: make ask, when: manual }
check: { stage: test, script: make check }
later: { stage: deploy, script: make later, when: delayed, start_in: 1 day }
publish: { stage: deploy, script: make publish, when: manual }
`;

const actions = ['cancel', 'retry', 'play'] as const;
type Action = (typeof actions)[number];

const seed = async (attributes: Partial<PipelineSeed> = {}): Promise<SeededPipeline> =>
  // The default branch is protected.
  await seedPipeline(world.gantry, { project: team.id, ref: 'topic', file, ...attributes });

const idOf = ({ jobs }: SeededPipeline, name: string): number => {
  const id = jobs[name];
  assert.ok(id !== undefined, name);
  return id;
};

type RequestOptions = { as?: string | null; json?: object; project?: number };

const ask = async (
  action: Action,
  id: number,
  { project = team.id, as, json }: RequestOptions = {},
): Promise<Reply> =>
  await world.api(`POST /projects/${project}/jobs/${id}/${action}`, {
    ...(as !== undefined && { as }),
    ...(json !== undefined && { json }),
  });

const must = async (action: Action, id: number, options: RequestOptions = {}): Promise<Job> => {
  const { status, body, text } = await ask(action, id, options);
  assert.equal(status, 201, text);
  return body;
};

const get = async (id: number): Promise<Job> => (await world.api(`GET /projects/${team.id}/jobs/${id}`)).body;

const rowOf = async (id: number) =>
  await world.gantry.service.platform.store.db
    .selectFrom('jobs')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

const statusOfPipeline = async ({ id }: SeededPipeline): Promise<string> => {
  const { status } = await world.gantry.service.platform.store.db
    .selectFrom('pipelines')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return status;
};

const isQueued = async (id: number): Promise<boolean> => {
  const query = world.gantry.service.platform.store.db.selectFrom('pending_jobs').select('job_id');
  return (await query.where('job_id', '=', id).executeTakeFirst()) !== undefined;
};

/** Creates a job of this name and brings it to this state. */
const inState = async (name: string, status: JobStatus) => {
  const pipeline = await seed();
  const id = idOf(pipeline, name);
  const ended = ['success', 'failed', 'canceled'].includes(status);
  await setJob(world.gantry, id, {
    status,
    ...(['running', 'success', 'failed'].includes(status) && { started_at: 1_000 }),
    ...(ended && { finished_at: 61_000 }),
    ...(status === 'failed' && { failure_reason: 'script_failure' }),
  });
  return { id, pipeline };
};

const notRetryable = [403, { message: '403 Forbidden - Job is not retryable' }];
const unplayable = [400, { message: '400 (Bad request) Unplayable Job' }];

describe('POST cancel', () => {
  for (const status of ['created', 'pending', 'manual'] as const) {
    it(`${status}: canceled, with finished_at and without started_at`, async () => {
      const { id } = await inState('compile', status);
      const body = await must('cancel', id);
      assert.deepEqual([body.id, body.status, body.started_at], [id, 'canceled', null]);
      assert.match(body.finished_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.equal((await rowOf(id)).status, 'canceled');
      assert.equal(await isQueued(id), false);
    });
  }
  it('running: canceled at once, and its runner is told', async () => {
    const { id } = await inState('compile', 'running');
    const body = await must('cancel', id);
    assert.equal(body.status, 'canceled');
    assert.ok(body.started_at !== null && body.finished_at !== null);
    assert.equal((await rowOf(id)).status, 'canceling');
    const { pipeline: _pipeline, ...seen } = await get(id);
    assert.deepEqual([seen.status, seen.finished_at], ['canceled', body.finished_at]);
  });
  it('a delayed job is canceled before its time', async () => {
    const { id } = await inState('later', 'scheduled');
    assert.equal((await must('cancel', id)).status, 'canceled');
    assert.equal((await rowOf(id)).status, 'canceled');
  });
  for (const status of ['success', 'failed', 'canceled', 'skipped'] as const) {
    it(`${status}: 201, and nothing changes`, async () => {
      const { id } = await inState('compile', status);
      const before_ = await rowOf(id);
      assert.equal((await must('cancel', id)).status, status);
      assert.deepEqual(await rowOf(id), before_);
    });
  }
  it('later jobs are skipped, and the pipeline is canceled', async () => {
    const pipeline = await seed({
      file: 'stages: [a, b]\none: { stage: a, script: x }\ntwo: { stage: b, script: x }',
    });
    await must('cancel', idOf(pipeline, 'one'));
    assert.equal((await get(idOf(pipeline, 'two'))).status, 'skipped');
    assert.equal(await statusOfPipeline(pipeline), 'canceled');
  });
});

describe('POST retry', () => {
  for (const status of ['success', 'failed', 'canceled'] as const) {
    it(`${status}: a new job, pending, that neither started nor finished`, async () => {
      const { id, pipeline } = await inState('compile', status);
      const body = await must('retry', id, { as: team.developer.token });
      assert.notEqual(body.id, id);
      const { status: shown, started_at, finished_at, duration, name, stage, ref, tag_list } = body;
      assert.deepEqual(
        { shown, started_at, finished_at, duration, name, stage, ref, tag_list },
        {
          shown: 'pending',
          started_at: null,
          finished_at: null,
          duration: null,
          name: 'compile',
          stage: 'build',
          ref: 'topic',
          tag_list: ['linux'],
        },
      );
      assert.equal(body.user.id, team.developer.id);
      assert.equal(body.failure_reason, null);
      const row = await rowOf(body.id);
      const old = await rowOf(id);
      assert.deepEqual([row.retry_of_id, row.pipeline_id], [id, pipeline.id]);
      assert.deepEqual([old.status, old.retried], [status, 1]);
      assert.equal(await isQueued(body.id), true);
    });
  }
  for (const status of ['created', 'pending', 'running', 'manual', 'skipped'] as const) {
    it(`${status}: 403`, async () => {
      const { id } = await inState('compile', status);
      assert.deepEqual(answer(await ask('retry', id)), notRetryable);
      const { status: kept, retried } = await rowOf(id);
      assert.deepEqual([kept, retried], [status, 0]);
    });
  }
  it('a job canceled while it ran, before its runner has ended it, is retried', async () => {
    const { id } = await inState('compile', 'running');
    await must('cancel', id);
    assert.equal((await must('retry', id)).status, 'pending');
  });
  it('a job that was retried: 403', async () => {
    const { id } = await inState('compile', 'failed');
    await must('retry', id);
    assert.deepEqual(answer(await ask('retry', id)), notRetryable);
  });
  it('two concurrent retries create one job', async () => {
    const { id } = await inState('compile', 'failed');
    const replies = await Promise.all([ask('retry', id), ask('retry', id), ask('retry', id)]);
    assert.deepEqual(ascending(replies.map(({ status }) => status)), [201, 403, 403]);
  });
  it('skipped jobs behind it may run, and the pipeline runs again', async () => {
    const stages = 'stages: [a, b]\none: { stage: a, script: x }\ntwo: { stage: b, script: x }';
    const pipeline = await seed({ file: stages });
    await must('cancel', idOf(pipeline, 'one'));
    await must('retry', idOf(pipeline, 'one'));
    assert.equal((await get(idOf(pipeline, 'two'))).status, 'created');
    assert.equal(await statusOfPipeline(pipeline), 'pending');
  });
  it('the list has both jobs, the new one first', async () => {
    const { id, pipeline } = await inState('compile', 'failed');
    const made = await must('retry', id);
    const { body } = await world.api(`GET /projects/${team.id}/pipelines/${pipeline.id}/jobs`);
    const ids = (body as Job[]).filter(({ name }) => name === 'compile').map((one) => one.id);
    assert.deepEqual(ids, [made.id, id]);
  });
});

describe('POST play', () => {
  it('a manual job is queued as the same job, by the caller; the response says started, the store pending', async () => {
    const pipeline = await seed();
    const id = idOf(pipeline, 'ask');
    assert.equal((await get(id)).status, 'manual');
    const body = await must('play', id, { as: team.developer.token });
    assert.deepEqual([body.id, body.status, body.started_at], [id, 'started', null]);
    assert.equal(body.user.id, team.developer.id);
    assert.equal((await rowOf(id)).status, 'pending');
    assert.equal((await get(id)).status, 'pending');
    assert.equal(await isQueued(id), true);
    const pending = await world.api(`GET /projects/${team.id}/jobs?scope=pending&per_page=100`);
    assert.ok((pending.body as Job[]).some((one) => one.id === id));
  });
  for (const status of ['success', 'failed', 'canceled', 'skipped'] as const) {
    it(`a manual job that has ended, ${status}: a new job`, async () => {
      const { id } = await inState('ask', status);
      const body = await must('play', id, { as: team.developer.token });
      assert.notEqual(body.id, id);
      assert.deepEqual([body.status, body.name, body.user.id], ['started', 'ask', team.developer.id]);
      assert.equal((await rowOf(body.id)).status, 'pending');
      assert.equal((await rowOf(id)).retried, 1);
    });
    it(`a job of another kind that has ended, ${status}: 400`, async () => {
      const { id } = await inState('compile', status);
      assert.deepEqual(answer(await ask('play', id)), unplayable);
      assert.equal((await rowOf(id)).retried, 0);
    });
  }
  for (const status of ['created', 'pending', 'running'] as const) {
    it(`${status}, whatever its kind: 400`, async () => {
      for (const name of ['compile', 'ask']) {
        const { id } = await inState(name, status);
        assert.deepEqual(answer(await ask('play', id)), unplayable);
        assert.equal((await rowOf(id)).status, status);
      }
    });
  }
  it('a delayed one, before its time', async () => {
    const { id } = await inState('later', 'scheduled');
    assert.equal((await must('play', id)).status, 'started');
    assert.equal((await rowOf(id)).status, 'pending');
  });
  it('a job that was retried: 400', async () => {
    const { id } = await inState('ask', 'success');
    await must('play', id);
    assert.deepEqual(answer(await ask('play', id)), unplayable);
  });
  it('two concurrent plays start it once', async () => {
    const id = idOf(await seed(), 'ask');
    const replies = await Promise.all([ask('play', id), ask('play', id)]);
    assert.deepEqual(ascending(replies.map(({ status }) => status)), [201, 400]);
  });

  describe('job_variables_attributes', () => {
    const name = 'job_variables_attributes';
    const variablesOf = async (id: number) => {
      const rows = await world.gantry.service.platform.store.db
        .selectFrom('job_variables')
        .selectAll()
        .where('job_id', '=', id)
        .orderBy('key')
        .execute();
      return rows.map(({ key, sealed_value, source }) => {
        assert.ok(!sealed_value.includes('secret'));
        return [key, unsealValue(world.gantry.service.platform, sealed_value), source];
      });
    };
    it('are given to the job', async () => {
      const id = idOf(await seed(), 'ask');
      const variables = [
        { key: 'TARGET', value: 'old' },
        { key: 'TARGET', value: 'a secret' },
        { key: 'EMPTY', value: '' },
      ];
      await must('play', id, { json: { [name]: variables } });
      assert.deepEqual(await variablesOf(id), [
        ['EMPTY', '', 'play'],
        ['TARGET', 'a secret', 'play'],
      ]);
    });
    it('as a form, too', async () => {
      const id = idOf(await seed(), 'ask');
      const form = `${name}[0][key]=A&${name}[0][value]=one&${name}[1][key]=B&${name}[1][value]=two`;
      const reply = await world.api(`POST /projects/${team.id}/jobs/${id}/play`, { form });
      assert.equal(reply.status, 201, reply.text);
      assert.deepEqual(await variablesOf(id), [
        ['A', 'one', 'play'],
        ['B', 'two', 'play'],
      ]);
    });
    it('of a job played again keep the earlier ones', async () => {
      const id = idOf(await seed(), 'ask');
      const json = (...variables: object[]) => ({ json: { [name]: variables } });
      await must('play', id, json({ key: 'A', value: '1' }, { key: 'B', value: '1' }));
      await setJob(world.gantry, id, { status: 'success' });
      const again = await must('play', id, json({ key: 'B', value: '2' }));
      assert.deepEqual(await variablesOf(again.id), [
        ['A', '1', 'play'],
        ['B', '2', 'play'],
      ]);
    });
    for (const variables of [
      [{ key: 'a b', value: 'x' }],
      [{ key: '', value: 'x' }],
      [{ value: 'x' }],
      [{ key: 'A' }],
      [{ key: 'A', value: { b: 1 } }],
      [{ key: 'A', value: 'x'.repeat(70_000) }],
      ['A'],
      'A',
      5,
      Array.from({ length: 201 }, (_none, at) => ({ key: `A${at}`, value: '' })),
    ]) {
      it(`400, and nothing is started: ${JSON.stringify(variables).slice(0, 40)}`, async () => {
        const id = idOf(await seed(), 'ask');
        const reply = await ask('play', id, { json: { [name]: variables } });
        assert.equal(reply.status, 400, reply.text);
        assert.deepEqual(Object.keys(reply.body.message), [name]);
        assert.equal((await rowOf(id)).status, 'manual');
      });
    }
  });
});

describe('common to all actions', () => {
  const acted = async (action: Action): Promise<{ body: Job; id: number }> => {
    const { id } = await inState('ask', action === 'retry' ? 'failed' : 'manual');
    return { body: await must(action, id), id };
  };
  for (const action of actions) {
    it(`${action}: 201 with the job, without its pipeline`, async () => {
      const { body } = await acted(action);
      const { pipeline: _pipeline, ...shown } = await get(body.id);
      assert.deepEqual(Object.keys(body), Object.keys(shown));
      for (const key of ['pipeline', 'download_url']) assert.equal(key in body, false);
      const { status: _a, queued_duration: _b, ...answered } = body;
      const { status: _c, queued_duration: _d, ...rest } = shown;
      assert.deepEqual(answered, rest);
    });
    it(`${action}: needs no body, and takes an empty one`, async () => {
      const { id } = await inState('ask', action === 'retry' ? 'failed' : 'manual');
      const headers = { 'content-type': 'application/json' };
      const reply = await world.api(`POST /projects/${team.id}/jobs/${id}/${action}`, { headers });
      assert.equal(reply.status, 201, reply.text);
    });
    it(`${action} by the path of the project`, async () => {
      const { id } = await inState('ask', action === 'retry' ? 'failed' : 'manual');
      const path = encodeURIComponent(team.full_path);
      assert.equal((await world.api(`POST /projects/${path}/jobs/${id}/${action}`)).status, 201);
    });
  }
});

describe('permissions', () => {
  const forbidden = [403, { message: '403 Forbidden' }];
  /** An action's job that is ready for it, in a project of its own. */
  const ready = async (
    own: Team,
    action: Action,
    attributes: Partial<PipelineSeed> = {},
  ): Promise<number> => {
    const pipeline = await seed({ project: own.id, ...attributes });
    const id = idOf(pipeline, 'ask');
    if (action === 'retry') await setJob(world.gantry, id, { status: 'failed' });
    return id;
  };
  for (const action of actions) {
    const told = async (own: Team, id: number, as: string | null) =>
      answer(await ask(action, id, { project: own.id, as }));

    it(`${action}: allowed to developers, masters and owners; other members 403, anonymous 401`, async () => {
      const own = await world.codeTeam();
      const id = await ready(own, action);
      assert.deepEqual(await told(own, id, null), [401, { message: '401 Unauthorized' }]);
      for (const { token } of [own.stranger, own.guest, own.reporter]) {
        assert.deepEqual(await told(own, id, token), forbidden);
      }
      for (const { token } of [own.developer, own.master, own.owner]) {
        assert.equal((await told(own, await ready(own, action), token))[0], 201);
      }
    });
    it(`${action}: 404 for a hidden project, before anything about the job`, async () => {
      const hidden = await world.codeTeam({ visibility: 'private' });
      const id = await ready(hidden, action);
      const hiddenProject = [404, { message: '404 Project Not Found' }];
      assert.deepEqual(await told(hidden, id, hidden.stranger.token), hiddenProject);
      assert.deepEqual(await told(hidden, 999_999, hidden.stranger.token), hiddenProject);
    });
    it(`${action}: checks the right before the job, and the job before its state`, async () => {
      const own = await world.codeTeam();
      assert.deepEqual(await told(own, 999_999, own.reporter.token), forbidden);
      assert.deepEqual(await told(own, 999_999, own.developer.token), [404, { message: '404 Not found' }]);
      const { id } = await inState('compile', 'running');
      assert.deepEqual(await told(own, id, own.owner.token), [404, { message: '404 Not found' }]);
      assert.equal((await rowOf(id)).status, 'running');
    });
    it(`${action}: 403 in an archived project, and if jobs or code are disabled`, async () => {
      for (const columns of [
        { archived: 1 },
        { builds_access_level: 'disabled' },
        { repository_access_level: 'disabled' },
      ]) {
        const own = await world.codeTeam();
        const id = await ready(own, action);
        await world.setProject(own.id, columns);
        assert.deepEqual(await told(own, id, own.owner.token), forbidden);
      }
    });
    it(`${action} on a protected branch: allowed to users who may push or merge`, async () => {
      const own = await world.codeTeam();
      const protect = async (push_access_level: number, merge_access_level: number) => {
        const name = unique('held');
        const json = { name, push_access_level, merge_access_level };
        const reply = await world.api(`POST /projects/${own.id}/protected_branches`, { json });
        assert.equal(reply.status, 201, reply.text);
        return await ready(own, action, { ref: name, protected: true });
      };
      const masters = await protect(40, 40);
      assert.deepEqual(await told(own, masters, own.developer.token), forbidden);
      assert.equal((await told(own, masters, own.master.token))[0], 201);
      assert.equal((await told(own, await protect(40, 30), own.developer.token))[0], 201);
      assert.equal((await told(own, await protect(30, 40), own.developer.token))[0], 201);
      assert.deepEqual(await told(own, await protect(0, 0), own.owner.token), forbidden);
    });
    it(`${action} of a protected tag: allowed to users who may create it`, async () => {
      const own = await world.codeTeam();
      const json = { name: 'v*', create_access_level: 40 };
      assert.equal((await world.api(`POST /projects/${own.id}/protected_tags`, { json })).status, 201);
      const tagged = { ref: 'v1.0', tag: true, protected: true };
      const id = await ready(own, action, tagged);
      assert.deepEqual(await told(own, id, own.developer.token), forbidden);
      assert.equal((await told(own, id, own.master.token))[0], 201);
      const free = await ready(own, action, { ref: 'w1.0', tag: true });
      assert.equal((await told(own, free, own.developer.token))[0], 201);
    });
    it(`${action}: checks the protected ref before the state`, async () => {
      const own = await world.codeTeam();
      const pipeline = await seed({ project: own.id, ref: 'main', protected: true });
      const id = idOf(pipeline, 'check');
      assert.deepEqual(await told(own, id, own.developer.token), forbidden);
      assert.equal(
        (await told(own, id, own.master.token))[0],
        { cancel: 201, retry: 403, play: 400 }[action],
      );
    });
    it(`${action} of a merge request's job: developers`, async () => {
      const own = await world.codeTeam();
      const open = await world.open(own.id);
      const ofRequest = { ref: `refs/merge-requests/${open.iid}/head`, merge_request: open.id };
      const protect = async (name: string): Promise<void> => {
        const json = { name, push_access_level: 40, merge_access_level: 40 };
        await world.api(`POST /projects/${own.id}/protected_branches`, { json });
      };
      await protect(open.source_branch);
      const free = await ready(own, action, ofRequest);
      assert.equal((await told(own, free, own.developer.token))[0], 201);
      // A rule for all names also covers merge request refs.
      await protect('*');
      const held = await ready(own, action, ofRequest);
      assert.deepEqual(await told(own, held, own.developer.token), forbidden);
      assert.equal((await told(own, held, own.master.token))[0], 201);
    });
  }
  it('an id that is none: 400', async () => {
    for (const action of actions) {
      const reply = await world.api(`POST /projects/${team.id}/jobs/x/${action}`);
      assert.deepEqual(answer(reply), [400, { message: { job_id: ['is invalid'] } }]);
    }
  });
});
