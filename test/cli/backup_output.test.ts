/** What commands of backups print while they work and at their end. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Manifest, formatManifest } from '../../src/app/backup/manifest.ts';
import { type Ended, type Place, engine, newPlace } from './gantry.ts';

const token = 'glpat-output-0123456789';
let place: Place;
let target: Place;
let folder: string;

before(async () => {
  [place, target] = [newPlace(), newPlace()];
  folder = join(dirname(place.data), 'backups');
  const { url, end } = await place.serve('serve', { env: { GANTRY_ROOT_TOKEN: token } });
  const post = async (path: string, body: object | FormData): Promise<void> => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${url}/api/v4${path}`, {
      method: 'POST',
      headers: { 'private-token': token, ...(!isForm && { 'content-type': 'application/json' }) },
      body: isForm ? body : JSON.stringify(body),
    });
    assert.equal(response.status, 201);
  };
  for (const name of ['Bridge', 'Harbour']) await post('/projects', { name, initialize_with_readme: true });
  const form = new FormData();
  form.append('file', new Blob(['planks']), 'planks.txt');
  await post('/projects/1/uploads', form);
  await end('SIGTERM');
});
after(async () => {
  await place.remove();
  await target.remove();
});

const ok = async (line: string, at: Place = place): Promise<Ended> => {
  const ended = await at.run(line);
  assert.equal(ended.code, 0, `${line}: ${ended.stderr}${ended.stdout}`);
  return ended;
};

/** The last line of each part on standard error: `repositories saved: 2 of 2`. */
const lastLines = ({ stderr }: Ended): { [label: string]: string } =>
  Object.fromEntries(
    stderr
      .trim()
      .split('\n')
      .map((line) => /^([a-z, ]+): (\d+ of \d+)$/.exec(line))
      .filter((match) => match !== null)
      .map(([, label = '', count = '']) => [label, count]),
  );

test('create, verify and restore show each part up to its end', async () => {
  const created = await ok(`backup create --to ${folder}`);
  assert.deepEqual(lastLines(created), {
    'database copied': '1 of 1',
    'repositories saved': '2 of 2',
    'files saved': '1 of 1',
  });
  assert.doesNotMatch(created.stdout, / of \d/);
  const verified = lastLines(await ok(`backup verify ${folder}`));
  const restored = await ok(`backup restore ${folder}`, target);
  const parts = { 'database restored': '1 of 1', 'repositories and files restored': '3 of 3' };
  assert.deepEqual(lastLines(restored), parts);
  const database = engine === 'sqlite' ? ', on SQLite' : ' and the PostgreSQL schema cli_\\w+';
  assert.match(
    restored.stdout,
    new RegExp(String.raw`is restored to \S+data${database}\. Start the service`),
  );
  assert.doesNotMatch(restored.stderr, /warning/);
  assert.ok(Object.keys(verified).length > 2);
  for (const [label, count] of Object.entries(verified)) assert.match(count, /^(\d+) of \1$/, label);
});

test('with --json nothing is on standard error', async () => {
  const other = newPlace();
  try {
    for (const [line, at] of [
      [`backup create --to ${folder} --json`, place],
      [`backup verify ${folder} --json`, place],
      [`backup restore ${folder} --json`, other],
    ] as const) {
      const { stdout, stderr } = await ok(line, at);
      assert.equal(stderr, '', line);
      assert.equal(typeof JSON.parse(stdout).name, 'string');
    }
  } finally {
    await other.remove();
  }
});

test(
  'restore warns where a database of PostgreSQL becomes one of SQLite',
  { skip: engine === 'postgres' && 'restores to SQLite' },
  async () => {
    const other = newPlace();
    try {
      const backups = join(folder, 'backups');
      for (const name of readdirSync(backups)) {
        const { manifest } = JSON.parse(readFileSync(join(backups, name), 'utf8')) as { manifest: string };
        const changed: Manifest = { ...(JSON.parse(manifest) as Manifest), engine: 'postgres' };
        writeFileSync(join(backups, name), formatManifest(changed));
      }
      const { stderr } = await ok(`backup restore ${folder}`, other);
      assert.match(
        stderr,
        /^gantry: warning: \S+ is of a PostgreSQL database and is restored to SQLite, because GANTRY_DATABASE_URL is not set$/m,
      );
    } finally {
      await other.remove();
    }
  },
);
