import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { repositoryUrl, tryGit } from '../../../../test/support/repositories/git.ts';
import { seedPushed } from '../../../../test/support/ci/pipelines.ts';
import { openRequest, toPath, seedBranch, settle } from '../../../../test/support/seed_merge_requests.ts';
import { seedMember, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { zeroOid } from '../../../platform/git/protocol_types.ts';
import { moveRefs } from '../../../code/repository/refs/move_refs.ts';
import { followPush } from './follow_push.ts';
import { openRepository, getRepositoryPlace } from '../../../../test/support/repositories/seed_commits.ts';

let gantry: TestService;

before(async () => {
  gantry = await startTestService();
});

after(async () => await gantry.close());

const good = 'build: { stage: build, script: make }\ntest: { script: make check }\n';

type Update = { ref: string; old: string; new: string };

/** Moves refs as a push does. */
const pushRefs = async (project: { id: number }, updates: Update[], data: Record<string, unknown> = {}) => {
  await moveRefs(gantry.service.platform, {
    project: await getRepositoryPlace(gantry, project.id),
    cause: { user: { id: 1 }, sudo_by_id: null },
    kind: 'push',
    updates,
    data,
  });
  await settle(gantry);
};

describe('a push', () => {
  test('to a branch creates a pipeline whose first jobs wait for a runner', async () => {
    const project = await seedPushed(gantry);
    const first = await project.push(good);
    const second = await project.push({ 'a.txt': 'a' });
    const [newer, older, ...more] = await project.pipelines();
    assert.deepEqual(more, []);
    assert.deepEqual([older.sha, older.ref, older.source, older.iid], [first, 'main', 'push', 1]);
    assert.deepEqual([newer.sha, newer.status, newer.iid], [second, 'pending', 2]);
    assert.deepEqual(await project.jobs(newer.id), ['build', 'test']);
    const { body } = await gantry.api(`GET ${project.path}/pipelines/${newer.id}`);
    assert.deepEqual([body.before_sha, body.tag, body.user.username], [first, false, 'root']);
  });

  test('keeps the commit while the pipeline exists', async () => {
    const project = await seedPushed(gantry);
    const sha = await project.push(good);
    const [{ id }] = await project.pipelines();
    const repository = await openRepository(gantry, project.id);
    const kept = async () => (await repository.ask('refs.get', { names: [`refs/pipelines/${id}`] })).refs[0];
    assert.equal((await kept())?.target, sha);
    const { stdout } = await tryGit('/', ['ls-remote', repositoryUrl(gantry.url, project.full_path, null)]);
    assert.equal(stdout, `${sha}\tHEAD\n${sha}\trefs/heads/main\n`);
    await gantry.api(`POST ${project.path}/pipelines/${id}/cancel`);
    await settle(gantry);
    assert.equal(await kept(), null);
  });

  test('of a tag creates a pipeline of its commit; a deletion creates none', async () => {
    const project = await seedPushed(gantry);
    const sha = await project.push(`${good}\nship: { script: ship, only: [tags] }\n`);
    const tagged = { json: { tag_name: 'v1', ref: 'main', message: 'First' } };
    await gantry.api(`POST ${project.path}/repository/tags`, tagged);
    await settle(gantry);
    const [pipeline] = await project.pipelines('ref=v1');
    assert.equal(pipeline.sha, sha);
    assert.deepEqual(await project.jobs(pipeline.id), ['build', 'test', 'ship']);
    const { body } = await gantry.api(`GET ${project.path}/pipelines/${pipeline.id}`);
    assert.deepEqual([body.tag, body.before_sha], [true, zeroOid]);
    await gantry.api(`DELETE ${project.path}/repository/tags/v1`);
    await settle(gantry);
    assert.equal((await project.pipelines()).length, 2);
  });

  test('of many refs creates pipelines for the first four', async () => {
    const project = await seedPushed(gantry);
    const sha = await project.push(good);
    const names = ['a', 'b', 'c', 'd', 'e'];
    await pushRefs(
      project,
      names.map((name) => ({ ref: `refs/heads/${name}`, old: zeroOid, new: sha })),
    );
    const refs = (await project.pipelines()).map(({ ref }) => ref);
    assert.deepEqual(refs, ['d', 'c', 'b', 'a', 'main']);
  });

  test('that is processed twice creates one pipeline', async () => {
    const project = await seedPushed(gantry);
    const sha = await project.push(good);
    const updates = [{ ref: 'refs/heads/main', old: zeroOid, new: sha }];
    const moved = {
      project_id: project.id,
      user_id: 1,
      kind: 'push',
      updates,
      skip_ci: false,
      sealed_options: null,
      moved_at: 0,
    };
    await followPush(gantry.service.platform, moved);
    assert.equal((await project.pipelines()).length, 1);
  });

  test('without a file, or with rules that exclude it, creates no pipeline', async () => {
    const project = await seedPushed(gantry);
    await project.push({ 'README.md': 'x' });
    await project.push('workflow: { rules: [{ when: never }] }\njob: { script: x }\n');
    await project.push('job: { script: x, only: [tags] }\n');
    assert.deepEqual(await project.pipelines(), []);
  });

  test('of an invalid file creates a failed pipeline without running jobs', async () => {
    const project = await seedPushed(gantry);
    await project.push('job: { script: x, when: sometimes }\n');
    const [pipeline] = await project.pipelines();
    assert.equal(pipeline.status, 'failed');
    const { body } = await gantry.api(`GET ${project.path}/pipelines/${pipeline.id}`);
    assert.equal(
      body.yaml_errors,
      'jobs:job when should be one of: on_success, on_failure, always, manual, delayed (line 1)',
    );
    assert.deepEqual(await project.jobs(pipeline.id), []);
    await project.push('a: { script: x, needs: [b] }\nb: { script: x, only: [tags] }\n');
    const [missing] = await project.pipelines('yaml_errors=true&per_page=1');
    const missed = await gantry.api(`GET ${project.path}/pipelines/${missing.id}`);
    assert.match(missed.body.yaml_errors, /^'a' job needs 'b' job/);
  });

  test('with a skip marker creates a skipped pipeline', async () => {
    const project = await seedPushed(gantry);
    const first = await project.push(good, { message: 'Change [ci skip]\n' });
    const second = await project.push({ a: '1' }, { message: '[SKIP-CI] more' });
    const branch = { ref: 'refs/heads/other', old: zeroOid, new: first };
    await project.push({ b: '1' });
    await pushRefs(project, [branch], { push_options: ['ci.skip'] });
    const found = (await project.pipelines('status=skipped&sort=asc')).map(({ sha, ref }) => [sha, ref]);
    assert.deepEqual(found, [
      [first, 'main'],
      [second, 'main'],
      [first, 'other'],
    ]);
    assert.equal((await project.pipelines()).length, 4);
  });

  test('by a user who may not run pipelines there creates none', async () => {
    const project = await seedPushed(gantry);
    await project.push(good);
    const reporter = await seedUser(gantry);
    await seedMember(gantry, { user: reporter.id, project: project.id, access_level: 20 });
    await project.push({ a: '1' }, { by: reporter.id, branch: 'other' });
    // Developers may not push to the default branch, which is protected.
    await project.push({ b: '1' }, { by: project.developer.id });
    assert.equal((await project.pipelines()).length, 1);
    await project.push({ a: '1' }, { by: project.developer.id, branch: 'free', from: 'main' });
    const [pipeline] = await project.pipelines();
    assert.equal(pipeline.ref, 'free');
  });

  test('evaluates rules against its changed files', async () => {
    const rule = (path: string) => `rules: [{ changes: [${path}] }]`;
    const project = await seedPushed(gantry);
    await project.push(`a: { script: x, ${rule('a/**/*')} }\nb: { script: x, ${rule('b.txt')} }\n`);
    const [{ id: first }] = await project.pipelines();
    assert.deepEqual(await project.jobs(first), ['a', 'b']);
    await project.push({ 'a/deep/file': '1', c: '1' });
    const [{ id: second }] = await project.pipelines();
    assert.deepEqual(await project.jobs(second), ['a']);
    await project.push({ 'b.txt': '1' });
    const [{ id: third }] = await project.pipelines();
    assert.deepEqual(await project.jobs(third), ['b']);
    await project.push({ c: '2' });
    assert.equal((await project.pipelines()).length, 3);
  });

  test('compares with another ref if a rule names one', async () => {
    const project = await seedPushed(gantry);
    const compare = "rules: [{ changes: { paths: [x.txt], compare_to: 'refs/heads/main' } }]";
    await project.push(`job: { script: x, ${compare} }\n`);
    await project.push({ 'x.txt': '1' }, { branch: 'topic', from: 'main' });
    await project.push({ y: '1' }, { branch: 'topic' });
    const [pipeline] = await project.pipelines();
    assert.deepEqual([pipeline.ref, (await project.pipelines('ref=topic')).length], ['topic', 2]);
  });

  test('reads the file at the path set in the project', async () => {
    const project = await seedPushed(gantry);
    await gantry.api(`PUT ${project.path}`, { json: { ci_config_path: 'ci/all.yml' } });
    await project.push({ 'ci/all.yml': 'elsewhere: { script: x }\n', '.gitlab-ci.yml': good });
    const [{ id }] = await project.pipelines();
    assert.deepEqual(await project.jobs(id), ['elsewhere']);
  });

  test('applies variables of the project, protected ones on protected refs', async () => {
    const project = await seedPushed(gantry);
    const variable = { key: 'KEEP', value: 'yes', protected: true };
    await gantry.api(`POST ${project.path}/variables`, { json: variable });
    await project.push('a: { script: x, rules: [{ if: $KEEP }] }\nb: { script: x }\n');
    const [{ id: onMain }] = await project.pipelines();
    assert.deepEqual(await project.jobs(onMain), ['a', 'b']);
    await project.push({ c: '1' }, { branch: 'topic', from: 'main' });
    const [{ id: onTopic }] = await project.pipelines();
    assert.deepEqual(await project.jobs(onTopic), ['b']);
  });

  test('creates no pipeline if CI is disabled', async () => {
    const project = await seedPushed(gantry);
    await gantry.api(`PUT ${project.path}`, { json: { builds_access_level: 'disabled' } });
    await project.push(good);
    const { store } = gantry.service.platform;
    const rows = await store.db
      .selectFrom('pipelines')
      .select('id')
      .where('project_id', '=', project.id)
      .execute();
    assert.deepEqual(rows, []);
  });

  test('a hostile configuration does not delay its push', async () => {
    const project = await seedPushed(gantry);
    const nine = (name: string): string => Array.from({ length: 9 }, () => name).join(', ');
    const levels = Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${nine(`*a${at}`)}]`);
    await project.push(`a0: &a0 [x]\n${levels.join('\n')}\njob: { script: x }\n`);
    const [pipeline] = await project.pipelines();
    const { body } = await gantry.api(`GET ${project.path}/pipelines/${pipeline.id}`);
    assert.deepEqual([body.status, body.yaml_errors], ['failed', 'The parsed YAML is too big (line 7)']);
  });
});

describe('merge requests', () => {
  const ofRequests = `${good}review: { script: x, rules: [{ if: '$CI_PIPELINE_SOURCE == "merge_request_event"' }] }\n`;

  test('get pipelines of their own, with the jobs meant for them', async () => {
    const project = await seedPushed(gantry);
    await project.push(ofRequests);
    const first = await seedBranch(gantry, project, 'topic');
    const request = await openRequest(gantry, project, 'topic');
    await settle(gantry);
    const own = async () => await project.pipelines('source=merge_request_event');
    const [pipeline, ...more] = await own();
    assert.deepEqual(more, []);
    assert.deepEqual([pipeline.sha, pipeline.ref], [first, `refs/merge-requests/${request.iid}/head`]);
    assert.deepEqual(await project.jobs(pipeline.id), ['review']);
    const second = await project.push({ more: '1' }, { branch: 'topic', by: project.developer.id });
    const [newer] = await own();
    assert.equal(newer.sha, second);
    const { body } = await gantry.api(`GET ${project.path}/pipelines/${newer.id}`);
    assert.equal(body.user.username, project.developer.username);
    const listed = await gantry.api(`GET ${toPath(request)}/pipelines`);
    assert.deepEqual(
      listed.body.map(({ sha, source }: { sha: string; source: string }) => [sha, source]),
      [
        [second, 'merge_request_event'],
        [second, 'push'],
        [first, 'merge_request_event'],
        [first, 'push'],
      ],
    );
    assert.equal(listed.headers.get('x-total'), '4');
  });

  test('with a workflow that selects one of the two pipelines get that one', async () => {
    const project = await seedPushed(gantry);
    const rules = [
      `{ if: '$CI_PIPELINE_SOURCE == "merge_request_event"' }`,
      `{ if: $CI_COMMIT_BRANCH && $CI_OPEN_MERGE_REQUESTS, when: never }`,
      '{ if: $CI_COMMIT_BRANCH }',
    ];
    await project.push(
      `workflow: { rules: [${rules.join(', ')}] }\njob: { script: x, rules: [{ when: always }] }\n`,
    );
    await seedBranch(gantry, project, 'topic');
    await settle(gantry);
    await openRequest(gantry, project, 'topic');
    await settle(gantry);
    const sha = await project.push({ more: '1' }, { branch: 'topic' });
    const sources = (await project.pipelines(`sha=${sha}`)).map(({ source }) => source);
    assert.deepEqual(sources, ['merge_request_event']);
  });

  test('a merge request gets a pipeline when a user asks for one', async () => {
    const project = await seedPushed(gantry);
    await project.push(ofRequests);
    await seedBranch(gantry, project, 'topic', { message: '[ci skip]' });
    const request = await openRequest(gantry, project, 'topic');
    await settle(gantry);
    const path = `POST ${toPath(request)}/pipelines`;
    const { status, body } = await gantry.api(path, { as: project.developer.token });
    assert.deepEqual([status, body.source, body.status], [201, 'merge_request_event', 'pending']);
    const guest = await seedUser(gantry);
    assert.equal((await gantry.api(path, { as: guest.token })).status, 403);
    await project.push(good, { branch: 'topic' });
    const refused = await gantry.api(path);
    assert.equal(refused.status, 400);
    assert.match(refused.body.message.base[0], /^Pipeline will not run for the selected trigger\./);
  });
});
