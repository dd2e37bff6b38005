import assert from 'node:assert/strict';
import { once } from 'node:events';
import { truncate, writeFile } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { type Coded, seedCoded, settle } from '../../../test/support/seed_merge_requests.ts';
import {
  type Generation,
  type Peer,
  type SeededRunner,
  logChecksum,
  multipartForm,
  makePeer,
  seedRunner,
} from '../../../test/support/ci/fake_runner.ts';
import { getLogName } from '../../../test/support/ci/artifacts.ts';
import { seedMember, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { writeZip } from '../../../zip/write_zip.ts';
import { getTracePath } from '../../platform/blob/trace_path.ts';

let gantry: TestService;
const peers: Peer[] = [];

type Pushed = Coded & { sha: string; runner: SeededRunner };

/** A peer for the project's own runner, which serves no other project. */
const peerOf = ({ runner }: Pushed, generation: Generation = 19): Peer => {
  const peer = makePeer(gantry, { token: runner.token, generation });
  peers.push(peer);
  return peer;
};

before(async () => {
  gantry = await startTestService();
});
after(async () => {
  for (const peer of peers) peer.close();
  await gantry.close();
});

const zipOf = async (name: string, content: string): Promise<Buffer> => {
  const entry = { name, kind: 'file' as const, mode: 0o644, modified: new Date(0), content };
  return Buffer.concat(await writeZip([entry]).toArray());
};

/** Creates a project whose single commit on `main` has this configuration; its pipeline is pending. */
const pushed = async (file: string, files: Record<string, string> = {}): Promise<Pushed> => {
  const project = await seedCoded(gantry);
  const runner = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
  const sha = await seedCommit(gantry, project.id, { '.gitlab-ci.yml': file, ...files });
  await settle(gantry);
  return { ...project, sha, runner };
};

// oxlint-disable-next-line typescript/no-explicit-any -- records of the API, that tests assert on
type Seen = any;

const jobsOf = async (project: Coded): Promise<Seen[]> =>
  (await gantry.api(`GET /projects/${project.id}/jobs?per_page=100`)).body;

const jobNamed = async (project: Coded, name: string): Promise<Seen> => {
  const found = (await jobsOf(project)).find((job) => job.name === name);
  assert.ok(found, `no job ${name}`);
  return found;
};

const pipelineOf = async (project: Coded): Promise<Seen> => {
  const [newest] = (await gantry.api(`GET /projects/${project.id}/pipelines`)).body;
  return (await gantry.api(`GET /projects/${project.id}/pipelines/${newest.id}`)).body;
};

const twoStages = `
build:
  stage: build
  script: [make]
  artifacts: { paths: [out/], expire_in: 1 week }
test:
  stage: test
  script: [make test]
`;

for (const generation of [10, 19] as const) {
  describe(`a runner of release ${generation}`, () => {
    test('takes a pipeline from its push to its end', async () => {
      const project = await pushed(twoStages);
      const peer = peerOf(project, generation);
      const build = await peer.take();
      assert.equal(build.body.job_info.name, 'build');
      assert.equal((await jobNamed(project, 'build')).status, 'running');
      assert.equal((await pipelineOf(project)).status, 'running');
      assert.equal((await peer.trace(build, 'one\n')).headers['range'], '0-4');
      const traced = await peer.trace(build, 'two\n');
      assert.deepEqual(
        [traced.status, traced.headers['range'], traced.headers['job-status']],
        [202, '0-8', 'running'],
      );
      assert.equal(traced.headers['x-gitlab-trace-update-interval'], '3');
      const archive = await zipOf('out/a.txt', 'made');
      const kept = await peer.upload(build, archive);
      assert.deepEqual([kept.status, kept.body], [201, 201]);
      const ended = await peer.finish(build);
      assert.deepEqual([ended.status, ended.body, ended.headers['job-status']], [200, 200, 'success']);
      const trace = await gantry.api(`GET /projects/${project.id}/jobs/${build.id}/trace`);
      assert.equal(trace.text, 'one\ntwo\n');

      const next = await peer.take();
      assert.equal(next.body.job_info.name, 'test');
      assert.deepEqual(next.body.dependencies, [
        {
          id: build.id,
          name: 'build',
          token: next.token,
          artifacts_file: { filename: 'artifacts.zip', size: archive.length },
        },
      ]);
      const got = await peer.download(next.token, build.id);
      assert.equal(got.status, 200);
      assert.deepEqual(got.bytes, archive);
      await peer.run(next, { log: 'tested\n' });
      assert.equal((await pipelineOf(project)).status, 'success');
      assert.equal((await jobNamed(project, 'test')).runner.id, project.runner.id);
    });

    test('reports that a job failed, and why', async () => {
      const project = await pushed('a: { script: x }');
      const peer = peerOf(project, generation);
      const job = await peer.take();
      await peer.trace(job, 'no\n');
      const input = { failure_reason: 'script_failure', ...(generation === 19 && { exit_code: 3 }) };
      assert.equal((await peer.finish(job, 'failed', input)).headers['job-status'], 'failed');
      const { status, failure_reason } = await jobNamed(project, 'a');
      assert.deepEqual([status, failure_reason], ['failed', 'script_failure']);
      assert.equal((await pipelineOf(project)).status, 'failed');
    });

    test('runs a retried job as a new job', async () => {
      const project = await pushed('a: { script: x }');
      const peer = peerOf(project, generation);
      const first = await peer.take();
      await peer.run(first, { state: 'failed' });
      const retried = await gantry.api(`POST /projects/${project.id}/jobs/${first.id}/retry`);
      assert.equal(retried.status, 201);
      const second = await peer.take();
      assert.equal(second.id, retried.body.id);
      assert.notEqual(second.token, first.token);
      await peer.run(second);
      assert.equal((await pipelineOf(project)).status, 'success');
    });
  });
}

describe('a cancelled job', () => {
  const cancelled = async (generation: Generation) => {
    const project = await pushed('a: { script: x, after_script: [y] }');
    const peer = peerOf(project, generation);
    const job = await peer.take();
    assert.equal((await gantry.api(`POST /projects/${project.id}/jobs/${job.id}/cancel`)).status, 201);
    return { project, peer, job };
  };

  test('is announced to its runner, which ends it in its own time', async () => {
    const { project, peer, job } = await cancelled(19);
    const heard = await peer.trace(job, 'more\n');
    assert.deepEqual([heard.status, heard.headers['job-status']], [202, 'canceling']);
    const kept = await peer.update(job, { state: 'running' });
    assert.deepEqual([kept.status, kept.headers['job-status']], [200, 'canceling']);
    const ended = await peer.finish(job, 'failed');
    assert.deepEqual([ended.status, ended.headers['job-status']], [200, 'canceled']);
    assert.equal((await jobNamed(project, 'a')).status, 'canceled');
    const late = await peer.trace(job, 'late\n');
    assert.deepEqual([late.status, late.headers['job-status']], [403, 'canceled']);
    assert.equal(late.body.message, '403 Forbidden  - Job is not running');
  });

  test('ends at once with an old runner, which stops at the next answer', async () => {
    const { project, peer, job } = await cancelled(10);
    const heard = await peer.trace(job, 'more\n');
    assert.deepEqual([heard.status, heard.headers['job-status']], [202, 'canceled']);
    assert.equal((await jobNamed(project, 'a')).status, 'canceled');
    assert.equal((await peer.trace(job, 'late\n')).status, 403);
  });

  for (const [generation, status] of [
    [10, 'canceled'],
    [19, 'canceling'],
  ] as const) {
    test(`is ${status} by the features of a release ${generation} whose User-Agent has no version`, async () => {
      const project = await pushed('a: { script: x, after_script: [y] }');
      const { token } = peerOf(project, generation);
      const peer = makePeer(gantry, { token, generation, userAgent: 'gitlab-runner' });
      const job = await peer.take();
      await gantry.api(`POST /projects/${project.id}/jobs/${job.id}/cancel`);
      const { headers } = await peer.trace(job, 'more\n');
      assert.equal(headers['job-status'], status);
      peer.close();
    });
  }
});

test('leaves out reports for a runner that uploads one archive only', async () => {
  const file = 'a: { script: x, artifacts: { paths: [out], reports: { junit: j.xml } } }';
  const types = async (generation: Generation): Promise<string[]> => {
    const job = await peerOf(await pushed(file), generation).take();
    return (job.body.artifacts as { artifact_type: string }[]).map(({ artifact_type }) => artifact_type);
  };
  assert.deepEqual(await types(10), ['archive']);
  assert.deepEqual(await types(19), ['archive', 'junit']);
});

describe('the payload of a job', () => {
  test('the payload of a job has what its configuration says', async () => {
    const project = await pushed(
      `
variables: { DEPTH: deep, GIT_DEPTH: "7" }
a:
  image: { name: "alpine:3", entrypoint: [sh], pull_policy: always }
  services: [{ name: "redis:7", alias: cache }]
  before_script: [one]
  script: [two, three]
  after_script: [four]
  timeout: 20 minutes
  cache: { key: { files: [lock], prefix: pre }, paths: [vendor/] }
  artifacts: { name: all, paths: [out], reports: { junit: [r.xml], dotenv: build.env } }
  hooks: { pre_get_sources_script: [zero] }
`,
      { lock: 'v1\n' },
    );
    const { body, token } = await peerOf(project).take();
    const { git_info: git, job_info: info } = body;
    assert.equal(body.token, token);
    assert.match(token, /^glcbt-/);
    assert.deepEqual(body.steps, [
      {
        name: 'script',
        script: ['one', 'two', 'three'],
        timeout: 1200,
        when: 'on_success',
        allow_failure: false,
      },
      { name: 'after_script', script: ['four'], timeout: 1200, when: 'always', allow_failure: true },
    ]);
    assert.deepEqual(body.runner_info, { timeout: 1200 });
    assert.deepEqual(body.hooks, [{ name: 'pre_get_sources_script', script: ['zero'] }]);
    assert.deepEqual(body.image, {
      name: 'alpine:3',
      entrypoint: ['sh'],
      pull_policy: ['always'],
      ports: [],
    });
    assert.deepEqual([body.services[0].name, body.services[0].alias], ['redis:7', 'cache']);
    const pipeline = await pipelineOf(project);
    assert.deepEqual(git, {
      repo_url: `${gantry.url.replace('://', `://gitlab-ci-token:${token}@`)}/${project.full_path}.git`,
      repo_object_format: 'sha1',
      ref: 'main',
      sha: project.sha,
      before_sha: project.first,
      ref_type: 'branch',
      refspecs: [
        `+refs/pipelines/${pipeline.id}:refs/pipelines/${pipeline.id}`,
        '+refs/heads/main:refs/remotes/origin/main',
      ],
      depth: 7,
      protected: git.protected,
    });
    assert.deepEqual(
      [info.id, info.name, info.stage, info.project_id, info.pipeline_id, info.project_full_path],
      [body.id, 'a', 'test', project.id, pipeline.id, project.full_path],
    );
    const side = git.protected ? 'protected' : 'non_protected';
    assert.match(body.cache[0].key, new RegExp(`^pre-[0-9a-f]{40}-${side}$`));
    assert.deepEqual(
      body.artifacts.map((one: Seen) => [one.name, one.artifact_type, one.artifact_format, one.when]),
      [
        ['all', 'archive', 'zip', 'on_success'],
        ['junit.xml', 'junit', 'gzip', 'always'],
        ['.env', 'dotenv', 'gzip', 'always'],
      ],
    );
    const variable = (key: string) => body.variables.find((one: Seen) => one.key === key);
    assert.equal(variable('CI_JOB_TOKEN').value, token);
    assert.equal(variable('DEPTH').value, 'deep');
    for (const { key, value } of body.variables) assert.equal(typeof value, 'string', key);
    assert.ok(body.features.failure_reasons.includes('script_failure'));
    for (const absent of ['run', 'inputs', 'secrets']) assert.equal(absent in body, false, absent);
  });

  test('has a cache key that changes with the files', async () => {
    const file = 'a: { script: x, cache: { key: { files: [lock] }, paths: [v] } }';
    const keyOf = async (files: Record<string, string>): Promise<string> => {
      const project = await pushed(file, files);
      return (await peerOf(project).take()).body.cache[0].key;
    };
    const one = await keyOf({ lock: '1' });
    assert.equal(await keyOf({ lock: '1', other: 'x' }), one);
    assert.notEqual(await keyOf({ lock: '2' }), one);
    assert.match(await keyOf({}), /^default-(?:non_)?protected$/);
  });
});

describe('a trace', () => {
  const running = async (generation: Generation = 19) => {
    const project = await pushed('a: { script: x }');
    const peer = peerOf(project, generation);
    return { project, peer, job: await peer.take() };
  };
  const textOf = async (project: Coded, id: number): Promise<string> =>
    (await gantry.api(`GET /projects/${project.id}/jobs/${id}/trace`)).text;

  test('continues where it ends: a gap is 416, with the offset', async () => {
    const { project, peer, job } = await running();
    await peer.trace(job, 'hello');
    const gap = await peer.patch(job, 'xx', '9-10');
    assert.deepEqual([gap.status, gap.headers['range'], gap.headers['job-status']], [416, '0-5', 'running']);
    const again = await peer.patch(job, 'lo world', '3-10');
    assert.deepEqual([again.status, again.headers['range']], [202, '0-11']);
    const other = await peer.patch(job, 'J', '0-0');
    assert.deepEqual([other.status, other.headers['range']], [416, '0-11']);
    assert.equal(await textOf(project, job.id), 'hello world');
  });

  test('refuses a chunk without Content-Range with 400', async () => {
    const { peer, job } = await running();
    const none = await peer.patch(job, 'x', null);
    assert.deepEqual([none.status, none.body.message], [400, '400 Missing header Content-Range']);
    for (const range of ['x', '-1', '0-9', '0--1', '5-4', '99999999999999999999-1']) {
      assert.equal((await peer.patch(job, 'x', range)).status, 400, range);
    }
  });

  test('takes a chunk of 16 MiB, and none that is longer', async () => {
    const { peer, job } = await running();
    const length = 16 * 2 ** 20;
    const longest = await peer.patch(job, Buffer.alloc(length, 'x\n'), `0-${length - 1}`);
    assert.deepEqual([longest.status, longest.headers['range']], [202, `0-${length}`]);
    const longer = await peer.patch(job, Buffer.alloc(length + 1), `${length}-${2 * length}`);
    assert.equal(longer.status, 413);
  });

  test('is requested again when its checksum differs', async () => {
    const { project, peer, job } = await running();
    await peer.trace(job, 'wrong');
    const right = Buffer.from('right');
    const output = { checksum: logChecksum(right), bytesize: 5 };
    const refused = await peer.update(job, { state: 'success', output });
    assert.equal(refused.status, 412);
    assert.equal((await jobNamed(project, 'a')).status, 'running');
    assert.equal((await peer.patch(job, right, '0-4')).status, 202);
    assert.equal((await peer.update(job, { state: 'success', output })).status, 200);
    assert.equal(await textOf(project, job.id), 'right');
  });

  test('is kept as it is when its checksum differs again', async () => {
    const { project, peer, job } = await running();
    await peer.trace(job, 'kept');
    const output = { checksum: 'crc32:00000001', bytesize: 4 };
    assert.equal((await peer.update(job, { state: 'success', output })).status, 412);
    assert.equal((await peer.update(job, { state: 'success', output })).status, 200);
    assert.equal((await jobNamed(project, 'a')).status, 'success');
    assert.equal(await textOf(project, job.id), 'kept');
  });

  test('is requested again when a part is missing', async () => {
    const { peer, job } = await running();
    await peer.trace(job, 'some');
    const all = Buffer.from('some more');
    const output = { checksum: logChecksum(all), bytesize: all.length };
    assert.equal((await peer.update(job, { state: 'success', output })).status, 412);
    assert.equal((await peer.patch(job, all, '0-8')).status, 202);
    assert.equal((await peer.update(job, { state: 'success', output })).status, 200);
  });

  test('a log that an old runner sends arrives whole', async () => {
    const { project, peer, job } = await running(10);
    await peer.trace(job, 'begun, ');
    const trace = 'begun, and \u001b[0;1mended ✓\n';
    assert.equal((await peer.update(job, { state: 'success', trace })).status, 200);
    assert.equal(await textOf(project, job.id), trace);
  });

  test('a log past the size limit ends its job', async () => {
    const { project, peer, job } = await running();
    await peer.trace(job, 'a');
    const { platform } = gantry.service;
    const log = await getLogName(gantry, job.id);
    await platform.traces.remove(log);
    // A sparse file at the limit, without writing its bytes.
    const file = join(platform.config.data, 'traces', getTracePath(log));
    const size = 100 * 1024 * 1024;
    await writeFile(file, '');
    await truncate(file, size);
    const over = await peer.patch(job, 'x', `${size}-${size}`);
    assert.deepEqual([over.status, over.headers['job-status']], [403, 'failed']);
    const { status, failure_reason } = await jobNamed(project, 'a');
    assert.deepEqual([status, failure_reason], ['failed', 'trace_size_exceeded']);
  });

  test('hides the token and masked values, also when they are split between chunks', async () => {
    const { project, peer, job } = await running();
    const half = job.token.length / 2;
    await peer.trace(job, `token ${job.token.slice(0, half)}`);
    await peer.trace(job, `${job.token.slice(half)} end`);
    assert.equal((await peer.finish(job)).status, 200);
    const text = await textOf(project, job.id);
    assert.equal(text.includes(job.token), false);
    assert.match(text, /^token x+ end$/);
  });
});

describe('artifacts', () => {
  test('can be read by dependent jobs, with their tokens only', async () => {
    const project = await pushed(`
a: { stage: build, script: x, artifacts: { paths: [o] } }
b: { stage: build, script: x, artifacts: { paths: [o] } }
c: { stage: test, script: x, dependencies: [a] }
`);
    const peer = peerOf(project);
    const [a, b] = [await peer.take(), await peer.take()];
    assert.deepEqual([a.body.job_info.name, b.body.job_info.name], ['a', 'b']);
    const bytes = await zipOf('o', 'x');
    await peer.run(a, { archive: bytes });
    await peer.run(b, { archive: bytes });
    const c = await peer.take();
    assert.deepEqual(
      c.body.dependencies.map(({ name }: Seen) => name),
      ['a'],
    );
    assert.equal((await peer.download(c.token, a.id)).status, 200);
    assert.equal((await peer.download(c.token, b.id)).status, 403);
    assert.equal((await peer.download(a.token, a.id)).status, 403);
    assert.equal((await peer.download(c.token, c.id)).status, 404);
    assert.equal((await peer.download('glcbt-wrong', a.id)).status, 403);
    const other = await pushed('x: { script: x }');
    const stranger = await peerOf(other).take();
    assert.equal((await peer.download(stranger.token, a.id)).status, 403);
    assert.equal((await jobNamed(project, 'a')).artifacts_file.filename, 'artifacts.zip');
  });

  test('are accepted once per type; the same file may come again', async () => {
    const project = await pushed('a: { script: x, artifacts: { paths: [o] } }');
    const peer = peerOf(project);
    const job = await peer.take();
    const bytes = await zipOf('o', 'x');
    assert.equal((await peer.upload(job, bytes, { type: 'archive', format: 'zip' })).status, 201);
    assert.equal((await peer.upload(job, bytes, { type: 'archive', format: 'zip' })).status, 201);
    const other = await peer.upload(job, await zipOf('o', 'y'), { type: 'archive', format: 'zip' });
    assert.deepEqual(
      [other.status, other.body.message],
      [400, 'another artifact of the same type already exists'],
    );
    for (const query of [{ type: '../x' }, { format: 'tar' }]) {
      assert.equal((await peer.upload(job, bytes, query)).status, 400);
    }
    const authorized = await peer.send('POST', `/jobs/${job.id}/artifacts/authorize`).reply;
    assert.equal(authorized.status, 200);
  });
});

describe('requests that a runner may not make', () => {
  test('are refused with 403, whatever the job', async () => {
    const project = await pushed('{ a: { script: x }, b: { script: x } }');
    const peer = peerOf(project);
    const [a, b] = [await peer.take(), await peer.take()];
    const asOther = { id: a.id, token: b.token };
    const wrong = { id: a.id, token: 'glcbt-wrong' };
    const missing = { id: 999_999_999, token: a.token };
    for (const job of [asOther, wrong, missing]) {
      assert.equal((await peer.patch(job, 'x', '0-0')).status, 403);
      assert.equal((await peer.update(job, { state: 'success' })).status, 403);
      assert.equal((await peer.upload(job, Buffer.from('x'))).status, 403);
    }
    const none = await peer.send('PATCH', `/jobs/${a.id}/trace`, {
      headers: { 'content-type': 'text/plain', 'content-range': '0-0' },
      body: 'x',
    }).reply;
    assert.equal(none.status, 403);
    const { body } = await gantry.api(`GET /projects/${a.body.job_info.project_id}/jobs/${a.id}`);
    assert.deepEqual([body.status, body.artifacts_file], ['running', null]);
  });

  test('end with its job, its project, and an erased job', async () => {
    const project = await pushed('{ a: { script: x }, b: { script: x } }');
    const peer = peerOf(project);
    const [a, b] = [await peer.take(), await peer.take()];
    await peer.run(a);
    const late = await peer.trace(a, 'x');
    assert.deepEqual([late.status, late.headers['job-status']], [403, 'success']);
    await gantry.api(`POST /projects/${project.id}/jobs/${a.id}/erase`);
    const erased = await peer.trace(a, 'x');
    assert.equal(erased.body.message, '403 Forbidden  - Job has been erased!');
    await gantry.api(`DELETE /projects/${project.id}`);
    const deleted = await peer.trace(b, 'x');
    assert.match(deleted.body.message, /^403 Forbidden/);
    assert.equal(deleted.status, 403);
  });

  test('get 403 for a runner token that does not exist, and 400 without one', async () => {
    const stranger = makePeer(gantry, { token: 'glrt-nobody' });
    assert.equal((await stranger.poll().reply).status, 403);
    const none = await stranger.send('POST', '/jobs/request', {
      headers: { 'content-type': 'application/json' },
      body: '{}',
    }).reply;
    assert.equal(none.status, 400);
    stranger.close();
  });

  test('a body past the limit gets 413', async () => {
    const project = await pushed('a: { script: x }');
    const peer = peerOf(project);
    const long = 'x'.repeat(33 * 1024);
    assert.equal((await peer.poll({ body: { session: { url: long } } }).reply).status, 413);
    const job = await peer.take();
    const piece = Buffer.alloc(16 * 1024 * 1024, 'x');
    const whole = Buffer.concat([piece, Buffer.from('x')]);
    assert.equal((await peer.patch(job, whole, `0-${piece.length}`)).status, 413);
    assert.equal((await peer.patch(job, piece, `0-${piece.length - 1}`)).status, 202);
    const trace = 'x'.repeat(3 * 1024 * 1024);
    const unknown = { id: 999_999_999, token: 'glcbt-wrong' };
    assert.equal((await peer.update(unknown, { state: 'success', trace })).status, 403);
    const bare = await peer.send('PUT', '/jobs/999999999', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: 'glcbt-wrong', trace }),
    }).reply;
    assert.equal(bare.status, 413);
    // Refused for its token before it is parsed.
    const broken = await peer.send('PUT', `/jobs/${job.id}`, {
      headers: { 'content-type': 'application/json' },
      body: `{"token": "glcbt-wrong", "trace": "${trace}`,
    }).reply;
    assert.equal(broken.status, 403);
    assert.equal((await peer.update(job, { state: 'success', trace })).status, 200);
  });

  test('limits how many long bodies of unauthenticated clients are in memory', async () => {
    const job = await peerOf(await pushed('a: { script: x }')).take();
    const head = { 'content-type': 'application/json', 'content-length': 3 * 1024 * 1024 };
    const send = (headers: object) =>
      request(`${gantry.url}/api/v4/jobs/${job.id}`, { method: 'PUT', headers: { ...head, ...headers } });
    const statusOf = async (sent: ClientRequest): Promise<number | undefined> =>
      ((await once(sent, 'response')) as [IncomingMessage])[0].statusCode;
    const sent = Array.from({ length: 5 }, () => send({}));
    const answers = sent.map(statusOf);
    for (const one of sent) one.flushHeaders();
    assert.equal(await Promise.race(answers), 503);
    const body = JSON.stringify({ token: job.token, state: 'running' }).padEnd(3 * 1024 * 1024);
    assert.equal(await statusOf(send({ 'job-token': job.token }).end(body)), 200);
    for (const one of sent) one.destroy();
    await Promise.allSettled(answers);
    let status: number | undefined = 503;
    // Until the service has noticed the closed connections.
    while (status === 503) status = await statusOf(send({}).end(body));
    assert.equal(status, 200);
  });

  test('get 400 for a form without its file', async () => {
    const project = await pushed('a: { script: x }');
    const peer = peerOf(project);
    const job = await peer.take();
    const { type, body } = multipartForm(Buffer.from('x'), 'a.zip', 'other');
    const headers = { 'job-token': job.token, 'content-type': type };
    assert.equal((await peer.send('POST', `/jobs/${job.id}/artifacts`, { headers, body }).reply).status, 400);
    const text = { 'job-token': job.token, 'content-type': 'text/plain' };
    const plain = await peer.send('POST', `/jobs/${job.id}/artifacts`, { headers: text, body: 'x' }).reply;
    assert.equal(plain.status, 400);
  });

  test('record an unknown failure reason as unknown', async () => {
    const project = await pushed('a: { script: x }');
    const peer = peerOf(project);
    const job = await peer.take();
    await peer.update(job, { state: 'failed', failure_reason: 'image_pull_failure' });
    assert.equal((await jobNamed(project, 'a')).failure_reason, 'unknown_failure');
  });
});

test('has no route for another service that hands out jobs', async () => {
  const peer = makePeer(gantry, { token: 'none' });
  const reply = await peer.send('GET', '/runners/router/discovery', { headers: { 'runner-token': 'x' } })
    .reply;
  assert.deepEqual(
    [reply.status, reply.body.message],
    [501, 'Job Router is not available. Please contact your administrator.'],
  );
});

test('accepts runner tokens here only, and user tokens everywhere but here', async () => {
  const user = await seedUser(gantry);
  const project = await pushed('a: { script: x }');
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 40 });
  const peer = peerOf(project);
  const job = await peer.take();
  assert.equal((await gantry.api('GET /user', { as: project.runner.token })).status, 401);
  assert.equal((await gantry.api('GET /user', { as: job.token })).status, 401);
  assert.equal((await peer.patch({ id: job.id, token: user.token }, 'x', '0-0')).status, 403);
});
