/** Malicious input is refused or harmless, on both engines alike. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { seedPushed } from '../support/ci/pipelines.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { makePeer, seedRunner } from '../support/ci/fake_runner.ts';
import { seedMember, seedUser } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService({ GANTRY_PIPELINE_LIMIT: '0' });
});
after(async () => await gantry.close());

const owned = async () => {
  const project = await seedPushed(gantry);
  const runner = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
  return { project, runner, peer: makePeer(gantry, { token: runner.token }) };
};

const inParallel = async <T>(count: number, work: (at: number) => Promise<T>): Promise<T[]> =>
  await Promise.all(Array.from({ length: count }, async (_, at) => await work(at)));

/** Statuses, and how often each occurred. */
const counted = (all: readonly { status: number }[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of all) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe('refuses configuration texts that a store cannot keep', () => {
  const files: Record<string, string> = {
    'the name of a job': '"a\\0b": { script: x }',
    'half a character in the name of a job': '"a\\uD83Db": { script: x }',
    'a script': 'job: { script: "echo \\0" }',
    'a stage': 'stages: ["s\\0"]\njob: { stage: "s\\0", script: x }',
    'a tag': 'job: { script: x, tags: ["t\\0"] }',
    'an environment': 'job: { script: x, environment: { name: "e\\0", url: "http://\\0" } }',
    'a resource group': 'job: { script: x, resource_group: "r\\0" }',
    'the name of a pipeline': 'workflow: { name: "n\\0" }\njob: { script: x }',
    'a variable': 'variables: { A: "\\0" }\njob: { script: x }',
    'the key of a variable': 'variables: { "A\\0": x }\njob: { script: x }',
    'what is needed': 'job: { script: x, needs: ["\\0"] }',
    'where it includes': 'include: "\\0.yml"\njob: { script: x }',
    'a project that it includes':
      'include: { project: "a/\\0", file: "\\0", ref: "\\0" }\njob: { script: x }',
    'a character of itself': 'job: { script: "x\u0000" }',
  };
  for (const [what, file] of Object.entries(files)) {
    test(what, async () => {
      const project = await seedPushed(gantry);
      await project.push(file);
      const [pipeline] = await project.pipelines();
      assert.equal(pipeline?.status, 'failed', JSON.stringify(pipeline));
      const { status, body } = await gantry.api(`GET ${project.path}/pipelines/${pipeline.id}`);
      assert.equal(status, 200);
      assert.match(body.yaml_errors, /^control characters are not allowed \(line \d\)$/);
      const linted = await gantry.api('POST /ci/lint', { json: { content: file.replaceAll('\0', '\\0') } });
      assert.deepEqual([linted.status, linted.body.valid], [200, false]);
    });
  }
});

test('passes a value with a NUL to no pipeline, schedule or job', async () => {
  const { project } = await owned();
  await project.push('ask: { script: x, when: manual }');
  const value = 'a\0b';
  const schedule = await gantry.api(`POST ${project.path}/pipeline_schedules`, {
    json: { description: 'x', ref: 'main', cron: '@daily' },
  });
  const trigger = await gantry.api(`POST ${project.path}/triggers`, { json: { description: 'x' } });
  const [job] = (await gantry.api(`GET ${project.path}/jobs`)).body;
  const all = await Promise.all([
    gantry.api(`POST ${project.path}/pipeline`, { json: { ref: 'main', variables: [{ key: 'A', value }] } }),
    gantry.api(`POST ${project.path}/trigger/pipeline`, {
      json: { ref: 'main', token: trigger.body.token, variables: { A: value } },
    }),
    gantry.api(`POST ${project.path}/pipeline_schedules/${schedule.body.id}/variables`, {
      json: { key: 'A', value },
    }),
    gantry.api(`POST ${project.path}/jobs/${job.id}/play`, {
      json: { job_variables_attributes: [{ key: 'A', value }] },
    }),
    gantry.api(`POST ${project.path}/variables`, { json: { key: 'A', value } }),
  ]);
  assert.deepEqual(counted(all), { 400: 5 });
});

test('accepts characters of four bytes', async () => {
  const { project, peer } = await owned();
  await project.push(
    `"🦊": { stage: "🐻", script: "echo 🦊", tags: [], environment: "fox" }\nstages: ["🐻"]\n`,
  );
  const job = await peer.take();
  assert.equal(job.body.job_info.name, '🦊');
  await peer.run(job, { log: '🦊'.repeat(1_000) });
  assert.deepEqual(
    (await project.pipelines()).map(({ status }) => status),
    ['success'],
  );
});

test('truncates or drops names that expand with their variables', async () => {
  const { project, peer } = await owned();
  // Other than one repeated letter, this does not compress in an index.
  const long = randomBytes(6_000).toString('hex');
  await project.push(`
variables: { LONG: "${long}" }
workflow: { name: "$LONG" }
group: { script: x, resource_group: "$LONG" }
`);
  const [pipeline] = await project.pipelines();
  const { body } = await gantry.api(`GET ${project.path}/pipelines/${pipeline.id}`);
  const text = "'group' job: resource_group is too long (maximum is 255 characters)";
  assert.deepEqual([body.status, body.yaml_errors], ['failed', text]);
  await project.push(`
variables: { LONG: "${long}" }
workflow: { name: "$LONG" }
site: { script: x, environment: { name: "$LONG" } }
`);
  const second = await gantry.api(`GET ${project.path}/pipelines/${(await project.pipelines())[0].id}`);
  assert.equal(second.body.yaml_errors, "'site' job: environment is too long (maximum is 255 characters)");
  await project.push(`variables: { LONG: "${long}" }\nworkflow: { name: "$LONG" }\njob: { script: x }\n`);
  await peer.run(await peer.take());
  assert.equal((await project.pipelines())[0].name.length, 255);
});

test('rejects durations without end', async () => {
  const { project, peer } = await owned();
  const long = '34000 years';
  await project.push(
    `job: { script: x, timeout: ${long}, artifacts: { paths: [a], expire_in: ${long} }, environment: { name: e, auto_stop_in: ${long} } }
wait: { script: x, when: delayed, start_in: ${long} }
`,
  );
  const [pipeline] = await project.pipelines();
  if (pipeline.status === 'failed') return;
  const job = await peer.take();
  const kept = await peer.upload(job, Buffer.from('x'), { expire_in: long, type: 'archive', format: 'raw' });
  assert.equal(kept.status, 201);
  await peer.run(job);
  for (const path of ['jobs', 'environments', `pipelines/${pipeline.id}/jobs`]) {
    assert.equal((await gantry.api(`GET ${project.path}/${path}`)).status, 200, path);
  }
});

describe('twenty concurrent requests', () => {
  test('only one of them creates a variable or environment of one name', async () => {
    const project = await seedPushed(gantry);
    const wanted: [string, object][] = [
      ['variables', { key: 'SAME', value: 'x' }],
      ['environments', { name: 'same' }],
    ];
    for (const [path, json] of wanted) {
      const all = await inParallel(
        20,
        async () => await gantry.api(`POST ${project.path}/${path}`, { json }),
      );
      assert.deepEqual(counted(all), { 201: 1, 400: 19 }, path);
    }
  });

  test('move one of the variables with the same key to the same scope', async () => {
    const project = await seedPushed(gantry);
    for (let at = 0; at < 8; at += 1) {
      const json = { key: 'MOVED', value: 'x', environment_scope: `from-${at}` };
      assert.equal((await gantry.api(`POST ${project.path}/variables`, { json })).status, 201);
    }
    const all = await inParallel(8, async (at) => {
      const json = { filter: { environment_scope: `from-${at}` }, environment_scope: 'to' };
      return await gantry.api(`PUT ${project.path}/variables/MOVED`, { json });
    });
    assert.deepEqual(counted(all), { 200: 1, 400: 7 });
  });

  test('twenty concurrent requests retry a job once', async () => {
    const { project, peer } = await owned();
    await project.push('job: { script: make }');
    const job = await peer.take();
    await peer.run(job, { state: 'failed' });
    const all = await inParallel(
      20,
      async () => await gantry.api(`POST ${project.path}/jobs/${job.id}/retry`),
    );
    assert.deepEqual(counted(all), { 201: 1, 403: 19 });
    const jobs = (await gantry.api(`GET ${project.path}/jobs`)).body;
    assert.equal(jobs.length, 2);
  });

  test('retry, cancel, erase, play and delete a job without a server error', async () => {
    const { project, peer } = await owned();
    await project.push('job: { script: make }\nask: { script: x, when: manual, allow_failure: true }');
    const job = await peer.take();
    await peer.run(job, { state: 'failed' });
    const [{ id }] = await project.pipelines();
    const jobs = (await gantry.api(`GET ${project.path}/jobs`)).body;
    const ask = jobs.find((one: { name: string }) => one.name === 'ask').id;
    const ways = [
      `POST ${project.path}/jobs/${job.id}/retry`,
      `POST ${project.path}/jobs/${job.id}/erase`,
      `POST ${project.path}/jobs/${ask}/play`,
      `POST ${project.path}/jobs/${ask}/cancel`,
      `POST ${project.path}/pipelines/${id}/retry`,
      `POST ${project.path}/pipelines/${id}/cancel`,
      `DELETE ${project.path}/pipelines/${id}`,
    ];
    const all = await inParallel(28, async (at) => await gantry.api(ways[at % ways.length] ?? ''));
    for (const { status, text } of all) assert.ok(status < 500, `${status} ${text}`);
    await settle(gantry);
    const { db } = gantry.service.platform.store;
    const left = await db.selectFrom('jobs').select('id').where('project_id', '=', project.id).execute();
    const waiting = await db
      .selectFrom('pending_jobs')
      .select('job_id')
      .where('project_id', '=', project.id)
      .execute();
    assert.deepEqual([left, waiting], [[], []]);
  });

  test('tells runners when the project of their jobs is deleted', async () => {
    const { project, peer } = await owned();
    await project.push('one: { script: make }\ntwo: { script: make }');
    const [one] = [await peer.take(), await peer.take()];
    const [gone, ...told] = await Promise.all([
      gantry.api(`DELETE ${project.path}`),
      ...Array.from({ length: 10 }, async () => await peer.trace({ ...one, log: Buffer.alloc(0) }, 'x')),
    ]);
    assert.equal(gone.status, 202);
    for (const { status } of told) assert.ok(status < 500, String(status));
    assert.equal((await peer.finish(one)).status, 403);
    assert.equal((await peer.poll({ last_update: 'new' }).reply).status < 500, true);
  });
});

test('does not keep every machine of a runner that renames its machines', async () => {
  const { runner } = await owned();
  const { store } = gantry.service.platform;
  await store.write(async ({ db, now }) => {
    const none = { version: null, revision: null, platform: null, architecture: null, executor: null };
    const rows = Array.from({ length: 1_000 }, (_, at) => ({
      runner_id: runner.id,
      system_id: `s_${at}`,
      ...none,
      ip_address: '127.0.0.1',
      contacted_at: now,
      created_at: now,
    }));
    await db.insertInto('runner_managers').values(rows).execute();
  });
  const newcomer = makePeer(gantry, { token: runner.token, system_id: 's_new' });
  const known = makePeer(gantry, { token: runner.token, system_id: 's_1' });
  for (const peer of [newcomer, known]) {
    assert.equal((await peer.poll().reply).status, 204);
  }
  await store.write(async () => undefined);
  const { body, headers } = await gantry.api(`GET /runners/${runner.id}/managers?per_page=100`);
  assert.equal(headers.get('x-total'), '1000');
  assert.ok(!body.some(({ system_id }: { system_id: string }) => system_id === 's_new'));
});

describe('the maintainer of one project', () => {
  test('cannot control the runner of another project', async () => {
    const { project, runner } = await owned();
    const other = await seedPushed(gantry);
    const master = await seedUser(gantry);
    await seedMember(gantry, { user: master.id, project: other.id, access_level: 40 });
    const as = master.token;
    const json = { description: 'mine' };
    const answers = await Promise.all([
      gantry.api(`POST ${other.path}/runners`, { as, json: { runner_id: runner.id } }),
      gantry.api(`PUT /runners/${runner.id}`, { as, json }),
      gantry.api(`DELETE /runners/${runner.id}`, { as }),
      gantry.api(`GET /runners/${runner.id}`, { as }),
      gantry.api(`GET /runners/${runner.id}/jobs`, { as }),
      gantry.api(`POST /runners/${runner.id}/reset_authentication_token`, { as }),
      gantry.api(`DELETE ${other.path}/runners/${runner.id}`, { as }),
      gantry.api(`POST ${project.path}/runners/reset_registration_token`, { as }),
    ]);
    for (const { status } of answers) assert.ok(status === 403 || status === 404, String(status));
    // As for a missing runner.
    const missing = await gantry.api('GET /runners/99999999', { as });
    assert.deepEqual(answers[3]?.body, missing.body);
  });

  test('cannot change a shared runner or assign it to other projects', async () => {
    const { project, runner } = await owned();
    const other = await seedPushed(gantry);
    assert.equal(
      (await gantry.api(`POST ${other.path}/runners`, { json: { runner_id: runner.id } })).status,
      201,
    );
    const master = await seedUser(gantry);
    await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
    const third = await seedPushed(gantry);
    await seedMember(gantry, { user: master.id, project: third.id, access_level: 40 });
    const as = master.token;
    assert.equal(
      (await gantry.api(`PUT /runners/${runner.id}`, { as, json: { tag_list: 'x' } })).status,
      403,
    );
    assert.equal((await gantry.api(`DELETE /runners/${runner.id}`, { as })).status, 403);
    const asked = { as, json: { runner_id: runner.id } };
    assert.equal((await gantry.api(`POST ${third.path}/runners`, asked)).status, 403);
  });
});

test('ends the job of a deleted runner', async () => {
  const { project, runner, peer } = await owned();
  await project.push('job: { script: make }');
  const job = await peer.take();
  assert.equal((await gantry.api(`DELETE /runners/${runner.id}`)).status, 204);
  const answers = [await peer.trace(job, 'x\n'), await peer.finish(job), await peer.poll().reply];
  for (const { status } of answers) assert.ok(status < 500, String(status));
  assert.equal(answers[2]?.status, 403);
  assert.equal((await gantry.api(`GET ${project.path}/jobs/${job.id}`)).status, 200);
});

test('renders badges without scripts for every parameter', async () => {
  const { project } = await owned();
  const { full_path } = project;
  const text = encodeURIComponent('"><script>alert(1)</script><svg onload=alert(1)>\u0001');
  for (const query of [`key_text=${text}`, `job=${text}`, 'key_text=%F0%9F%A6%8A']) {
    const answer = await fetch(`${gantry.url}/${full_path}/badges/${text}/pipeline.svg?${query}`, {
      headers: { 'private-token': 'root-token-of-the-tests' },
    });
    const svg = await answer.text();
    assert.ok(answer.status < 500, String(answer.status));
    assert.ok(!svg.includes('<script') && !svg.includes('onload=alert(1)>'), svg);
  }
});

test('accepts only URLs as addresses of environments', async () => {
  const { project, peer } = await owned();
  for (const external_url of [
    'javascript:alert(1)',
    'data:text/html,x',
    'http://',
    '//x',
    'http://a b',
    'http://\0',
  ]) {
    const json = { name: 'x', external_url };
    assert.equal((await gantry.api(`POST ${project.path}/environments`, { json })).status, 400, external_url);
  }
  await project.push(
    'job: { script: x, variables: { SCHEME: javascript }, environment: { name: site, url: "$SCHEME:alert(1)//" } }',
  );
  await peer.run(await peer.take());
  await settle(gantry);
  const [site] = (await gantry.api(`GET ${project.path}/environments`)).body;
  assert.deepEqual([site.name, site.external_url], ['site', null]);
});
