/** `gantry migrate --to` moves all rows between the engines. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openReader } from '../../src/app/backup/open_tables.ts';
import { readConfig } from '../../src/platform/config/read_config.ts';
import { newPostgresDatabase } from '../support/databases/copy_template.ts';
import { engine, newPlace, newUsedPlace, type Place, type Running } from './gantry.ts';

const token = 'glpat-moving-0123456789';
const onSqlite = { GANTRY_DATABASE_URL: '' };
const schema = `moved_${randomBytes(8).toString('hex')}`;
const onOtherSchema = { GANTRY_DATABASE_SCHEMA: schema };

// oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
const api = async ({ url }: Running, line: string, json?: object): Promise<any> => {
  const [method = '', path = ''] = line.split(' ');
  const response = await fetch(`${url}/api/v4${path}`, {
    method,
    headers: { 'private-token': token, 'content-type': 'application/json' },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${line}: ${response.status} ${text}`);
  return text === '' ? null : JSON.parse(text);
};

/** All rows of all tables as text, sorted, without the flag that depends on the engine. */
const dump = async ({ env }: Place, more: Record<string, string>): Promise<string[]> => {
  const reader = await openReader(readConfig({}, { ...env, ...more }).config);
  const lines: string[] = [];
  for (const table of await reader.tables()) {
    const columns = table.columns.filter((column) => column !== 'indexed').toSorted();
    for await (const rows of reader.rows({ ...table, columns }))
      for (const row of rows)
        lines.push(
          `${table.name} ${JSON.stringify(row.map((one) => (one instanceof Uint8Array ? [...one] : one)))}`,
        );
  }
  for (const { table, last } of await reader.sequences()) lines.push(`last of ${table}: ${last}`);
  await reader.close();
  return lines.toSorted();
};

test('from PostgreSQL to SQLite and back to another schema', { skip: engine !== 'postgres' }, async () => {
  // Services of other tests use the first database of the server.
  const database = await newPostgresDatabase();
  const place = newPlace();
  place.env['GANTRY_DATABASE_URL'] = database.url;
  try {
    const service = await place.serve('serve', { env: { GANTRY_ROOT_TOKEN: token } });
    const project = await api(service, 'POST /projects', { name: 'Moved' });
    const issues = `/projects/${project.id}/issues`;
    await api(service, `POST ${issues}`, { title: 'Stays, with ünïcode and 🦊', labels: 'one,two' });
    const last = await api(service, `POST ${issues}`, { title: 'Goes' });
    await api(service, `DELETE ${issues}/${last.iid}`);
    const used = await place.run('migrate --to sqlite', { env: { GANTRY_DATA: `${place.data}-other` } });
    assert.match(used.stderr, /a service uses the database/);
    await service.end('SIGTERM');

    const { code, stdout, stderr } = await place.run('migrate --to sqlite');
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^rows copied: (\d+) of \1$/m);
    assert.match(
      stdout,
      /^Copied and compared \d+ rows of \d+ tables\. Start the service without GANTRY_DATABASE_URL/,
    );
    const before = (await dump(place, {})).filter((line) => !line.includes('"moved_to"'));
    assert.ok(before.some((line) => line.includes('ünïcode and 🦊')));
    assert.deepEqual(await dump(place, onSqlite), before);

    for (const line of ['serve', 'migrate', 'backup create --to unused']) {
      const old = await place.run(line);
      assert.equal(old.code, 1, line);
      assert.match(
        old.stderr,
        /this database was moved to \S+gantry\.sqlite, .* run "gantry migrate --undo-move"/,
      );
    }

    const url = place.env['GANTRY_DATABASE_URL'];
    const inUse = await place.run(`migrate --to ${url}`, { env: onSqlite });
    assert.equal(inUse.code, 1);
    assert.match(inUse.stderr, /the schema \S+ is in use: name an empty database/);
    const file = join(place.data, 'gantry.sqlite');
    const command = new DatabaseSync(file);
    command.prepare('select count(*) from users').get();
    const opened = await place.run(`migrate --to ${url} --to-schema ${schema}`, { env: onSqlite });
    command.close();
    assert.match(opened.stderr, /a command uses the database/);
    const back = await place.run(`migrate --json --to ${url} --to-schema ${schema}`, { env: onSqlite });
    assert.equal(back.code, 0, back.stderr);
    assert.equal(JSON.parse(back.stdout).tables.issues, 2);
    assert.deepEqual(await dump(place, onOtherSchema), before);
    assert.ok(existsSync(`${file}.moved`));
    assert.ok(!existsSync(file));

    const moved = await place.serve('serve', { env: onOtherSchema });
    const next = await api(moved, `POST ${issues}`, { title: 'Next' });
    assert.deepEqual([next.id, next.iid], [last.id + 1, last.iid + 1]);
    const { statistics } = await api(moved, `GET ${issues}_statistics`);
    assert.deepEqual(statistics.counts, { all: 2, closed: 0, opened: 2 });
    await moved.end('SIGTERM');

    const undone = await place.run('migrate --undo-move');
    assert.equal(undone.stdout, 'The database is used again.\n', undone.stderr);
    await (await place.serve()).end('SIGTERM');
    const undoneFile = await place.run('migrate --undo-move', { env: onSqlite });
    assert.equal(undoneFile.stdout, 'The database is used again.\n', undoneFile.stderr);
    assert.deepEqual([existsSync(file), existsSync(`${file}.moved`)], [true, false]);
    await (await place.serve('serve', { env: onSqlite })).end('SIGTERM');
  } finally {
    await place.remove();
    await database.drop();
  }
});

test('a move that fails leaves the database in use', { skip: engine !== 'postgres' }, async () => {
  const database = await newPostgresDatabase();
  const place = newPlace();
  place.env['GANTRY_DATABASE_URL'] = database.url;
  try {
    await (await place.serve()).end('SIGTERM');
    writeFileSync(join(place.data, 'gantry.sqlite'), '');
    const { code, stderr } = await place.run('migrate --to sqlite');
    assert.equal(code, 1);
    assert.match(stderr, /gantry\.sqlite exists: name an empty folder/);
    await (await place.serve()).end('SIGTERM');
  } finally {
    await place.remove();
    await database.drop();
  }
});

test('migrate works beside a service on PostgreSQL, not on SQLite', async () => {
  const place = newPlace();
  try {
    await place.serve();
    const { code, stdout, stderr } = await place.run('migrate');
    if (engine === 'postgres') assert.deepEqual([code, stdout], [0, 'The database is up to date.\n'], stderr);
    else assert.match(stderr, /another Gantry runs on /);
  } finally {
    await place.remove();
  }
});

test('refuses the same database, and a URL that names none', async () => {
  const place = await newUsedPlace();
  try {
    const to = engine === 'sqlite' ? 'sqlite' : place.env['GANTRY_DATABASE_URL'];
    const same = await place.run(`migrate --to ${to}`);
    assert.equal(same.code, 1);
    assert.match(same.stderr, /the database is there already/);
    const wrong = await place.run('migrate --to mysql://localhost/x');
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /--to or --to-schema must be a URL that begins with postgres:/);
  } finally {
    await place.remove();
  }
});
