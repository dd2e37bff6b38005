import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { sql } from 'kysely';
import { type Ended, type Place, engine, gantry, newPlace, newUsedPlace } from './gantry.ts';

let place: Place | undefined;
const fresh = (): Place => (place = newPlace());
afterEach(async () => await place?.remove());

/** Expects one line on standard error that names the fault, without a stack, and no standard output. */
const refused = ({ code, stdout, stderr }: Ended, line: RegExp, expected = 1): void => {
  assert.equal(code, expected, stderr);
  assert.match(stderr, /^gantry: [^\n]+\n$/);
  assert.match(stderr, line);
  assert.equal(stdout, '');
};

const used = async (): Promise<Place> => {
  place = await newUsedPlace();
  return place;
};

/** The files of a folder without the lock. */
const contents = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('lock') && statSync(join(folder, name)).isFile())
    .map((name) => `${name} ${hash('sha256', readFileSync(join(folder, name)))}`);

test('refuses a port in use, creates nothing and keeps the first password', async () => {
  const { data, run } = fresh();
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  try {
    refused(
      await run(`serve --listen 127.0.0.1:${port}`),
      /cannot listen on 127\.0\.0\.1:\d+ \(it is taken\).*--listen/,
    );
    assert.equal(existsSync(data), false);
  } finally {
    other.close();
  }
});

test('refuses an address that this machine does not have', async () => {
  refused(await fresh().run('serve --listen 192.0.2.1:8080'), /cannot listen on 192\.0\.2\.1:8080/);
});

test('refuses a folder that cannot be created', async () => {
  const { data, run } = fresh();
  writeFileSync(data, 'a file');
  refused(await run(`serve --data ${data}/below`), /data folder \S+ cannot be used \(.*ENOTDIR.*--data/);
  refused(await run(`migrate --data ${data}`), /data folder \S+ cannot be used/);
  assert.equal(readFileSync(data, 'utf8'), 'a file');
});

test('refuses a second service on one folder; the first continues', async () => {
  const { run, serve } = fresh();
  const first = await serve();
  refused(await run('serve'), /another Gantry runs on .*--data/);
  if (engine === 'sqlite') refused(await run('migrate'), /another Gantry runs on/);
  else assert.equal((await run('migrate')).code, 0, 'migrations run while services do');
  assert.equal((await fetch(`${first.url}/-/liveness`)).status, 200);
});

test('refuses a damaged database', { skip: engine === 'postgres' }, async () => {
  const { data, run } = await used();
  for (const name of ['gantry.sqlite-wal', 'gantry.sqlite-shm']) rmSync(join(data, name), { force: true });
  writeFileSync(join(data, 'gantry.sqlite'), 'no database at all, but longer than a header'.repeat(100));
  const before = contents(data);
  for (const line of ['serve', 'migrate', 'admin user list']) {
    refused(await run(line), /the database \S+ cannot be read \(.*restore/);
  }
  assert.deepEqual(contents(data), before);
});

test('refuses a database of a newer version', async () => {
  const { data, run, store } = await used();
  await store(async ({ write }) => {
    await write(async ({ db }) => await sql`insert into migrations values ('9999_future', 0)`.execute(db));
  });
  const before = contents(data);
  for (const line of ['serve', 'migrate', 'migrate --dry-run', 'admin user list']) {
    refused(await run(line), /written by a newer Gantry \(it carries "9999_future"\)/);
  }
  assert.deepEqual(contents(data), before);
});

test('refuses a database in use without its secrets', async () => {
  const { data, run } = await used();
  rmSync(join(data, 'secrets.json'));
  refused(await run('serve'), /secrets\.json is missing.*restore it from the backup/);
  assert.equal(existsSync(join(data, 'secrets.json')), false);
  writeFileSync(join(data, 'secrets.json'), '{');
  refused(await run('serve'), /secrets\.json cannot be read/);
});

test('refuses a database that does not answer, and a file that is none', async () => {
  const { run } = fresh();
  const withUrl = async (url: string): Promise<Ended> =>
    await run('serve', { env: { GANTRY_DATABASE_URL: url } });
  refused(
    await withUrl('postgres://nobody:secret@127.0.0.1:9/none'),
    /PostgreSQL cannot be used \(.*ECONNREFUSED/,
  );
  const { stderr } = await withUrl('mysql://nobody:secret@127.0.0.1/none');
  assert.match(stderr, /^gantry: GANTRY_DATABASE_URL must be a URL that begins with postgres:\/\/[^\n]*\n$/);
  assert.doesNotMatch(stderr, /secret/);
});

test(
  'refuses a missing database for commands that create none',
  { skip: engine === 'postgres' },
  async () => {
    const { data, run } = fresh();
    for (const line of ['admin user list', 'admin token create --user root']) {
      refused(await run(line), /no database found in .*gantry serve/);
    }
    assert.equal(existsSync(data), false);
  },
);

test('refuses a database with another schema version for commands that do not migrate', async () => {
  const { run, store } = await used();
  await store(async ({ write }) => {
    await write(async ({ db }) => await sql`delete from migrations`.execute(db));
  });
  refused(await run('admin user list'), /lacks the schema of this version: run "gantry migrate"/);
});

test('exits with 2 on invalid settings', async () => {
  const { data, run } = fresh();
  refused(await run('serve --listen nowhere'), /--listen must be HOST:PORT.*"nowhere"/, 2);
  refused(await run('serve --log-level loud'), /--log-level must be one of/, 2);
  const short = { env: { GANTRY_ROOT_PASSWORD: 'hunter2' } };
  const { stderr, code } = await run('serve', short);
  assert.equal(code, 2);
  assert.doesNotMatch(stderr, /hunter2/);
  assert.equal(existsSync(data), false);
});

test('exits with 2 on unknown commands and options, with a suggestion', async () => {
  refused(await gantry('sever'), /unknown command 'sever' \(did you mean serve\?\); see "gantry --help"/, 2);
  refused(
    await gantry('serve --dta x'),
    /unknown option '--dta' \(did you mean --data\?\); see "gantry serve --help"/,
    2,
  );
  refused(await gantry('admin user create'), /missing required argument 'username'|--email/, 2);
  refused(
    await gantry('admin user block'),
    /missing required argument 'username'; see "gantry admin user block --help"/,
    2,
  );
  refused(await gantry('version 2'), /too many arguments/, 2);
  refused(await gantry('config shwo'), /unknown command 'shwo'/, 2);
});

test('refuses a partly configured blob store', async () => {
  const { run } = fresh();
  const endpoint = { GANTRY_BLOB_S3_ENDPOINT: 'https://s3.example.com' };
  refused(await run('serve', { env: endpoint }), /GANTRY_BLOB_S3_BUCKET.* are required/, 2);
  const bucket = { GANTRY_BLOB_S3_BUCKET: 'bytes' };
  refused(await run('serve', { env: bucket }), /GANTRY_BLOB_S3_ENDPOINT is required/, 2);
});
