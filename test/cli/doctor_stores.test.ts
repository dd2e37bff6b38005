/** `gantry doctor` checks everything that must match the database: secrets, storages, blobs and background work. */
import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { type Place, newPlace } from './gantry.ts';

let place: Place | undefined;
afterEach(async () => await place?.remove());

const used = async (env: Record<string, string> = {}): Promise<Place> => {
  place = newPlace();
  await (await place.serve('serve', { env })).end('SIGTERM');
  return place;
};

type Check = { state: string; check: string; detail: string; advice?: string };

const examine = async ({ run }: Place, env: Record<string, string> = {}): Promise<Map<string, string>> => {
  const { stdout } = await run('doctor --json', { env });
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  return new Map(
    checks.map(({ state, check, detail, advice = '' }) => [check, `${state}: ${detail}: ${advice}`]),
  );
};

test('reports storages and blobs that are missing or belong to another instance', async () => {
  const own = await used();
  const before = await examine(own);
  assert.match(before.get('storage:default') ?? '', /^ok: .*"default".* belongs to this database/);
  assert.match(before.get('blobs') ?? '', /^ok: /);
  assert.match(before.get('secrets of the database') ?? '', /^ok: /);
  renameSync(join(own.data, 'repositories'), join(own.data, 'away'));
  const marker = join(own.data, 'blobs', 'gantry-instance');
  writeFileSync(marker, '00000000-0000-4000-8000-000000000000\n');
  const after = await examine(own);
  assert.match(
    after.get('storage:default') ?? '',
    /^fail: .*is missing.*mount or restore.*gantry adopt storage:default/,
  );
  assert.match(after.get('blobs') ?? '', /^fail: .*belongs to the instance 0{8}-.*gantry adopt blobs/);
});

test('reports secrets of another database', async () => {
  const own = await used();
  const file = join(own.data, 'secrets.json');
  const secrets = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...secrets, encryption_key: 'f'.repeat(64) }));
  assert.match(
    (await examine(own)).get('secrets of the database') ?? '',
    /^fail: \S+ does not belong to this database \(its encryption_key.*copy the file/,
  );
});

test('reports secrets that lack a key of the database', async () => {
  const own = await used();
  const file = join(own.data, 'secrets.json');
  const { registry_key, ...secrets } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  assert.ok(registry_key);
  writeFileSync(file, JSON.stringify(secrets));
  assert.match(
    (await examine(own)).get('secrets of the database') ?? '',
    /^fail: \S+ does not belong to this database \(its registry_key is missing\): copy the file/,
  );
});

test('reports whether a remote storage answers', async () => {
  const own = newPlace();
  place = own;
  const secret = { GANTRY_GITD_SECRET: 's'.repeat(32) };
  const gitd = await own.serve(`gitd --listen 127.0.0.1:0 --root ${own.data}-far`, { env: secret });
  const env = { ...secret, GANTRY_REPOSITORY_STORAGES: `default,far=${gitd.url}` };
  await (await own.serve('serve', { env })).end('SIGTERM');
  assert.match((await examine(own, env)).get('storage:far') ?? '', /^ok: .*belongs to this database/);
  await gitd.end('SIGTERM');
  assert.match(
    (await examine(own, env)).get('storage:far') ?? '',
    /^fail: .*"far".* does not answer.*: start its "gantry gitd"/,
  );
  await own.store(async ({ write }) => {
    await write(async ({ db, now }) => {
      const times = { created_at: now, updated_at: now, last_activity_at: now };
      const nulls = { description: null, creator_id: null, default_branch: null, deleted_at: null };
      await db
        .insertInto('projects')
        .values({
          ...times,
          ...nulls,
          namespace_id: 1,
          path: 'p',
          full_path: 'root/p',
          name: 'p',
          visibility: 'private',
          forked_from_project_id: null,
          repository_storage: 'lost',
        })
        .execute();
    });
  });
  assert.match(
    (await examine(own)).get('storage:lost') ?? '',
    /^fail: 1 project is in the storage "lost".*: add it to GANTRY_REPOSITORY_STORAGES/,
  );
});

test('reports failed and overdue background work', async () => {
  const own = await used();
  const before = await examine(own);
  assert.match(before.get('failed work') ?? '', /^ok: /);
  await own.store(async ({ write }) => {
    await write(async ({ db, now }) => {
      const unlocked = { unique_key: null, turn: null, locked_until: null, locked_by: null };
      const piece = { ...unlocked, payload: '{}', attempts: 20, created_at: now, last_error: 'Error: no' };
      await db
        .insertInto('work')
        .values([
          { ...piece, name: 'purge_project', run_at: Number.MAX_SAFE_INTEGER },
          { ...piece, name: 'no_such_kind', run_at: now - 7_200_000 },
        ])
        .execute();
    });
  });
  const after = await examine(own);
  assert.match(
    after.get('failed work') ?? '',
    /^fail: purge_project \(1\): .*gantry admin work list --state failed.*gantry admin work retry --all/,
  );
  assert.match(after.get('work') ?? '', /^warn: \d+ waiting, .*due since/);
});
