/** API document: artifacts of jobs, erase and keep; behaviour book 4.4, 4.5, 4.6, 4.10, 4.11. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { JobStatus } from '../../../src/platform/db/schema/ci.ts';
import type { TraceKey } from '../../../src/platform/blob/trace_path.ts';
import { expireArtifacts } from '../../../src/ci/artifacts/store/expire_artifacts.ts';
import { unsealValue } from '../../../src/ci/variables/queries.ts';
import { getLogName, seedArtifact, seedTrace, buildZip } from '../../support/ci/artifacts.ts';
import { type PipelineSeed, seedPipeline, setJob, setPipeline } from '../../support/ci/jobs.ts';
import { type CodeWorld, startCodeWorld } from '../code_world.ts';
import type { Reply, Team } from '../world.ts';

let world: CodeWorld;
let team: Team;
let archive: Buffer;

const files = {
  'index.html': '<script>alert(document.cookie)</script>',
  'dir/': '',
  'dir/größe.txt': 'Größe: 7\n'.repeat(2_000),
  'dir/image.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
  'dir/sub/data.json': '{}',
  keep: 'a file of that name',
  'no ending': 'x',
  empty: '',
};

before(async () => {
  world = await startCodeWorld();
  team = await world.codeTeam();
  archive = await buildZip(files);
});
after(async () => await world.close());

const file = 'compile: { script: make }';

type Made = { id: number; project_id: number; pipeline: number; log: TraceKey };

type EndedJobSeed = Partial<PipelineSeed> & { status?: JobStatus; expire_in?: string; empty?: true };

/** A job that ended and left the archive. */
const ended = async ({ status = 'success', expire_in, empty, ...seed }: EndedJobSeed = {}): Promise<Made> => {
  const pipeline = await seedPipeline(world.gantry, { project: team.id, ref: 'topic', file, ...seed });
  const id = pipeline.jobs['compile'] ?? 0;
  await setJob(world.gantry, id, { status });
  const job = {
    id,
    project_id: pipeline.project_id,
    pipeline: pipeline.id,
    log: await getLogName(world.gantry, id),
  };
  if (empty === true) return job;
  await seedArtifact(world.gantry, job, archive, { expire_in: expire_in ?? null });
  await seedTrace(world.gantry, job, 'what it printed\n');
  return job;
};

const pathOf = ({ id, project_id }: Made): string => `/projects/${project_id}/jobs/${id}`;

type RequestOptions = { as?: string | null; headers?: Record<string, string> };

const get = async (path: string, options: RequestOptions = {}, method = 'GET') => {
  const token = options.as === undefined ? 'root-token-of-the-tests' : options.as;
  const response = await fetch(`${world.url}/api/v4${path}`, {
    method,
    headers: { ...(token !== null && { 'private-token': token }), ...options.headers },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, text: bytes.toString() };
};

const message = ({ text }: { text: string }): unknown => (JSON.parse(text) as { message: unknown }).message;

const assertHarmless = ({ headers }: { headers: Headers }): void => {
  assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="/);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox");
  assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin');
};

const blobFiles = (project: number): string[] =>
  globSync('*/*', {
    cwd: join(world.gantry.service.platform.config.data, 'blobs/projects', String(project), 'artifacts'),
  });

const settle = async (): Promise<void> => await world.gantry.service.worker.drain();

describe('GET /projects/:id/jobs/:job_id/artifacts', () => {
  it('serves the archive', async () => {
    const job = await ended();
    const got = await get(`${pathOf(job)}/artifacts`);
    assert.equal(got.status, 200);
    assert.deepEqual(got.bytes, archive);
    assert.equal(got.headers.get('content-type'), 'application/octet-stream');
    assert.match(got.headers.get('content-disposition') ?? '', /^attachment; filename="artifacts\.zip"/);
    assert.equal(got.headers.get('content-transfer-encoding'), 'binary');
    assertHarmless(got);
    const head = await get(`${pathOf(job)}/artifacts`, {}, 'HEAD');
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(archive.length)]);
  });

  it('serves a part of it', async () => {
    const job = await ended();
    const part = await get(`${pathOf(job)}/artifacts`, { headers: { range: 'bytes=2-5' } });
    assert.deepEqual([part.status, part.bytes], [206, archive.subarray(2, 6)]);
  });

  it('answers 404 without a job, without artifacts, and for a job of another project', async () => {
    const [job, none, other] = [await ended(), await ended({ empty: true }), await world.codeTeam()];
    const empty = await get(`${pathOf(none)}/artifacts`);
    assert.deepEqual([empty.status, message(empty)], [404, '404 Not Found']);
    const missing = await get(`/projects/${team.id}/jobs/99999999/artifacts`);
    assert.deepEqual([missing.status, message(missing)], [404, '404 Not found']);
    assert.equal((await get(`/projects/${other.id}/jobs/${job.id}/artifacts`)).status, 404);
  });

  it('is allowed to users who may read jobs', async () => {
    const closed = await world.codeTeam({ visibility: 'private' });
    await world.setProject(closed.id, { public_builds: 0 });
    const [open, hidden] = [await ended(), await ended({ project: closed.id })];
    assert.equal((await get(`${pathOf(open)}/artifacts`, { as: null })).status, 200);
    assert.equal((await get(`${pathOf(hidden)}/artifacts`, { as: closed.reporter.token })).status, 200);
    assert.equal((await get(`${pathOf(hidden)}/artifacts`, { as: closed.guest.token })).status, 403);
    assert.equal((await get(`${pathOf(hidden)}/artifacts`, { as: closed.stranger.token })).status, 404);
    assert.equal((await get(`${pathOf(hidden)}/artifacts`, { as: null })).status, 404);
    assert.equal((await get(`${pathOf(open)}/artifacts`, { as: 'wrong' })).status, 401);
  });
});

describe('GET /projects/:id/jobs/artifacts/:ref_name/download', () => {
  const download = async (ref: string, job: string | null = 'compile', project = team.id) =>
    await get(`/projects/${project}/jobs/artifacts/${ref}/download${job === null ? '' : `?job=${job}`}`);

  it('serves the newest archive of a job that succeeded', async () => {
    const ref = 'by-ref';
    await ended({ ref });
    const second = await ended({ ref });
    const other = await buildZip({ second: 'second' });
    await world.gantry.service.platform.store.write(
      async ({ db }) => await db.deleteFrom('artifacts').where('job_id', '=', second.id).execute(),
    );
    await seedArtifact(world.gantry, second, other);
    await ended({ ref, status: 'failed' });
    await ended({ ref, empty: true });
    await ended({ ref: 'another' });
    const got = await download(ref);
    assert.equal(got.status, 200);
    assert.deepEqual(got.bytes, other);
    assertHarmless(got);
  });

  it('takes slashes in the ref, encoded or as they are', async () => {
    await ended({ ref: 'feature/with/slashes' });
    for (const ref of ['feature/with/slashes', 'feature%2Fwith%2Fslashes', 'feature/with%2Fslashes']) {
      assert.deepEqual((await download(ref)).bytes, archive, ref);
    }
  });

  it('selects by the status of the job, not of its pipeline, and skips retried jobs', async () => {
    const failed = await ended({ ref: 'judged' });
    await setPipeline(world.gantry, failed.pipeline, { status: 'failed' });
    assert.equal((await download('judged')).status, 200);
    await setJob(world.gantry, failed.id, { retried: 1 });
    assert.equal((await download('judged')).status, 404);
  });

  it('finds those of tags', async () => {
    await ended({ ref: 'v1.0', tag: true });
    assert.equal((await download('v1.0')).status, 200);
  });

  it('answers 404 for what is not there, 400 without a job', async () => {
    await ended({ ref: 'there' });
    for (const [ref, job] of [
      ['nowhere', 'compile'],
      ['there', 'other'],
    ] as const) {
      const got = await download(ref, job);
      assert.deepEqual([got.status, message(got)], [404, '404 Not found']);
    }
    const got = await download('there', null);
    assert.deepEqual([got.status, message(got)], [400, '400 (Bad request) "job" not given']);
  });

  it('serves one file out of it, too', async () => {
    await ended({ ref: 'raw/files' });
    for (const path of ['raw/files/raw/dir/sub/data.json', 'raw%2Ffiles/raw/dir%2Fsub%2Fdata.json']) {
      const got = await get(`/projects/${team.id}/jobs/artifacts/${path}?job=compile`);
      assert.deepEqual([got.status, got.text], [200, '{}'], path);
    }
    const none = await get(`/projects/${team.id}/jobs/artifacts/raw/files/raw/dir?job=compile`);
    assert.equal(none.status, 404);
  });
});

describe('GET /projects/:id/jobs/:job_id/artifacts/*artifact_path', () => {
  it('serves each file with its type, never as a page', async () => {
    const job = await ended();
    const types: Record<string, string> = {
      'index.html': 'text/html; charset=utf-8',
      'dir/größe.txt': 'text/plain; charset=utf-8',
      'dir/image.svg': 'image/svg+xml',
      'dir/sub/data.json': 'application/json',
      keep: 'application/octet-stream',
      'no ending': 'application/octet-stream',
      empty: 'application/octet-stream',
    };
    for (const [name, type] of Object.entries(types)) {
      for (const path of [encodeURIComponent(name), encodeURI(name)]) {
        const got = await get(`${pathOf(job)}/artifacts/${path}`);
        const content = files[name as keyof typeof files];
        assert.deepEqual([got.status, got.text], [200, content], path);
        assert.equal(got.headers.get('content-type'), type);
        assert.equal(got.headers.get('content-length'), String(Buffer.byteLength(content)));
        assertHarmless(got);
      }
      const head = await get(`${pathOf(job)}/artifacts/${encodeURIComponent(name)}`, {}, 'HEAD');
      assert.deepEqual([head.status, head.bytes.length], [200, 0]);
    }
  });

  it('refuses invalid paths', async () => {
    const job = await ended();
    const bad = [
      '..%2f..%2fetc%2fpasswd',
      'dir%2f..%2findex.html',
      '%2fetc%2fpasswd',
      'a%00b',
      'a%5c..%5cb',
      'a%2f%2fb',
      '.%2findex.html',
    ];
    for (const path of bad) {
      const got = await get(`${pathOf(job)}/artifacts/${path}`);
      assert.deepEqual([got.status, message(got)], [400, '400 (Bad request)'], path);
    }
    for (const path of ['%ff', 'dir/%c3%28']) {
      const got = await get(`${pathOf(job)}/artifacts/${path}`);
      assert.deepEqual([got.status, message(got)], [400, '400 (Bad request)'], path);
    }
  });

  it('an id that is none is refused however deep the path is', async () => {
    for (const [id, status, said] of [
      ['abc', 400, { job_id: ['is invalid'] }],
      ['1e99', 400, { job_id: ['is invalid'] }],
      ['-1', 404, '404 Not found'],
    ] as const) {
      for (const path of ['index.html', 'dir/image.svg', 'dir/sub/data.json']) {
        const got = await get(`/projects/${team.id}/jobs/${id}/artifacts/${path}`);
        assert.deepEqual([got.status, message(got)], [status, said], `${id} ${path}`);
      }
    }
  });

  it('a branch that is named as the word in the path keeps its archive', async () => {
    await ended({ ref: 'artifacts' });
    const got = await get(`/projects/${team.id}/jobs/artifacts/artifacts/download?job=compile`);
    assert.deepEqual([got.status, got.bytes.length], [200, archive.length]);
  });

  it('answers 404 for what is not in it', async () => {
    const [job, none] = [await ended(), await ended({ empty: true })];
    for (const path of ['missing', 'dir', 'dir%2f', 'INDEX.html']) {
      const got = await get(`${pathOf(job)}/artifacts/${path}`);
      assert.deepEqual([got.status, message(got)], [404, '404 Not Found'], path);
    }
    const got = await get(`${pathOf(none)}/artifacts/index.html`);
    assert.deepEqual([got.status, message(got)], [404, '404 Not Found']);
  });

  it('answers 404 for an artifact that is no archive', async () => {
    const job = await ended({ empty: true });
    await seedArtifact(world.gantry, job, Buffer.from('no zip at all'));
    assert.equal((await get(`${pathOf(job)}/artifacts/index.html`)).status, 404);
    assert.equal((await get(`${pathOf(job)}/artifacts`)).status, 200);
  });
});

const post = async (job: Made, word: string, as?: string): Promise<Reply> =>
  await world.api(`POST ${pathOf(job)}/${word}`, as === undefined ? {} : { as });

describe('POST /projects/:id/jobs/:job_id/erase', () => {
  it('removes the trace and the artifacts', async () => {
    const project = await world.codeTeam();
    const job = await ended({ project: project.id });
    const { status, body } = await post(job, 'erase', project.developer.token);
    assert.equal(status, 201);
    assert.deepEqual([body.id, body.status, body.artifacts_file], [job.id, 'success', null]);
    assert.equal(body.download_url, null);
    assert.ok(!('pipeline' in body));
    assert.ok(body.erased_at !== null);
    const trace = await get(`${pathOf(job)}/trace`);
    assert.deepEqual([trace.status, message(trace)], [404, '404 Not Found']);
    assert.equal((await get(`${pathOf(job)}/artifacts`)).status, 404);
    assert.equal((await get(`${pathOf(job)}/artifacts/index.html`)).status, 404);
    await settle();
    assert.deepEqual(blobFiles(project.id), []);
    assert.equal(await world.gantry.service.platform.traces.size(job.log), null);
    assert.equal((await post(job, 'erase')).status, 201);
    const kinds = (await world.events('Job', job.id)).map(({ kind }) => kind);
    assert.deepEqual(
      kinds.filter((kind) => kind !== 'job.status'),
      ['job.erased', 'job.erased'],
    );
  });

  for (const state of ['success', 'failed', 'canceled', 'skipped'] as const) {
    it(`${state}: 201, with the same status, also where nothing is left`, async () => {
      const job = await ended({ status: state, empty: true });
      const { status, body } = await post(job, 'erase');
      assert.deepEqual([status, body.status, body.erased_at !== null], [201, state, true]);
    });
  }

  for (const state of ['created', 'pending', 'manual', 'scheduled', 'waiting_for_resource'] as const) {
    it(`${state}: 201 with the job, of which a later run keeps its log`, async () => {
      const job = await ended({ status: state, empty: true });
      const read = async () => {
        // The time in the queue grows while it is read.
        const { queued_duration: _queued, ...record } = (await world.api(`GET ${pathOf(job)}`)).body;
        return record;
      };
      const before = await read();
      const { status, body } = await post(job, 'erase');
      const { pipeline: _pipeline, ...expected } = before;
      const { queued_duration: _queued, ...answered } = body;
      assert.deepEqual([status, answered], [201, { ...expected, download_url: null }]);
      assert.equal(body.erased_at, null);
      assert.deepEqual(await read(), before);
      const kinds = (await world.events('Job', job.id)).map(({ kind }) => kind);
      assert.ok(!kinds.includes('job.erased'));
    });
  }

  for (const state of ['running', 'canceling'] as const) {
    it(`${state}: 403, since its runner still writes`, async () => {
      const { status, body } = await post(await ended({ status: state, empty: true }), 'erase');
      assert.deepEqual([status, body], [403, { message: '403 Forbidden - Job is not erasable!' }]);
    });
  }

  it('requires a developer', async () => {
    const job = await ended();
    assert.equal((await post(job, 'erase', team.reporter.token)).status, 403);
    assert.equal((await world.api(`POST ${pathOf(job)}/erase`, { as: null })).status, 401);
    assert.equal((await get(`${pathOf(job)}/artifacts`)).status, 200);
  });

  it('leaves what another job left, too', async () => {
    const project = await world.codeTeam();
    const [one, two] = [await ended({ project: project.id }), await ended({ project: project.id })];
    assert.equal(blobFiles(project.id).length, 1);
    await post(one, 'erase');
    await settle();
    assert.equal((await get(`${pathOf(two)}/artifacts`)).status, 200);
    await post(two, 'erase');
    await settle();
    assert.deepEqual(blobFiles(project.id), []);
  });
});

describe('POST /projects/:id/jobs/:job_id/artifacts/keep', () => {
  it('removes the expiry', async () => {
    const job = await ended({ expire_in: '1 hour' });
    assert.ok((await world.api(`GET ${pathOf(job)}`)).body.artifacts_expire_at !== null);
    const { status, body } = await post(job, 'artifacts/keep', team.developer.token);
    assert.equal(status, 201);
    assert.deepEqual([body.id, body.artifacts_expire_at, body.download_url], [job.id, null, null]);
    assert.deepEqual(body.artifacts_file, { filename: 'artifacts.zip', size: archive.length });
    assert.ok(!('pipeline' in body));
    assert.equal((await post(job, 'artifacts/keep')).status, 201);
    world.gantry.setTime(Date.now() + 40 * 86_400_000);
    const got = await get(`${pathOf(job)}/artifacts`);
    world.gantry.setTime(null);
    assert.equal(got.status, 200);
  });

  it('answers 404 where there are none', async () => {
    const job = await ended({ empty: true });
    const { status, body } = await post(job, 'artifacts/keep');
    assert.deepEqual([status, body], [404, { message: '404 Not Found' }]);
  });

  it('requires a developer', async () => {
    assert.equal((await post(await ended(), 'artifacts/keep', team.reporter.token)).status, 403);
  });
});

describe('the expiry of artifacts', () => {
  const at = async <T>(later: number, work: () => Promise<T>): Promise<T> => {
    world.gantry.setTime(Date.now() + later);
    try {
      return await work();
    } finally {
      world.gantry.setTime(null);
    }
  };
  const day = 86_400_000;

  it('is set by the job, and 30 days by default', async () => {
    const project = await world.codeTeam();
    const of = async (expire_in?: string): Promise<Made> =>
      await ended({ project: project.id, status: 'failed', ...(expire_in !== undefined && { expire_in }) });
    const cases: [Made, number, number][] = [
      [await of('2 s'), 1_000, 10_000],
      [await of('1 week'), 6 * day, 8 * day],
      [await of(), 29 * day, 31 * day],
    ];
    const never = await of('never');
    for (const [job, before, later] of cases) {
      assert.equal(await at(before, async () => (await get(`${pathOf(job)}/artifacts`)).status), 200);
      assert.equal(await at(later, async () => (await get(`${pathOf(job)}/artifacts`)).status), 404);
      const file = await at(later, async () => (await world.api(`GET ${pathOf(job)}`)).body.artifacts_file);
      assert.equal(file, null);
      assert.equal(
        await at(later, async () => (await get(`${pathOf(job)}/artifacts/index.html`)).status),
        404,
      );
      assert.equal(await at(later, async () => (await post(job, 'artifacts/keep')).status), 404);
    }
    assert.equal(await at(9_000 * day, async () => (await get(`${pathOf(never)}/artifacts`)).status), 200);
  });

  it('deletes bytes that nothing else references', async () => {
    const project = await world.codeTeam();
    const attributes = { project: project.id, status: 'failed' } as const;
    const [first, second] = [
      await ended({ ...attributes, expire_in: '1 min' }),
      await ended({ ...attributes, expire_in: '1 hour' }),
    ];
    const { platform } = world.gantry.service;
    const sweep = async (later: number): Promise<string[]> =>
      await at(later, async () => {
        await expireArtifacts(platform);
        await settle();
        return blobFiles(project.id);
      });
    assert.equal((await sweep(2 * 60_000)).length, 1);
    assert.equal((await get(`${pathOf(first)}/artifacts`)).status, 404);
    assert.equal((await get(`${pathOf(second)}/artifacts`)).status, 200);
    assert.deepEqual(await sweep(2 * 3_600_000), []);
    assert.equal((await get(`${pathOf(first)}/trace`)).status, 200);
  });

  it('does not apply to the newest successful pipeline of a branch, if the project keeps it', async () => {
    const project = await world.codeTeam();
    await world.setProject(project.id, { keep_latest_artifact: 1 });
    const make = async (): Promise<Made> => {
      const job = await ended({ project: project.id, ref: 'main', expire_in: '1 min' });
      await setPipeline(world.gantry, job.pipeline, { status: 'success' });
      return job;
    };
    const statusOf = async (job: Made): Promise<number> =>
      await at(day, async () => (await get(`${pathOf(job)}/artifacts`)).status);
    const older = await make();
    assert.equal(await statusOf(older), 200);
    const newer = await make();
    assert.deepEqual([await statusOf(older), await statusOf(newer)], [404, 200]);
    // External statuses leave no artifacts that could replace them.
    const said = await world.api(`POST /projects/${project.id}/statuses/main`, {
      json: { state: 'success', ref: 'main' },
    });
    assert.equal(said.status, 201);
    assert.equal(await statusOf(newer), 200);
    await at(day, async () => await expireArtifacts(world.gantry.service.platform));
    assert.equal((await get(`${pathOf(newer)}/artifacts`)).status, 200);
    await world.setProject(project.id, { keep_latest_artifact: 0 });
    assert.equal(await statusOf(newer), 404);
  });
});

describe('DELETE', () => {
  it('/projects/:id/jobs/:job_id/artifacts leaves the trace', async () => {
    const job = await ended();
    assert.equal(
      (await world.api(`DELETE ${pathOf(job)}/artifacts`, { as: team.developer.token })).status,
      403,
    );
    assert.equal((await world.api(`DELETE ${pathOf(job)}/artifacts`, { as: team.master.token })).status, 204);
    assert.equal((await get(`${pathOf(job)}/artifacts`)).status, 404);
    assert.equal((await get(`${pathOf(job)}/trace`)).status, 200);
    assert.equal((await world.api(`DELETE ${pathOf(job)}/artifacts`)).status, 204);
  });

  it('/projects/:id/artifacts leaves what the project keeps, and what still runs', async () => {
    const project = await world.codeTeam();
    await world.setProject(project.id, { keep_latest_artifact: 1 });
    const of = { project: project.id };
    const [kept, failed] = [
      await ended({ ...of, expire_in: 'never' }),
      await ended({ ...of, status: 'failed' }),
    ];
    await setPipeline(world.gantry, kept.pipeline, { status: 'success' });
    const running = await ended({ ...of, status: 'running' });
    const options = await world.api(`DELETE /projects/${project.id}/artifacts`, { as: project.master.token });
    assert.deepEqual([options.status, options.body], [202, { message: '202 Accepted' }]);
    await settle();
    const statuses = await Promise.all(
      [kept, failed, running].map(async (job) => (await get(`${pathOf(job)}/artifacts`)).status),
    );
    assert.deepEqual(statuses, [200, 404, 200]);
    const refused = await world.api(`DELETE /projects/${project.id}/artifacts`, {
      as: project.developer.token,
    });
    assert.equal(refused.status, 403);
  });

  it('/projects/:id/pipelines/:pipeline_id takes the files of its jobs', async () => {
    const project = await world.codeTeam();
    const job = await ended({ project: project.id });
    assert.equal((await world.api(`DELETE /projects/${project.id}/pipelines/${job.pipeline}`)).status, 204);
    await settle();
    assert.deepEqual(blobFiles(project.id), []);
    assert.equal(await world.gantry.service.platform.traces.size(job.log), null);
  });

  it('/projects/:id takes all of them', async () => {
    const project = await world.codeTeam();
    const job = await ended({ project: project.id });
    await world.api(`DELETE /projects/${project.id}`);
    await settle();
    assert.deepEqual(blobFiles(project.id), []);
    assert.equal(await world.gantry.service.platform.traces.size(job.log), null);
  });
});

describe('uploads of a runner', () => {
  const refusal = async (work: Promise<unknown>): Promise<unknown> =>
    await work.then(
      () => assert.fail('it was taken'),
      (error: { status: number; body: { message: string } }) => [error.status, error.body.message],
    );

  it('are accepted once for each type, or repeated unchanged', async () => {
    const job = await ended();
    const again = await seedArtifact(world.gantry, job, archive);
    assert.equal(again.job_id, job.id);
    assert.deepEqual(await refusal(seedArtifact(world.gantry, job, Buffer.from('other'))), [
      400,
      'another artifact of the same type already exists',
    ]);
    assert.deepEqual((await get(`${pathOf(job)}/artifacts`)).bytes, archive);
  });

  it('are limited in number', async () => {
    const job = await ended({ empty: true });
    for (let kind = 0; kind < 50; kind += 1) {
      await seedArtifact(world.gantry, job, archive, { file_type: `kind_${kind}` });
    }
    const oneMore = seedArtifact(world.gantry, job, archive, { file_type: 'one_more' });
    assert.deepEqual(await refusal(oneMore), [400, 'too many artifacts']);
  });

  it('are limited in time', async () => {
    const project = await world.codeTeam();
    const job = await ended({ project: project.id, empty: true });
    const large = Buffer.alloc(100 * 1024 * 1024 + 1);
    assert.deepEqual(await refusal(seedArtifact(world.gantry, job, large)), [
      413,
      '413 Request Entity Too Large',
    ]);
    assert.deepEqual(blobFiles(project.id), []);
  });

  const dotenv = async (job: Made, content: Buffer) =>
    await seedArtifact(world.gantry, job, content, {
      file_type: 'dotenv',
      file_format: 'gzip',
      filename: '.env.gz',
    });

  it('are parsed if they are dotenv reports', async () => {
    const job = await ended();
    const text = '# of the build\nVERSION=1.2.3\nexport NAME="a = b"\r\n\nEMPTY=\nVERSION=2\nQ=\'x y\'\n';
    await dotenv(job, gzipSync(text));
    const { platform } = world.gantry.service;
    const rows = await platform.store.db
      .selectFrom('job_variables')
      .selectAll()
      .where('job_id', '=', job.id)
      .orderBy('key')
      .execute();
    const read = rows.map(({ key, source, sealed_value }) => [
      key,
      source,
      unsealValue(platform, sealed_value),
    ]);
    assert.deepEqual(read, [
      ['EMPTY', 'dotenv', ''],
      ['NAME', 'dotenv', 'a = b'],
      ['Q', 'dotenv', 'x y'],
      ['VERSION', 'dotenv', '2'],
    ]);
    await post(job, 'erase');
    const left = await platform.store.db
      .selectFrom('job_variables')
      .select('key')
      .where('job_id', '=', job.id)
      .execute();
    assert.deepEqual(left, []);
  });

  it('are refused if a dotenv report is invalid', async () => {
    const project = await world.codeTeam();
    const job = await ended({ project: project.id, empty: true });
    const cases: [Buffer, string][] = [
      [gzipSync('no variable'), 'Invalid Format'],
      [gzipSync('1A=b'), 'Invalid Format'],
      [gzipSync(Buffer.from([65, 61, 0xff])), 'Invalid Format'],
      [Buffer.from('A=not compressed'), 'Invalid Format'],
      [gzipSync('A='.padEnd(6_000, 'x')), 'Dotenv Artifact Too Big. Maximum Allowable Size: 5 KB'],
      [gzipSync(Buffer.alloc(50_000_000)), 'Dotenv Artifact Too Big. Maximum Allowable Size: 5 KB'],
      [
        gzipSync(Array.from({ length: 151 }, (_one, at) => `A${at}=1`).join('\n')),
        'Dotenv files cannot have more than 150 variables',
      ],
    ];
    for (const [content, text] of cases) assert.deepEqual(await refusal(dotenv(job, content)), [400, text]);
    assert.deepEqual(blobFiles(project.id), []);
  });
});
