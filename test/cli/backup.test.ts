/** `gantry backup`: what it makes while a service runs is verified and restored. */
import assert from 'node:assert/strict';
import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { hash, randomBytes } from 'node:crypto';
import { createZstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { StoredDatabase } from '../../src/app/backup/database_chunks.ts';
import { type Manifest, type StoredObject, formatManifest } from '../../src/app/backup/manifest.ts';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { createWriteStream } from 'node:fs';
import { oneTestIn } from '../support/run/drawn_test.ts';
import { newPlace, type Place, type Running } from './gantry.ts';

/** For tests that need no other: all of them start the program many times. */
const someTest = oneTestIn(3);

const token = 'glpat-backup-0123456789';
let place: Place;
let home: string;
let folder: string;
const others: Place[] = [];

// oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
const api = async ({ url }: Running, line: string, body?: object | FormData): Promise<any> => {
  const [method = '', path = ''] = line.split(' ');
  const isForm = body instanceof FormData;
  const response = await fetch(`${url}/api/v4${path}`, {
    method,
    headers: { 'private-token': token, ...(!isForm && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${line}: ${response.status} ${text}`);
  return text === '' ? null : JSON.parse(text);
};

const ok = async (line: string, run = place.run): Promise<string> => {
  const { code, stdout, stderr } = await run(line);
  assert.equal(code, 0, `${line}: ${stderr}${stdout}`);
  return stdout;
};

const commit = (service: Running, text: string, branch = 'main') =>
  api(service, 'POST /projects/1/repository/commits', {
    branch,
    commit_message: text,
    actions: [{ action: 'create', file_path: text, content: text }],
  });

let service: Running;
before(async () => {
  place = newPlace();
  home = dirname(place.data);
  folder = join(home, 'backups');
  service = await place.serve('serve', { env: { GANTRY_ROOT_TOKEN: token } });
  await api(service, 'POST /projects', { name: 'Kept' });
  await commit(service, 'first');
  await api(service, 'POST /projects/1/repository/branches?branch=side&ref=main');
  await api(service, 'POST /projects/1/repository/tags', {
    tag_name: 'v1',
    ref: 'main',
    message: 'annotated',
  });
  const form = new FormData();
  form.append('file', new Blob(['bytes of the upload']), 'file.txt');
  await api(service, 'POST /projects/1/uploads', form);
});
after(async () => {
  await service.end('SIGKILL');
  for (const one of [...others, place]) await one.remove();
});

/** Restores into a place of its own and serves it. */
const restored = async (from: string, more = ''): Promise<{ own: Place; running: Running }> => {
  const own = newPlace();
  others.push(own);
  await ok(`backup restore ${from}${more}`, own.run);
  return { own, running: await own.serve() };
};

test('makes a backup while the service runs, then adds only what is new', async () => {
  const first = JSON.parse(await ok(`backup create --json --to ${folder} --verify`));
  assert.deepEqual(first.counts, { repositories: 1, refs: 3, blobs: 1, logs: 0 });
  assert.deepEqual([first.verified, first.problems], [true, []]);
  for (const file of globSync('**', { cwd: folder }).map((name) => join(folder, name)))
    assert.equal(statSync(file).mode & 0o077, 0, file);
  const packs = globSync('objects/*/*', { cwd: folder }).length;
  await commit(service, 'second');
  await api(service, 'DELETE /projects/1/repository/branches/side');
  const second = JSON.parse(await ok(`backup create --json --to ${folder}`));
  assert.deepEqual(second.counts, { repositories: 1, refs: 2, blobs: 1, logs: 0 });
  assert.ok(globSync('objects/*/*', { cwd: folder }).length > packs);
  const list = JSON.parse(await ok(`backup list ${folder} --json`)) as { name: string }[];
  assert.deepEqual(
    list.map(({ name }) => name),
    [first.name, second.name],
  );
});

test('restores into an empty instance only, each backup at its point', async () => {
  const [first] = JSON.parse(await ok(`backup list ${folder} --json`)) as { name: string }[];
  const { own, running } = await restored(folder);
  const commits = await api(running, 'GET /projects/1/repository/commits');
  assert.deepEqual(
    commits.map(({ title }: { title: string }) => title),
    ['second', 'first'],
  );
  await commit(running, 'third');
  const [markdown] = globSync('blobs/projects/1/**/*', { cwd: own.data }).filter((name) =>
    /[0-9a-f]{64}$/.test(name),
  );
  assert.equal(readFileSync(join(own.data, markdown ?? ''), 'utf8'), 'bytes of the upload');
  await running.end('SIGTERM');
  const again = await own.run(`backup restore ${folder}`);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /is in use: restore into an empty instance/);
  const before = await restored(folder, ` --backup ${first?.name}`);
  const branches = await api(before.running, 'GET /projects/1/repository/branches');
  assert.deepEqual(
    branches.map(({ name }: { name: string }) => name),
    ['main', 'side'],
  );
  await before.running.end('SIGTERM');
  const doctor = await before.own.run('doctor --thorough');
  assert.equal(doctor.code, 0, doctor.stdout);
});

/** Adds rows whose texts do not compress. */
const addRows = async (count: number): Promise<void> =>
  await place.store(
    async (store) =>
      await store.write(async ({ db, now }) => {
        for (let at = 0; at < count; at += 500) {
          const rows = Array.from({ length: 500 }, () => ({
            created_at: now,
            kind: 'made',
            actor_id: null,
            sudo_by_id: null,
            target_type: null,
            target_id: null,
            ip: '',
            user_agent: '',
            details: JSON.stringify({ text: randomBytes(150).toString('base64') }),
          }));
          await db.insertInto('audit_events').values(rows).execute();
        }
      }),
  );

someTest('stores the parts of the database that changed', async () => {
  await addRows(10_000);
  const whole = JSON.parse(await ok(`backup create --json --to ${folder}`)) as { added: number };
  assert.ok(whole.added > 1_000_000);
  await addRows(500);
  await commit(service, 'between');
  const next = JSON.parse(await ok(`backup create --json --to ${folder} --verify`)) as { added: number };
  assert.ok(next.added < whole.added / 4, `${next.added} after ${whole.added} bytes`);
});

/** Turns the newest backup into one of format 1, which has the database as a file. */
const makeOlder = async (): Promise<string> => {
  const [name = ''] = globSync('backups/*.json', { cwd: folder }).toSorted().slice(-1);
  const file = join(folder, name);
  const { manifest: text } = JSON.parse(readFileSync(file, 'utf8')) as { manifest: string };
  const manifest = JSON.parse(text) as Manifest;
  const own = newPlace();
  others.push(own);
  const { GANTRY_DATABASE_URL: _url, ...env } = own.env;
  const { code, stderr } = await own.run(`backup restore ${folder}`, {
    env: { ...env, GANTRY_DATABASE_URL: '' },
  });
  assert.equal(code, 0, stderr);
  const bytes = zstdCompressSync(readFileSync(join(own.data, 'gantry.sqlite')));
  const sha256 = hash('sha256', bytes);
  mkdirSync(join(folder, 'objects', sha256.slice(0, 2)), { recursive: true });
  writeFileSync(join(folder, 'objects', sha256.slice(0, 2), sha256), bytes);
  writeFileSync(file, formatManifest({ ...manifest, format: 1, database: { sha256, size: bytes.length } }));
  return manifest.name;
};

someTest('reads backups that have the database as a file, and goes on from them', async () => {
  await ok(`backup create --to ${folder}`);
  const name = await makeOlder();
  await ok(`backup verify ${folder} --backup ${name}`);
  const next = JSON.parse(await ok(`backup create --to ${folder} --verify --json`));
  assert.equal(next.verified, true);
});

const pathOf = (from: string, sha256: string): string => join(from, 'objects', sha256.slice(0, 2), sha256);

const readObject = (from: string, sha256: string): string =>
  zstdDecompressSync(readFileSync(pathOf(from, sha256))).toString();

const addObject = (from: string, text: string): StoredObject => {
  const bytes = zstdCompressSync(text);
  const sha256 = hash('sha256', bytes);
  mkdirSync(dirname(pathOf(from, sha256)), { recursive: true });
  writeFileSync(pathOf(from, sha256), bytes);
  return { sha256, size: bytes.length };
};

someTest('finds a damaged object, and names the backup that cannot be used', async () => {
  const [object = ''] = globSync('objects/*/*', { cwd: folder })
    .map((name) => join(folder, name))
    .filter((name) => readFileSync(name, 'utf8') === 'bytes of the upload');
  writeFileSync(object, 'bytes of the uploaD');
  const { code, stderr } = await place.run(`backup verify ${folder}`);
  assert.equal(code, 1);
  assert.match(stderr, /the object [0-9a-f]{64} is damaged: use another backup/);
  const doctor = async (): Promise<string> => (await place.run('doctor')).stdout;
  assert.match(await doctor(), /^warn {2}backup: .*the newest failed: it was not verified: .* is damaged/m);
  writeFileSync(object, 'bytes of the upload');
  await ok(`backup verify ${folder}`);
  assert.match(await doctor(), /^ok {4}backup: the last verification was at/m);
});

someTest('is one file, too', async () => {
  const file = join(home, 'whole.tar.zst');
  const made = await ok(`backup create --to ${file} --without-secrets`);
  assert.match(made, /^\S+: 1 repository, 1 file, 0 job logs; \S+ \S+ added to /);
  assert.equal(statSync(file).mode & 0o077, 0);
  assert.match(await ok(`backup list ${file}`), / {2}1 repository {2}1 file {2}0 job logs {2}/);
  const listed = JSON.parse(await ok(`backup list ${file} --json`));
  assert.equal(listed[0].with_secrets, false);
  await ok(`backup verify ${file}`);
  const own = newPlace();
  others.push(own);
  const { code, stderr } = await own.run(`backup restore ${file}`);
  assert.equal(code, 1);
  assert.match(stderr, /the backup has no secrets: copy the secrets of the instance/);
});

const header = (name: string, size: number, type = '0', link = ''): Buffer => {
  const block = Buffer.alloc(512);
  block.write(name);
  block.write(`0000600\0`, 100);
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write(type, 156);
  block.write(link, 157);
  block.write('ustar\x0000', 257);
  block.write('        ', 148);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
};

for (const [what, entry] of [
  ['a path out of the folder', header('../../escaped', 0)],
  ['an absolute path', header('/tmp/escaped', 0)],
  ['a link', header('objects/ab/' + 'ab'.repeat(32), 0, '2', '/etc')],
  ['a device', header('objects/ab/' + 'ab'.repeat(32), 0, '3')],
] as const) {
  someTest(`refuses an archive with ${what}`, async () => {
    const file = join(home, 'tampered.tar.zst');
    mkdirSync(home, { recursive: true });
    await pipeline(
      Readable.from([Buffer.concat([entry, Buffer.alloc(1024)])]),
      createZstdCompress(),
      createWriteStream(file),
    );
    const { code, stderr } = await place.run(`backup list ${file}`);
    assert.equal(code, 1);
    assert.match(stderr, /the archive cannot be read: it has the entry/);
  });
}

/** Changes what the only backup of a folder has of the database. */
const rewriteDatabase = (from: string, change: (database: StoredDatabase) => void): void => {
  const file = join(from, globSync('backups/*.json', { cwd: from })[0] ?? '');
  const { manifest: text } = JSON.parse(readFileSync(file, 'utf8')) as { manifest: string };
  const manifest = JSON.parse(text) as Manifest;
  const database = JSON.parse(readObject(from, manifest.database.sha256)) as StoredDatabase;
  change(database);
  const migration = database.migrations.toSorted().at(-1) ?? '';
  const stored = addObject(from, JSON.stringify(database));
  const tables = Object.fromEntries(database.tables.map(({ name, rows }) => [name, rows]));
  writeFileSync(file, formatManifest({ ...manifest, migration, tables, database: stored }));
};

type StoredTable = StoredDatabase['tables'][number];

/** Rewrites the rows of a table; null leaves a row out. */
const rewriteRows = (
  from: string,
  table: StoredTable,
  change: (row: unknown[]) => unknown[] | null,
): void => {
  table.rows = 0;
  table.chunks = table.chunks.map(({ sha256 }) => {
    const rows = readObject(from, sha256).split('\n').filter(Boolean);
    const changed = rows.map((row) => change(JSON.parse(row) as unknown[])).filter((row) => row !== null);
    table.rows += changed.length;
    const text = changed.map((row) => `${JSON.stringify(row)}\n`).join('');
    return { lines: hash('sha256', text), ...addObject(from, text) };
  });
};

/** Takes back the migration that added a column. */
const withoutColumn =
  (from: string, migration: string, { table, column }: { table: string; column: string }) =>
  (database: StoredDatabase): void => {
    const find = (wanted: string): StoredTable => {
      const found = database.tables.find(({ name }) => name === wanted);
      assert.ok(found !== undefined);
      return found;
    };
    database.migrations = database.migrations.filter((name) => name !== migration);
    rewriteRows(from, find('migrations'), (row) => (row.includes(migration) ? null : row));
    const stored = find(table);
    const at = stored.columns.indexOf(column);
    assert.ok(at >= 0);
    stored.columns = stored.columns.toSpliced(at, 1);
    rewriteRows(from, stored, (row) => row.toSpliced(at, 1));
  };

someTest('restores a backup of an older version, and one project of it', async () => {
  const older = join(home, 'older');
  await ok(`backup create --to ${older}`);
  rewriteDatabase(older, withoutColumn(older, '0126_work_traces', { table: 'work', column: 'trace' }));
  await ok(`backup verify ${older}`);
  const { own, running } = await restored(older);
  assert.equal((await api(running, 'GET /projects/1')).name, 'Kept');
  await running.end('SIGTERM');
  await own.store(async ({ db }) => await db.selectFrom('work').select('trace').execute());
  await ok(`backup restore ${older} --project root/kept --as root/older`);
  const commits = await api(service, 'GET /projects/root%2Folder/repository/commits');
  assert.equal(commits.at(-1).title, 'first');
});

someTest('refuses a backup of a newer version, and one project of it', async () => {
  const newer = join(home, 'newer');
  await ok(`backup create --to ${newer}`);
  rewriteDatabase(newer, ({ migrations }) => void migrations.push('9999_of_the_future'));
  const own = newPlace();
  others.push(own);
  const whole = await own.run(`backup restore ${newer}`);
  const one = await place.run(`backup restore ${newer} --project root/kept --as root/newer`);
  for (const { code, stderr } of [whole, one]) {
    assert.equal(code, 1, stderr);
    assert.match(stderr, /newer Gantry.*9999_of_the_future/);
  }
  assert.deepEqual(globSync('{gantry.sqlite,secrets.json,repositories}', { cwd: own.data }), []);
  const projects = (await api(service, 'GET /projects')) as { path: string }[];
  assert.ok(!projects.some(({ path }) => path === 'newer'));
});
