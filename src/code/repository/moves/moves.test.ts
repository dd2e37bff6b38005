import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { sql } from 'kysely';
import { git, gitEnvironment, tryGit } from '../../../../test/support/repositories/git.ts';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { seedProject, seedUser, unique } from '../../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../../test/support/service.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import { observeOperations } from '../../../platform/db/statement_meter.ts';
import { generateRepositoryPath, getRepositoryPath } from '../../../platform/git/storages.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import { moveWork } from './schedule_move.ts';
import { movingText } from './hold_repository.ts';

let gantry: TestService;
let folder: string;
before(async () => {
  gantry = await startTestService({ GANTRY_REPOSITORY_STORAGES: 'default,other' });
  folder = mkdtempSync(join(tmpdir(), 'gantry-moves-'));
});
after(async () => {
  await gantry.close();
  rmSync(folder, { recursive: true, force: true });
});

type Place = { repository_storage: string; repository_path: string; repository_moving: number };

const placeOf = async (id: number): Promise<Place> => {
  const row = await gantry.service.platform.store.db
    .selectFrom('projects')
    .select(['id', 'repository_storage', 'repository_path', 'repository_moving'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return { ...row, repository_path: getRepositoryPath(row) };
};

const folderOf = ({ repository_storage, repository_path }: Place): string =>
  join(gantry.service.platform.config.data, 'repositories', repository_storage, repository_path);

const change = async (text: ReturnType<typeof sql>): Promise<void> =>
  void (await gantry.service.platform.store.write(async ({ db }) => await text.execute(db)));

const newCode = async () => {
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  await seedCommit(gantry, id, { 'readme.md': 'one' });
  await gantry.api(`POST /projects/${id}/repository/branches?branch=side&ref=main`);
  return { id, full_path, path: `/projects/${id}` };
};

const stateOf = async (path: string, id: number): Promise<string> => {
  for (;;) {
    const { body } = await gantry.api(`GET ${path}/repository_storage_moves/${id}`);
    if (body.state === 'finished' || body.state === 'failed') return body.state;
    await gantry.service.worker.drain();
  }
};

const moved = async (path: string, destination_storage_name: string): Promise<number> => {
  const { status, body, text } = await gantry.api(`POST ${path}/repository_storage_moves`, {
    json: { destination_storage_name },
  });
  assert.equal(status, 201, text);
  assert.equal(await stateOf(path, body.id), 'finished');
  return body.id;
};

/** A move that nothing carries out yet, before its last attempt. */
const insertMove = async (project_id: number, destination_storage: string): Promise<number> =>
  await gantry.service.platform.store.write(
    async ({ db, now }) =>
      await insertRow(db, 'repository_moves', {
        project_id,
        user_id: null,
        state: 'scheduled',
        source_storage: 'default',
        source_path: (await placeOf(project_id)).repository_path,
        destination_storage,
        destination_path: generateRepositoryPath(),
        attempts: 7,
        error: null,
        created_at: now,
        updated_at: now,
      }),
  );

const carryOut = async (path: string, move_id: number, storage: string): Promise<string> => {
  await gantry.service.platform.store.write(
    async (tx) => await enqueue(tx, moveWork, { move_id, storage, path: '' }),
  );
  return await stateOf(path, move_id);
};

const branches = async (path: string) =>
  (await gantry.api(`GET ${path}/repository/branches`)).body.map(
    ({ name, commit }: { name: string; commit: { id: string } }) => [name, commit.id],
  );

test('moves a repository with all refs, which takes changes afterwards, and removes the old copy', async () => {
  const { id, full_path, path } = await newCode();
  await seedCommit(gantry, id, { 'readme.md': 'two' }, { branch: 'side' });
  const request = { source_branch: 'side', target_branch: 'main', title: 'Two' };
  await gantry.api(`POST ${path}/merge_requests`, { json: request });
  await gantry.service.worker.drain();
  const [before, shown] = [await placeOf(id), await branches(path)];
  const refs = await git(folderOf(before), 'for-each-ref');
  const moveId = await moved(path, 'other');
  const place = await placeOf(id);
  assert.deepEqual([place.repository_storage, place.repository_moving], ['other', 0]);
  assert.deepEqual(await branches(path), shown);
  assert.equal(await git(folderOf(place), 'for-each-ref'), refs);
  const { body } = await gantry.api(`GET ${path}/repository_storage_moves/${moveId}`);
  assert.deepEqual(
    [body.source_storage_name, body.destination_storage_name, body.state, body.error_message],
    ['default', 'other', 'finished', null],
  );
  assert.equal(body.project.path_with_namespace, full_path);
  await seedCommit(gantry, id, { third: 'x' });
  assert.notDeepEqual(await branches(path), shown);
  // What the service wrote to the old copy late is not lost.
  const [[, tip]] = shown;
  await git(folderOf(before), 'update-ref', 'refs/keep-around/late', tip);
  // What was removed since does not come back.
  await git(folderOf(before), 'update-ref', 'refs/pipelines/99', tip);
  // A busy machine may need a second attempt.
  for (let tries = 0; tries < 10 && existsSync(folderOf(before)); tries += 1) {
    await change(sql`update work set run_at = 0 where name = 'repository.remove_copy'`);
    await gantry.service.worker.drain();
  }
  assert.ok(!existsSync(folderOf(before)), 'the old copy was removed');
  assert.equal(await git(folderOf(place), 'rev-parse', 'refs/keep-around/late'), tip);
  assert.equal(await git(folderOf(place), 'for-each-ref', 'refs/pipelines/'), '');
});

test('lists moves of a project and of all, the newest first', async () => {
  const { path } = await newCode();
  const ids = [await moved(path, 'other'), await moved(path, 'default')].toReversed();
  const ofProject = await gantry.api(`GET ${path}/repository_storage_moves`);
  assert.deepEqual(
    [ofProject.body.map((move: { id: number }) => move.id), ofProject.headers.get('x-total')],
    [ids, '2'],
  );
  const all = await gantry.api('GET /project_repository_storage_moves?per_page=2');
  assert.deepEqual(
    all.body.map((move: { id: number }) => move.id),
    ids,
  );
  assert.equal((await gantry.api(`GET /project_repository_storage_moves/${ids[0]}`)).body.id, ids[0]);
  const { path: other } = await newCode();
  assert.equal((await gantry.api(`GET ${other}/repository_storage_moves/${ids[0]}`)).status, 404);
});

test('refuses what cannot be moved, and everybody but administrators', async () => {
  const { id, path } = await newCode();
  const user = await seedUser(gantry);
  const ask = async (destination_storage_name?: string, as?: string) =>
    await gantry.api(`POST ${path}/repository_storage_moves`, {
      json: { destination_storage_name },
      ...(as !== undefined && { as }),
    });
  assert.equal((await ask('other', user.token)).status, 403);
  for (const [name, text] of [
    ['nowhere', 'is not included in the list'],
    ['default', 'cannot be the storage that the repository is in'],
  ] as const) {
    const { status, body } = await ask(name);
    assert.deepEqual([status, body.message], [400, { destination_storage_name: [text] }]);
  }
  await insertMove(id, 'other');
  const again = await ask('other');
  assert.deepEqual(
    [again.status, again.body.message],
    [400, { project: ['is being moved to another storage already'] }],
  );
  const all = async (source_storage_name: string) =>
    await gantry.api('POST /project_repository_storage_moves', { json: { source_storage_name } });
  assert.equal((await all('nowhere')).status, 400);
});

test('is read-only while it moves: changes are refused and nothing is lost', async () => {
  const { id, full_path, path } = await newCode();
  const clone = join(folder, 'clone');
  const address = `${gantry.url.replace('://', `://root:${rootToken}@`)}/${full_path}.git`;
  await git(folder, 'clone', '-q', address, clone);
  writeFileSync(join(clone, 'new'), 'new');
  await git(clone, 'add', '.');
  await git(clone, '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'New');
  const shown = await branches(path);
  await change(sql`update projects set repository_moving = 1 where id = ${id}`);
  const push = await tryGit(clone, ['push', 'origin', 'HEAD:refs/heads/pushed']);
  assert.notEqual(push.code, 0);
  assert.match(push.stderr.replaceAll(/\s*\nremote: +/g, ' '), new RegExp(movingText.slice(0, 60)));
  const commit = await gantry.api(`POST ${path}/repository/branches?branch=made&ref=main`);
  assert.deepEqual([commit.status, commit.body.message], [503, movingText]);
  assert.deepEqual(await branches(path), shown);
  assert.equal((await tryGit(clone, ['fetch', 'origin'])).code, 0);
  await change(sql`update projects set repository_moving = 0 where id = ${id}`);
  assert.equal((await tryGit(clone, ['push', 'origin', 'HEAD:refs/heads/pushed'])).code, 0);
  await moved(path, 'other');
  assert.equal((await branches(path)).length, shown.length + 1);
});

test('gives up after a while, and leaves the repository where it is', async () => {
  const { id, path } = await newCode();
  const before = await placeOf(id);
  const moveId = await insertMove(id, 'away');
  // An earlier attempt ended with its process.
  await change(sql`update projects set repository_moving = 1 where id = ${id}`);
  assert.equal(await carryOut(path, moveId, 'away'), 'failed');
  assert.deepEqual(await placeOf(id), before);
  const { body: failed } = await gantry.api(`GET ${path}/repository_storage_moves/${moveId}`);
  assert.match(failed.error_message, /the repository storage away is not configured/);
  await seedCommit(gantry, id, { more: 'x' });
});

test('gives up a move of a repository that an import replaced meanwhile', async () => {
  const { id, path } = await newCode();
  const move = await insertMove(id, 'other');
  const repository_path = generateRepositoryPath();
  const columns = { repository_path, repository_written: 0 as const, default_branch: null };
  await gantry.service.platform.store.write(
    async ({ db }) => await db.updateTable('projects').set(columns).where('id', '=', id).execute(),
  );
  const tip = await seedCommit(gantry, id, { 'readme.md': 'imported' });
  assert.equal(await carryOut(path, move, 'default'), 'failed');
  const place = await placeOf(id);
  assert.deepEqual([place.repository_storage, place.repository_path], ['default', repository_path]);
  assert.deepEqual(await branches(path), [['main', tip]]);
});

test('gives up a move whose process ended at each attempt', async () => {
  const { id, path } = await newCode();
  const moveId = await insertMove(id, 'other');
  await change(sql`update repository_moves set attempts = 8, state = 'started' where id = ${moveId}`);
  await change(sql`update projects set repository_moving = 1 where id = ${id}`);
  assert.equal(await carryOut(path, moveId, 'other'), 'failed');
  assert.equal((await placeOf(id)).repository_storage, 'default');
  await seedCommit(gantry, id, { more: 'x' });
});

test('moves a repository whose internal refs change while git checks the copy', async () => {
  const { id, path } = await newCode();
  const before = folderOf(await placeOf(id));
  const moveId = await insertMove(id, 'other');
  let copies = 0;
  const stop = observeOperations(({ name }) => {
    if (name !== 'refs.restore') return;
    copies += 1;
    const args = ['update-ref', 'refs/pipelines/1', 'main'];
    if (copies === 2) execFileSync('git', args, { cwd: before, env: gitEnvironment() });
  });
  assert.equal(await carryOut(path, moveId, 'other').finally(stop), 'finished');
  assert.match(await git(folderOf(await placeOf(id)), 'for-each-ref'), /refs\/pipelines\/1/);
});

test('moves all repositories of a storage, also empty ones', async () => {
  const { id, path } = await newCode();
  const empty = await seedProject(gantry, {});
  const shown = await branches(path);
  await change(sql`update repository_moves set state = 'failed' where state in ('scheduled', 'started')`);
  const answer = await gantry.api('POST /project_repository_storage_moves', {
    json: { source_storage_name: 'default', destination_storage_name: 'other' },
  });
  assert.equal(answer.status, 202, answer.text);
  while (
    (await placeOf(id)).repository_storage !== 'other' ||
    (await placeOf(empty.id)).repository_storage !== 'other'
  )
    await gantry.service.worker.drain();
  assert.deepEqual(await branches(path), shown);
  await seedCommit(gantry, empty.id, { first: 'x' });
});

test('administrators name the storage of a new project, and move one by an edit', async () => {
  const user = await seedUser(gantry);
  const create = async (repository_storage: string, as?: string) =>
    await gantry.api('POST /projects', {
      json: { name: unique('stored'), repository_storage },
      ...(as !== undefined && { as }),
    });
  const { body } = await create('other');
  assert.equal(body.repository_storage, 'other');
  const path = `/projects/${body.id}`;
  const edit = async (json: object, as?: string) =>
    await gantry.api(`PUT ${path}`, { json, ...(as !== undefined && { as }) });
  const refusal = { message: { repository_storage: ['is not included in the list'] } };
  for (const { status, body } of [await create('nowhere'), await edit({ repository_storage: 'nowhere' })])
    assert.deepEqual([status, body], [400, refusal]);
  const own = (await create('other', user.token)).body.id;
  assert.equal((await placeOf(own)).repository_storage, 'default');
  const moves = async () => (await gantry.api(`GET ${path}/repository_storage_moves`)).body;
  assert.equal((await edit({ repository_storage: 'other', description: 'Same' })).status, 200);
  assert.deepEqual(await moves(), []);
  assert.equal((await edit({ repository_storage: 'default', description: 'New' })).status, 200);
  const again = await edit({ repository_storage: 'default', description: 'Newer' });
  assert.deepEqual([again.status, (await gantry.api(`GET ${path}`)).body.description], [400, 'New']);
  const [{ id }] = await moves();
  assert.equal(await stateOf(path, id), 'finished');
  assert.equal((await placeOf(body.id)).repository_storage, 'default');
});
