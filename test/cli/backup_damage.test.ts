/** Damaged objects of a place of backups: no damage ends the backups that come later. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { globSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import type { StoredDatabase } from '../../src/app/backup/database_chunks.ts';
import type { ContentLine, Manifest } from '../../src/app/backup/manifest.ts';
import { type Place, newPlace } from './gantry.ts';

const token = 'glpat-damage-01234567890';
const uploaded = 'bytes of the upload';
let place: Place;
let folder: string;

before(async () => {
  place = newPlace();
  folder = join(dirname(place.data), 'backups');
  const service = await place.serve('serve', { env: { GANTRY_ROOT_TOKEN: token } });
  const post = async (path: string, body: string | FormData): Promise<void> => {
    const type = typeof body === 'string' ? { 'content-type': 'application/json' } : undefined;
    const headers = { 'private-token': token, ...type };
    const { status } = await fetch(`${service.url}/api/v4${path}`, { method: 'POST', headers, body });
    assert.equal(status, 201, path);
  };
  await post('/projects', JSON.stringify({ name: 'Kept', initialize_with_readme: true }));
  const form = new FormData();
  form.append('file', new Blob([uploaded]), 'file.txt');
  await post('/projects/1/uploads', form);
  await service.end('SIGTERM');
});
after(async () => await place.remove());

const pathOf = (sha256: string): string => join(folder, 'objects', sha256.slice(0, 2), sha256);
const read = (sha256: string): string => zstdDecompressSync(readFileSync(pathOf(sha256))).toString();

const newestManifest = (): Manifest => {
  const name = globSync('backups/*.json', { cwd: folder }).toSorted().at(-1) ?? '';
  const { manifest } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { manifest: string };
  return JSON.parse(manifest) as Manifest;
};

const newestLines = (): ContentLine[] =>
  read(newestManifest().contents.sha256)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ContentLine);

const newestPack = (): string => {
  const line = newestLines().find(({ kind }) => kind === 'repository');
  assert.ok(line?.kind === 'repository');
  return line.packs[0]?.sha256 ?? '';
};

const newestChunk = (): string => {
  const { tables } = JSON.parse(read(newestManifest().database.sha256)) as StoredDatabase;
  return tables.find(({ name }) => name === 'projects')?.chunks[0]?.sha256 ?? '';
};

/** Changes the last byte of an object. */
const damage = (sha256: string): void => {
  const bytes = readFileSync(pathOf(sha256));
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 0xff;
  writeFileSync(pathOf(sha256), bytes);
};

const create = async (options = '', env: Record<string, string> = {}) => {
  const { code, stdout, stderr } = await place.run(`backup create --json --to ${folder}${options}`, { env });
  const made = code === 0 ? (JSON.parse(stdout) as { name: string; warnings: string[] }) : null;
  return { code, stderr, made };
};

/** Makes a backup, which must succeed and be verified. */
const createWell = async (env: Record<string, string> = {}) => {
  const { code, stderr, made } = await create(' --verify', env);
  assert.equal(code, 0, stderr);
  assert.ok(made !== null);
  return made;
};

for (const [what, find] of [
  ['list of files', () => newestManifest().contents.sha256],
  ['list of the database', () => newestManifest().database.sha256],
] as const)
  test(`a damaged ${what} of the newest backup is not built upon`, async () => {
    await createWell();
    damage(find());
    const { warnings } = await createWell();
    assert.match(
      warnings.join('\n'),
      /the backup \S+ cannot be read \(.*\): the new one does not build on it/,
    );
    assert.deepEqual((await createWell()).warnings, []);
  });

for (const [what, find, label] of [
  ['pack', newestPack, 'a pack of project 1'],
  ['part of the database', newestChunk, 'a part of the database'],
  ['file', () => hash('sha256', uploaded), 'a file of projects/1'],
] as const) {
  test(`a damaged ${what} is named by the verification, and stored again by the next backup`, async () => {
    await createWell();
    const sha256 = find();
    damage(sha256);
    const { code, stderr } = await create(' --verify');
    assert.equal(code, 1);
    assert.ok(stderr.includes(`the object ${sha256} is damaged: use another backup (${label})`), stderr);
    assert.match(stderr, /the next backup stores again what the instance has of it/);
    const before = newestManifest().name;
    await createWell();
    assert.deepEqual(globSync('damaged/*', { cwd: folder }), []);
    // The object of the older backup is whole again, too.
    const again = await place.run(`backup verify ${folder} --backup ${before}`);
    assert.equal(again.code, 0, again.stderr);
  });

  test(`a ${what} that is cut short or missing is stored again at once`, async () => {
    await createWell();
    truncateSync(pathOf(find()), 1);
    await createWell();
    rmSync(pathOf(find()));
    await createWell();
  });
}

test('a kept backup that cannot be read fails no later one, and its removal frees what it held', async () => {
  await createWell();
  const { name } = newestManifest();
  writeFileSync(join(folder, 'backups', `${name}.json`), '{}');
  await createWell();
  const { warnings } = await createWell({ GANTRY_BACKUP_KEEP: '3' });
  assert.match(
    warnings.join('\n'),
    new RegExp(`the backup ${name} cannot be read .* stay until it is removed`),
  );
  const doctor = (await place.run('doctor')).stdout;
  assert.match(doctor, /^ok {4}backup: the last verification was at/m);
  const verified = newestManifest().name;
  const last = await createWell({ GANTRY_BACKUP_KEEP: '1' });
  assert.deepEqual(last.warnings, []);
  // A verified one stays until the next is verified.
  const left = [verified, last.name].map((one) => `backups/${one}.json`);
  assert.deepEqual(globSync('backups/*', { cwd: folder }).toSorted(), left);
  assert.deepEqual(globSync('damaged/*', { cwd: folder }), []);
});
