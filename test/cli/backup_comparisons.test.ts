/** `gantry backup verify` compares what a restore brings: rows, refs and git objects that are whole, but wrong. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import {
  type ContentLine,
  type Manifest,
  type RepositoryLine,
  type StoredObject,
  formatManifest,
} from '../../src/app/backup/manifest.ts';
import { type Place, newPlace } from './gantry.ts';

const token = 'glpat-compare-0123456789';
let place: Place;
let home: string;

before(async () => {
  place = newPlace();
  home = dirname(place.data);
  const service = await place.serve('serve', { env: { GANTRY_ROOT_TOKEN: token } });
  const { status } = await fetch(`${service.url}/api/v4/projects`, {
    method: 'POST',
    headers: { 'private-token': token, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Kept', initialize_with_readme: true }),
  });
  assert.equal(status, 201);
  await service.end('SIGTERM');
  const { code, stderr } = await place.run(`backup create --to ${join(home, 'backups')}`);
  assert.equal(code, 0, stderr);
});
after(async () => await place.remove());

const pathOf = (folder: string, sha256: string): string =>
  join(folder, 'objects', sha256.slice(0, 2), sha256);

const read = (folder: string, { sha256 }: StoredObject): Buffer => readFileSync(pathOf(folder, sha256));

const add = (folder: string, bytes: Buffer): StoredObject => {
  const sha256 = hash('sha256', bytes);
  mkdirSync(dirname(pathOf(folder, sha256)), { recursive: true });
  writeFileSync(pathOf(folder, sha256), bytes);
  return { sha256, size: bytes.length };
};

/** Copies the backup, changes its manifest, and verifies it. */
const verifyChanged = async (
  name: string,
  change: (manifest: Manifest, folder: string) => Manifest,
): Promise<{ code: number | null; stderr: string }> => {
  const folder = join(home, name);
  cpSync(join(home, 'backups'), folder, { recursive: true });
  const file = join(folder, globSync('backups/*.json', { cwd: folder })[0] ?? '');
  const { manifest } = JSON.parse(readFileSync(file, 'utf8')) as { manifest: string };
  writeFileSync(file, formatManifest(change(JSON.parse(manifest) as Manifest, folder)));
  return await place.run(`backup verify ${folder}`);
};

/** Changes the line of the repository. */
const withRepository =
  (change: (line: RepositoryLine, folder: string) => RepositoryLine) =>
  (manifest: Manifest, folder: string): Manifest => {
    const lines = zstdDecompressSync(read(folder, manifest.contents)).toString().split('\n').filter(Boolean);
    const changed = lines
      .map((text) => JSON.parse(text) as ContentLine)
      .map((line) => (line.kind === 'repository' ? change(line, folder) : line));
    const text = changed.map((line) => `${JSON.stringify(line)}\n`).join('');
    return { ...manifest, contents: add(folder, zstdCompressSync(text)) };
  };

test('accepts the unchanged backup, whatever the external address and the addresses of monitors', async () => {
  // Nothing answers there: the restored service is asked at its own address.
  const env = { GANTRY_EXTERNAL_URL: 'http://127.0.0.1:1', GANTRY_MONITORING_ALLOW: '10.0.0.1' };
  const { code, stderr } = await place.run(`backup verify ${join(home, 'backups')}`, { env });
  assert.equal(code, 0, stderr);
});

test('finds a table with another number of rows', async () => {
  const { code, stderr } = await verifyChanged('rows', (manifest) => ({
    ...manifest,
    tables: { ...manifest.tables, projects: 2 },
  }));
  assert.equal(code, 1);
  assert.match(stderr, /the table projects has 1 rows in place of 2/);
});

test('finds refs that differ from those of the backup', async () => {
  const twice = withRepository((line, folder) => {
    const refs = read(folder, line.refs);
    return { ...line, refs: add(folder, Buffer.concat([refs, refs])) };
  });
  const { code, stderr } = await verifyChanged('refs', twice);
  assert.equal(code, 1);
  assert.match(stderr, /the refs of project 1 differ/);
});

test('finds a repository of which git says that it is damaged', async () => {
  // A restore refuses packs that are not whole: what git finds later is a disk that loses bytes.
  const bin = join(home, 'bin');
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const answer = 'case " $* " in *" fsck "*) echo "missing blob 8ecc772c"; exit 2 ;; esac';
  mkdirSync(bin);
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n${answer}\nexec ${git} "$@"\n`, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  const { code, stderr } = await place.run(`backup verify ${join(home, 'backups')}`, { env });
  assert.equal(code, 1);
  assert.match(stderr, /git fsck of project 1: missing blob 8ecc772c/);
});
