/** API document: the job record, alone and in lists; behaviour book 4.0, 4.3; clients' extra fields. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { hashToken } from '../../../src/core/access/credentials/token_text.ts';
import { insertRow } from '../../../src/platform/db/insert.ts';
import type { JobStatus } from '../../../src/platform/db/schema/ci.ts';
import { hashJobToken, newJobToken } from '../../../src/ci/jobs/token.ts';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { type SeededPipeline, seedPipeline, setJob, setPipeline } from '../../support/ci/jobs.ts';
import { type CodeWorld, startCodeWorld } from '../code_world.ts';
import { type Team, answer } from '../world.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
type Job = any;

let world: CodeWorld;
let team: Team;
let sha: string;
let pipeline: SeededPipeline;

const file = `
stages: [build, test]
compile:
  stage: build
  tags: [linux, fast]
  script: make
check: { stage: test, script: make check, allow_failure: true }
`;

const time = (text: string): number => Date.parse(text);
const created = '2016-01-11T10:13:33.506Z';

before(async () => {
  world = await startCodeWorld();
  team = await world.codeTeam();
  sha = await seedCommit(
    world.gantry,
    team.id,
    { 'more.txt': 'More\n' },
    { message: 'Test the CI\n\nAll of it.\n' },
  );
  pipeline = await seedPipeline(world.gantry, { project: team.id, file, sha, user: team.developer.id });
  await setJob(world.gantry, pipeline.jobs['compile']!, {
    created_at: time(created),
    queued_at: time(created),
  });
});
after(async () => await world.close());

const get = async (id: number | undefined, project = team.id): Promise<Job> => {
  const { status, body, text } = await world.api(`GET /projects/${project}/jobs/${id}`);
  assert.equal(status, 200, text);
  return body;
};

/** A pending job of its own, with these columns. */
const job = async (columns: Parameters<typeof setJob>[2] = {}): Promise<Job> => {
  const made = await seedPipeline(world.gantry, { project: team.id, file, sha, user: team.developer.id });
  await setJob(world.gantry, made.jobs['compile']!, columns);
  return await get(made.jobs['compile']);
};

const inOrder = [
  'id',
  'status',
  'stage',
  'name',
  'ref',
  'tag',
  'coverage',
  'created_at',
  'started_at',
  'finished_at',
  'user',
  'artifacts_file',
  'commit',
  'runner',
  'pipeline',
];

const newer = [
  'allow_failure',
  'duration',
  'queued_duration',
  'failure_reason',
  'web_url',
  'artifacts',
  'artifacts_expire_at',
  'erased_at',
  'tag_list',
  'archived',
  'project',
];

const origin = (): string => world.url.replace('/api/v4', '');

describe('one job', () => {
  it('has the fields of the document in their order, then the newer ones', async () => {
    assert.deepEqual(Object.keys(await get(pipeline.jobs['compile'])), [...inOrder, ...newer]);
  });
  it('has them with their values', async () => {
    const { user, commit, pipeline: shown, queued_duration, ...rest } = await get(pipeline.jobs['compile']);
    assert.equal(user.id, team.developer.id);
    assert.equal(commit.id, sha);
    assert.equal(shown.id, pipeline.id);
    assert.ok(queued_duration > 0);
    assert.deepEqual(rest, {
      id: pipeline.jobs['compile'],
      status: 'pending',
      stage: 'build',
      name: 'compile',
      ref: 'main',
      tag: false,
      coverage: null,
      created_at: created,
      started_at: null,
      finished_at: null,
      artifacts_file: null,
      runner: null,
      allow_failure: false,
      duration: null,
      failure_reason: null,
      web_url: `${origin()}/${team.full_path}/-/jobs/${pipeline.jobs['compile']}`,
      artifacts: [],
      artifacts_expire_at: null,
      erased_at: null,
      tag_list: ['fast', 'linux'],
      archived: false,
      project: { ci_job_token_scope_enabled: false },
    });
  });
  it('a job of a later stage is created, and may be allowed to fail', async () => {
    const { status, stage, allow_failure, queued_duration } = await get(pipeline.jobs['check']);
    assert.deepEqual([status, stage, allow_failure, queued_duration], ['created', 'test', true, null]);
  });
  it('is answered alike by GET, in the list of the project and in that of its pipeline', async () => {
    world.gantry.setTime(Date.now());
    const one = await get(pipeline.jobs['check']);
    const listed = await world.api(`GET /projects/${team.id}/jobs?per_page=100`);
    const ofPipeline = await world.api(`GET /projects/${team.id}/pipelines/${pipeline.id}/jobs`);
    for (const { body } of [listed, ofPipeline]) {
      assert.deepEqual(
        (body as Job[]).find(({ id }) => id === one.id),
        one,
      );
    }
    world.gantry.setTime(null);
  });
  it('404 for a job of another project, and for none; 400 for what is no id', async () => {
    const other = await world.codeTeam();
    for (const id of [pipeline.jobs['compile'], 999_999, 0, -1]) {
      const reply = await world.api(`GET /projects/${other.id}/jobs/${id}`);
      assert.deepEqual(answer(reply), [404, { message: '404 Not found' }]);
    }
    assert.deepEqual(answer(await world.api(`GET /projects/${team.id}/jobs/x`)), [
      400,
      { message: { job_id: ['is invalid'] } },
    ]);
  });
  it('401 for anonymous callers; 404 in a hidden project; 403 if pipelines are not public', async () => {
    const hidden = await world.codeTeam({ visibility: 'private' }, { public_builds: 0 });
    const made = await seedPipeline(world.gantry, { project: hidden.id, file });
    const told = async (as: string | null) =>
      answer(await world.api(`GET /projects/${hidden.id}/jobs/${made.jobs['compile']}`, { as }));
    assert.deepEqual(await told(null), [401, { message: '401 Unauthorized' }]);
    assert.deepEqual(await told(hidden.stranger.token), [404, { message: '404 Project Not Found' }]);
    assert.deepEqual(await told(hidden.guest.token), [403, { message: '403 Forbidden' }]);
    assert.equal((await told(hidden.reporter.token))[0], 200);
    await world.setProject(hidden.id, { public_builds: 1 });
    assert.equal((await told(hidden.guest.token))[0], 200);
    await world.setProject(hidden.id, { visibility: 'public' });
    assert.equal((await told(hidden.stranger.token))[0], 200);
    assert.equal((await told(null))[0], 401);
  });
});

describe('status', () => {
  const words: [JobStatus, string][] = [
    ['created', 'created'],
    ['pending', 'pending'],
    ['running', 'running'],
    ['failed', 'failed'],
    ['success', 'success'],
    ['canceled', 'canceled'],
    ['skipped', 'skipped'],
    ['manual', 'manual'],
    ['scheduled', 'created'],
    ['waiting_for_resource', 'created'],
    ['canceling', 'canceled'],
  ];
  for (const [status, shown] of words) {
    it(`${status} is shown as ${shown}, of a job and of its pipeline`, async () => {
      const made = await seedPipeline(world.gantry, { project: team.id, file, sha });
      await setJob(world.gantry, made.jobs['compile']!, { status });
      await setPipeline(world.gantry, made.id, { status });
      const one = await get(made.jobs['compile']);
      assert.deepEqual([one.status, one.pipeline.status], [shown, shown]);
    });
  }
  it('a job that its runner is still ending counts as ended since its cancellation', async () => {
    const cancelled_at = time('2016-01-11T10:20:00.000Z');
    const started_at = time('2016-01-11T10:15:00.000Z');
    const one = await job({ status: 'canceling', started_at, cancelled_at });
    assert.deepEqual(
      [one.status, one.finished_at, one.duration],
      ['canceled', '2016-01-11T10:20:00.000Z', 300],
    );
  });
});

describe('times', () => {
  it('created_at, started_at and finished_at; how long it waited and ran, in seconds', async () => {
    const one = await job({
      status: 'success',
      created_at: time('2016-01-11T10:13:33.506Z'),
      queued_at: time('2016-01-11T10:13:34.000Z'),
      started_at: time('2016-01-11T10:14:09.526Z'),
      finished_at: time('2016-01-11T10:15:10.776Z'),
    });
    assert.deepEqual(
      [one.created_at, one.started_at, one.finished_at, one.queued_duration, one.duration],
      ['2016-01-11T10:13:33.506Z', '2016-01-11T10:14:09.526Z', '2016-01-11T10:15:10.776Z', 35.526, 61.25],
    );
  });
  it('duration of a running job counts until now', async () => {
    const now = time('2030-01-01T00:00:10.000Z');
    world.gantry.setTime(now);
    const one = await job({ status: 'running', queued_at: now - 9_000, started_at: now - 2_500 });
    world.gantry.setTime(null);
    assert.deepEqual([one.queued_duration, one.duration, one.finished_at], [6.5, 2.5, null]);
  });
  it('a job that never ran was queued until it was canceled', async () => {
    const one = await job({ status: 'canceled', queued_at: 1_000, finished_at: 4_000 });
    assert.deepEqual([one.queued_duration, one.duration, one.started_at], [3, null, null]);
  });
});

describe('coverage, failure_reason, ref, tag', () => {
  it('coverage is a number where the log said one', async () => {
    assert.equal((await job({ status: 'success', coverage: 9150 })).coverage, 91.5);
    assert.equal((await job({ status: 'success', coverage: 0 })).coverage, 0);
  });
  it('failure_reason of one that failed', async () => {
    const one = await job({ status: 'failed', failure_reason: 'script_failure' });
    assert.equal(one.failure_reason, 'script_failure');
  });
  it('of a tag', async () => {
    const made = await seedPipeline(world.gantry, { project: team.id, file, sha, ref: 'v1.0', tag: true });
    const one = await get(made.jobs['compile']);
    assert.deepEqual([one.ref, one.tag, one.pipeline.ref], ['v1.0', true, 'v1.0']);
  });
});

describe('artifacts', () => {
  type Row = { file_type: string; filename: string; size: number; expire_at?: number | null };
  const keep = async (job_id: number, { expire_at = null, ...row }: Row): Promise<void> => {
    await world.gantry.service.platform.store.write(async (tx) => {
      const rest = { project_id: team.id, job_id, sha256: '0'.repeat(64), created_at: tx.now };
      const file_format = row.file_type === 'archive' ? 'zip' : 'gzip';
      await insertRow(tx.db, 'artifacts', { ...rest, ...row, expire_at, file_format });
    });
  };

  it('artifacts_file is the archive; artifacts are all files, the log among them once it is whole', async () => {
    const { id } = await job({ status: 'success', trace_size: 1234 });
    await keep(id, { file_type: 'junit', filename: 'junit.xml.gz', size: 77 });
    await keep(id, { file_type: 'archive', filename: 'artifacts.zip', size: 1000 });
    const one = await get(id);
    assert.deepEqual(one.artifacts_file, { filename: 'artifacts.zip', size: 1000 });
    assert.deepEqual(one.artifacts, [
      { file_type: 'junit', size: 77, filename: 'junit.xml.gz', file_format: 'gzip' },
      { file_type: 'archive', size: 1000, filename: 'artifacts.zip', file_format: 'zip' },
      { file_type: 'trace', size: 1234, filename: 'job.log', file_format: 'raw' },
    ]);
  });
  it('artifacts_file is null, not missing, where there are reports alone', async () => {
    const { id } = await job({ status: 'success' });
    await keep(id, { file_type: 'junit', filename: 'junit.xml.gz', size: 77 });
    const one = await get(id);
    assert.deepEqual([one.artifacts_file, one.artifacts.length], [null, 1]);
  });
  it('artifacts_expire_at; expired artifacts are not shown', async () => {
    const later = Date.now() + 3_600_000;
    const { id } = await job({ status: 'success', artifacts_expire_at: later });
    await keep(id, { file_type: 'archive', filename: 'artifacts.zip', size: 1, expire_at: later });
    const one = await get(id);
    assert.equal(one.artifacts_expire_at, new Date(later).toISOString());
    assert.equal(one.artifacts.length, 1);
    world.gantry.setTime(later + 1);
    const after_ = await get(id);
    world.gantry.setTime(null);
    assert.deepEqual([after_.artifacts_file, after_.artifacts], [null, []]);
  });
  it('erased_at', async () => {
    const one = await job({ status: 'failed', erased_at: time('2016-01-12T00:00:00.000Z') });
    assert.equal(one.erased_at, '2016-01-12T00:00:00.000Z');
  });
});

describe('commit', () => {
  it('with an offset in its time', async () => {
    const { commit } = await get(pipeline.jobs['compile']);
    const { parent_ids, web_url, ...rest } = commit;
    assert.equal(parent_ids.length, 1);
    assert.equal(web_url, `${origin()}/${team.full_path}/commit/${sha}`);
    assert.deepEqual(rest, {
      id: sha,
      short_id: sha.slice(0, 8),
      title: 'Test the CI',
      message: 'Test the CI\n\nAll of it.\n',
      author_name: 'Ada Lovelace',
      author_email: 'ada@example.com',
      authored_date: '2017-07-14T02:40:00.000+00:00',
      committer_name: 'Ada Lovelace',
      committer_email: 'ada@example.com',
      committed_date: '2017-07-14T02:40:00.000+00:00',
      created_at: '2017-07-14T02:40:00.000+00:00',
    });
  });
  it('null if the repository is empty or has lost the commit', async () => {
    const lost = await seedPipeline(world.gantry, { project: team.id, file, sha: 'd'.repeat(40) });
    assert.equal((await get(lost.jobs['compile'])).commit, null);
    const empty = await world.team();
    const made = await seedPipeline(world.gantry, { project: empty.id, file });
    assert.equal((await get(made.jobs['compile'], empty.id)).commit, null);
  });
  it('in a list each job has its own', async () => {
    const own = await world.codeTeam();
    const shas: string[] = [];
    for (const name of ['one', 'two']) {
      const made = await seedCommit(world.gantry, own.id, { [name]: name });
      await seedPipeline(world.gantry, { project: own.id, file: 'a: { script: x }', sha: made });
      shas.unshift(made);
    }
    const { body } = await world.api(`GET /projects/${own.id}/jobs`);
    assert.deepEqual(
      (body as Job[]).map(({ commit }) => commit.id),
      shas,
    );
  });
});

describe('pipeline', () => {
  it('id, sha, ref and status, and what newer clients read', async () => {
    const { pipeline: shown } = await get(pipeline.jobs['compile']);
    const { created_at, updated_at, ...rest } = shown;
    for (const one of [created_at, updated_at]) assert.match(one, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(rest, {
      id: pipeline.id,
      iid: 1,
      project_id: team.id,
      sha,
      ref: 'main',
      status: 'pending',
      source: 'push',
      name: null,
      web_url: `${origin()}/${team.full_path}/-/pipelines/${pipeline.id}`,
    });
  });
});

describe('runner', () => {
  const runner = async (fields: object = {}): Promise<number> =>
    await world.gantry.service.platform.store.write(
      async (tx) =>
        await insertRow(tx.db, 'runners', {
          token_hash: hashToken(String(Math.random())),
          token_start: 'glrt-abc',
          runner_type: 'instance_type',
          description: 'The big one',
          maintenance_note: null,
          maximum_timeout: null,
          creator_id: null,
          contacted_at: tx.now,
          created_at: tx.now,
          updated_at: tx.now,
          ...fields,
        }),
    );
  it('is the runner that took the job', async () => {
    const id = await runner();
    const one = await job({ status: 'running', runner_id: id });
    assert.deepEqual(one.runner, {
      id,
      description: 'The big one',
      active: true,
      paused: false,
      is_shared: true,
      runner_type: 'instance_type',
      name: null,
      online: true,
      status: 'online',
    });
  });
  it('a paused project runner that never contacted the service', async () => {
    const id = await runner({ runner_type: 'project_type', active: 0, contacted_at: null });
    const { runner: shown } = await job({ status: 'success', runner_id: id });
    const { active, paused, is_shared, online, status } = shown;
    assert.deepEqual(
      [active, paused, is_shared, online, status],
      [false, true, false, false, 'never_contacted'],
    );
  });
  it('null after the runner was deleted', async () => {
    assert.equal((await job({ status: 'success', runner_id: 999_999 })).runner, null);
  });
});

describe('user', () => {
  it('with the fields of a profile, which only jobs have', async () => {
    const profile = {
      bio: 'Builds',
      location: 'Here',
      skype: 's',
      linkedin: 'l',
      twitter: 't',
      website_url: 'https://example.com',
      organization: 'O',
    };
    const { id, username } = team.developer;
    const edited = await world.api(`PUT /users/${id}`, { json: profile });
    assert.equal(edited.status, 200, edited.text);
    const { user } = await get(pipeline.jobs['compile']);
    const { created_at, avatar_url, ...rest } = user;
    assert.match(created_at, /^\d{4}-\d\d-\d\dT/);
    assert.match(avatar_url, /^http/);
    assert.deepEqual(rest, {
      id,
      username,
      name: `Name of ${username}`,
      state: 'active',
      web_url: `${origin()}/${username}`,
      public_email: null,
      ...profile,
    });
  });
  it('null for a job that nobody started', async () => {
    assert.equal((await job({ user_id: null })).user, null);
  });
});

describe('GET /job', () => {
  const running = async (status: JobStatus = 'running') => {
    const token = newJobToken(world.gantry.service.platform.random);
    const one = await job({ status, token_hash: hashJobToken(token) });
    return { id: one.id as number, token };
  };
  const told = async (query: string, headers: Record<string, string> = {}) =>
    await world.api(`GET /job${query}`, { as: null, headers });

  it('the job whose token is sent, in a header or as a parameter', async () => {
    const { id, token } = await running();
    for (const reply of [await told('', { 'job-token': token }), await told(`?job_token=${token}`)]) {
      assert.deepEqual([reply.status, reply.body?.id, reply.body?.status], [200, id, 'running']);
      assert.deepEqual(Object.keys(reply.body), [...inOrder, ...newer]);
    }
  });
  it('in a private project, too, and while it is being canceled', async () => {
    const hidden = await world.codeTeam({ visibility: 'private' }, { public_builds: 0 });
    const made = await seedPipeline(world.gantry, { project: hidden.id, file, user: hidden.developer.id });
    const token = newJobToken(world.gantry.service.platform.random);
    for (const status of ['running', 'canceling'] as const) {
      await setJob(world.gantry, made.jobs['compile']!, { status, token_hash: hashJobToken(token) });
      assert.equal((await told('', { 'job-token': token })).body.id, made.jobs['compile']);
    }
  });
  it('401 for a token of a job that is not running', async () => {
    const { token } = await running('success');
    for (const text of [token, 'glcbt-wrong', 'x', '']) {
      assert.equal((await told('', { 'job-token': text })).status, 401, text);
    }
    assert.equal((await told('')).status, 401);
  });
  it('404 for a user token', async () => {
    assert.deepEqual(answer(await world.api('GET /job')), [404, { message: '404 Not found' }]);
  });
});
