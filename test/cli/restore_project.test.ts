/** `gantry backup restore --project`: one project of a backup becomes a new project of a running instance. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { newPlace, type Place, type Running } from './gantry.ts';

const token = 'glpat-restore-0123456789';
let place: Place;
let folder: string;
let service: Running;

type Answer = { status: number; text: string };

const ask = async (line: string, body?: object | FormData, headers: object = {}): Promise<Answer> => {
  const [method = '', path = ''] = line.split(' ');
  const isForm = body instanceof FormData;
  const response = await fetch(`${service.url}/api/v4${path}`, {
    method,
    headers: { 'private-token': token, ...(!isForm && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
};

// oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
const api = async (line: string, body?: object | FormData): Promise<any> => {
  const { status, text } = await ask(line, body);
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  return text === '' ? null : JSON.parse(text);
};

const restore = async (more: string) => await place.run(`backup restore ${folder} ${more}`);

const restored = async (more: string): Promise<{ id: number; full_path: string; unknown_users: number }> => {
  const { code, stdout, stderr } = await restore(`${more} --json`);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
};

/** Runs the only waiting job as a runner does: with a log and an artifact. */
const runJob = async (): Promise<void> => {
  const runner = await api('POST /user/runners', { runner_type: 'instance_type', run_untagged: true });
  const request = { token: runner.token, info: { features: {} } };
  let answer = await ask('POST /jobs/request', request);
  while (answer.status !== 201) answer = await ask('POST /jobs/request', request);
  const job = JSON.parse(answer.text) as { id: number; token: string };
  const auth = { 'job-token': job.token };
  const log = await fetch(`${service.url}/api/v4/jobs/${job.id}/trace`, {
    method: 'PATCH',
    headers: { ...auth, 'content-range': '0-11' },
    body: 'built it all',
  });
  assert.equal(log.status, 202);
  const form = new FormData();
  form.append('file', new Blob(['<testsuites/>']), 'junit.xml.gz');
  form.append('artifact_type', 'junit');
  form.append('artifact_format', 'raw');
  const stored = await ask(`POST /jobs/${job.id}/artifacts`, form, auth);
  assert.ok([201, 400].includes(stored.status), stored.text);
  const ended = await ask(`PUT /jobs/${job.id}`, { token: job.token, state: 'success' });
  assert.equal(ended.status, 200, ended.text);
};

const fillProject = async (): Promise<void> => {
  await api('POST /users', {
    username: 'maria',
    name: 'Maria',
    email: 'maria@example.com',
    password: 'correct horse battery',
    skip_confirmation: true,
  });
  const team = await api('POST /groups', { name: 'team', path: 'team' });
  await api('POST /groups/team/labels', { name: 'shared', color: '#112233' });
  const { id } = await api('POST /projects', {
    name: 'Site',
    path: 'site',
    namespace_id: team.id,
    topics: ['web'],
    description: 'What we show',
  });
  const at = `/projects/${id}`;
  await api(`POST ${at}/labels`, { name: 'own', color: '#445566' });
  const milestone = await api(`POST ${at}/milestones`, { title: 'First' });
  const form = new FormData();
  form.append('file', new Blob(['bytes of the upload']), 'file.txt');
  const { markdown } = await api(`POST ${at}/uploads`, form);
  const maria = await api(`GET /users?username=maria`);
  await api(`POST ${at}/members`, { user_id: maria[0].id, access_level: 30 });
  await api(`POST ${at}/issues?sudo=maria`, {
    title: 'Broken link',
    description: `See ${markdown}`,
    labels: 'own,shared',
    milestone_id: milestone.id,
    assignee_ids: [maria[0].id],
  });
  await api(`POST ${at}/issues`, { title: 'Gone' });
  await api(`DELETE ${at}/issues/2`);
  await api(`POST ${at}/issues`, { title: 'Last' });
  const thread = await api(`POST ${at}/issues/1/discussions?sudo=maria`, { body: 'I see it' });
  await api(`POST ${at}/issues/1/discussions/${thread.id}/notes`, { body: 'Me, too' });
  await api(`POST ${at}/issues/1/award_emoji`, { name: 'thumbsup' });
  const actions = [
    { action: 'create', file_path: '.gitlab-ci.yml', content: 'build: { script: [make] }' },
    { action: 'create', file_path: 'readme.md', content: 'one' },
  ];
  await api(`POST ${at}/repository/commits`, { branch: 'main', commit_message: 'Begin', actions });
  await runJob();
  await api(`POST ${at}/repository/commits`, {
    branch: 'side',
    start_branch: 'main',
    commit_message: 'Change [skip ci]',
    actions: [{ action: 'update', file_path: 'readme.md', content: 'two' }],
  });
  await api(`POST ${at}/merge_requests?sudo=maria`, {
    source_branch: 'side',
    target_branch: 'main',
    title: 'Second',
  });
  const snippet = await api(`POST ${at}/snippets?sudo=maria`, {
    title: 'Commands',
    visibility: 'private',
    files: [
      { file_path: 'build.sh', content: 'make' },
      { file_path: 'check.sh', content: 'make check' },
    ],
  });
  const comment = await api(`POST ${at}/snippets/${snippet.id}/notes`, { body: 'Also clean' });
  await api(`POST ${at}/snippets/${snippet.id}/notes/${comment.id}/award_emoji?sudo=maria`, { name: 'tada' });
  await api(`POST ${at}/variables`, { key: 'DEPLOY', value: 'secret value' });
};

before(async () => {
  place = newPlace();
  folder = join(dirname(place.data), 'backups');
  service = await place.serve('serve', { env: { GANTRY_ROOT_TOKEN: token } });
  await fillProject();
  const { code, stderr } = await place.run(`backup create --to ${folder}`);
  assert.equal(code, 0, stderr);
});
after(async () => {
  await service.end('SIGKILL');
  await place.remove();
});

type Issue = {
  iid: number;
  title: string;
  labels: string[];
  author: { username: string };
  upvotes: number;
  user_notes_count: number;
  milestone: { title: string } | null;
};

/** The snippets of a project, with their files, comments and reactions. */
const showSnippets = async (at: string) => {
  const [{ id, title, author, files }] = await api(`GET ${at}/snippets`);
  const texts: [string, string][] = await Promise.all(
    files.map(async ({ path }: { path: string }) => [
      path,
      (await ask(`GET ${at}/snippets/${id}/files/main/${path}/raw`)).text,
    ]),
  );
  const [note] = await api(`GET ${at}/snippets/${id}/notes`);
  const awards = await api(`GET ${at}/snippets/${id}/notes/${note.id}/award_emoji`);
  return [title, author.username, texts, note.body, awards.map(({ name }: { name: string }) => name)];
};

/** What users see of a project, without ids and addresses. */
const show = async (id: number) => {
  const at = `/projects/${id}`;
  const issues = await api(`GET ${at}/issues?scope=all`);
  const [request] = await api(`GET ${at}/merge_requests`);
  const [job] = await api(`GET ${at}/jobs`);
  const discussions = await api(`GET ${at}/issues/1/discussions`);
  const members = await api(`GET ${at}/members`);
  const { description } = issues.at(-1);
  const upload = /\/uploads\/[^)]*/.exec(description)?.[0] ?? '';
  const { text: bytes } = await ask(`GET ${at}${upload}`);
  return {
    issues: issues.map((issue: Issue) => [
      issue.iid,
      issue.title,
      issue.labels,
      issue.author.username,
      issue.upvotes,
      issue.user_notes_count,
      issue.milestone?.title,
    ]),
    bytes,
    discussions: discussions
      .map(({ notes }: { notes: { body: string; system: boolean }[] }) =>
        notes.filter(({ system }) => !system).map(({ body }) => body),
      )
      .filter((bodies: string[]) => bodies.length > 0),
    request: [request.iid, request.title, request.author.username, request.sha],
    changes: (await api(`GET ${at}/merge_requests/1/changes`)).changes.length,
    branches: (await api(`GET ${at}/repository/branches`)).map(
      ({ name, commit }: { name: string; commit: { id: string } }) => `${name} ${commit.id}`,
    ),
    job: [job.name, job.status, job.pipeline.sha],
    log: (await ask(`GET ${at}/jobs/${job.id}/trace`)).text,
    variables: (await api(`GET ${at}/variables`)).map(({ key, value }: Record<string, string>) => [
      key,
      value,
    ]),
    snippets: await showSnippets(at),
    topics: (await api(`GET ${at}`)).topics,
    members: members.map(({ username, access_level }: Record<string, unknown>) => [username, access_level]),
  };
};

const idOf = async (path: string): Promise<number> =>
  (await api(`GET /projects/${encodeURIComponent(path)}`)).id;

test('restores a project beside its original, which stays as it was', async () => {
  const original = await idOf('team/site');
  const before = await show(original);
  assert.equal(before.bytes, 'bytes of the upload');
  assert.equal(before.log, 'built it all');
  assert.deepEqual(before.snippets, [
    'Commands',
    'maria',
    [
      ['build.sh', 'make'],
      ['check.sh', 'make check'],
    ],
    'Also clean',
    ['tada'],
  ]);
  const copy = await restored('--project team/site --as team/copy');
  assert.equal(copy.full_path, 'team/copy');
  assert.notEqual(copy.id, original);
  assert.deepEqual(await show(copy.id), before);
  assert.deepEqual(await show(original), before);
  const next = await api(`POST /projects/${copy.id}/issues`, { title: 'Next' });
  assert.equal(next.iid, 4);
  const counts = await api(`GET /projects/${copy.id}/labels?with_counts=true`);
  assert.equal(counts.find(({ name }: { name: string }) => name === 'own').open_issues_count, 1);
});

test('refuses a path that is taken, a group and a project that do not exist, and changes nothing', async () => {
  const projects = async () => (await api('GET /projects')).length;
  const count = await projects();
  for (const [more, why] of [
    ['--project team/site', /"team\/site" has already been taken: name another path with --as/],
    ['--project team/site --as nowhere/site', /group or user "nowhere" not found/],
    ['--project team/none --as team/other', /has no project "team\/none"/],
    ['--as team/other', /--as goes with --project/],
  ] as const) {
    const { code, stderr } = await restore(more);
    assert.notEqual(code, 0, more);
    assert.match(stderr, why);
  }
  assert.equal(await projects(), count);
});

test('brings back a project that was deleted, also where users are gone', async () => {
  const before = await show(await idOf('team/site'));
  await api(`DELETE /projects/team%2Fsite`);
  const [maria] = await api('GET /users?username=maria');
  await api(`DELETE /users/${maria.id}`);
  while ((await ask(`GET /users/${maria.id}`)).status !== 404) await wait(50);
  const back = await restored('--project team/site');
  assert.equal(back.unknown_users, 1);
  const after = await show(back.id);
  assert.deepEqual(
    [after.issues.at(-1)[3], after.request[2], after.members.length],
    ['ghost', 'ghost', before.members.length - 1],
  );
  assert.deepEqual(after.discussions, before.discussions);
  assert.deepEqual(after.branches, before.branches);
});

test('leaves nothing visible when it is killed, and the service removes what there is', async () => {
  const child = spawn(
    process.execPath,
    ['bin/gantry', 'backup', 'restore', folder, '--project', 'team/site', '--as', 'team/killed'],
    { cwd: join(import.meta.dirname, '../..'), env: { PATH: process.env['PATH'], ...place.env } },
  );
  const ended = once(child, 'exit');
  const hidden = async () =>
    await place.store(
      async ({ db }) => await db.selectFrom('projects').select('id').where('path', '=', 'killed').execute(),
    );
  while ((await hidden()).length === 0 && child.exitCode === null) await wait(20);
  child.kill('SIGKILL');
  await ended;
  assert.equal((await ask('GET /projects/team%2Fkilled')).status, 404);
  // The time after which the restore counts as dead.
  await place.store(
    async (store) =>
      await store.write(
        async ({ db, now }) =>
          void (await sql`update work set run_at = ${now} where name = 'purge_project'`.execute(db)),
      ),
  );
  while ((await hidden()).length > 0) await wait(50);
  const again = await restored('--project team/site --as team/killed');
  assert.equal((await show(again.id)).branches.length, 2);
});
