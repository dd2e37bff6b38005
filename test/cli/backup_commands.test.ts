/** The commands of docs/backup.md, as they stand but for their places, beside a service that runs. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { type TestS3, startS3 } from '../support/servers/s3.ts';
import { newPlace, type Place, type Running } from './gantry.ts';

const token = 'glpat-documented-0123456789';
const text = readFileSync(join(import.meta.dirname, '../../docs/backup.md'), 'utf8');
const lines = [...text.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, code = '']) => code.trim().split('\n'));

let s3: TestS3;
let place: Place;
let service: Running;
const copies: Place[] = [];
before(async () => {
  s3 = await startS3();
  place = newPlace();
  Object.assign(place.env, {
    GANTRY_BACKUP_S3_ENDPOINT: s3.place.endpoint,
    GANTRY_BACKUP_S3_REGION: s3.place.region,
    GANTRY_BACKUP_S3_ACCESS_KEY: s3.place.access_key,
    GANTRY_BACKUP_S3_SECRET_KEY: s3.place.secret_key,
  });
  service = await place.serve('serve', { env: { GANTRY_ROOT_TOKEN: token } });
  const post = async (path: string, body: object) => {
    const headers = { 'private-token': token, 'content-type': 'application/json' };
    const made = await fetch(`${service.url}/api/v4${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    assert.equal(made.status, 201);
    return (await made.json()) as { id: number };
  };
  const { id } = await post('/groups', { name: 'team', path: 'team' });
  await post('/projects', { path: 'site', namespace_id: id, initialize_with_readme: true });
});
after(async () => {
  await service.end('SIGKILL');
  for (const one of [...copies, place]) await one.remove();
  await s3.close();
});

const newest = async (): Promise<string> => {
  const { stdout } = await place.run(`backup list ${join(dirname(place.data), 'backups')} --json`);
  return (JSON.parse(stdout) as { name: string }[]).at(-1)?.name ?? '';
};

/** Puts the places of the test in place of those of the document. */
const adapt = async (line: string): Promise<string> => {
  const home = dirname(place.data);
  const named = /--backup /.test(line) ? await newest() : '';
  return line
    .replace(/^gantry /, '')
    .replaceAll('/srv/backups', join(home, 'backups'))
    .replaceAll('gantry.tar.zst', join(home, 'gantry.tar.zst'))
    .replaceAll('s3://backups/gantry', `s3://${s3.place.bucket}/gantry`)
    .replace(/ --data \/\S+/, '')
    .replace(/--backup \S+/, `--backup ${named}`);
};

test('its commands work in their order', async () => {
  const commands = lines.filter((line) => line.startsWith('gantry '));
  assert.ok(commands.length >= 9);
  const deleted = async (path: string): Promise<void> => {
    await fetch(`${service.url}/api/v4/projects/${encodeURIComponent(path)}`, {
      method: 'DELETE',
      headers: { 'private-token': token },
    });
  };
  for (const line of commands) {
    let { run } = place;
    if (line.includes(' --data ')) {
      // A restore needs an empty instance; other commands are about the last one.
      if (line.includes(' restore ')) copies.push(newPlace());
      ({ run } = copies.at(-1) ?? place);
    }
    // The original is gone, as where somebody restores it.
    if (line.endsWith('--project team/site')) await deleted('team/site');
    const { code, stderr, stdout } = await run(await adapt(line));
    assert.equal(code, 0, `${line}: ${stderr}${stdout}`);
  }
});

test('its settings are accepted', async () => {
  const settings = lines.filter((line) => line.startsWith('GANTRY_'));
  assert.ok(settings.length >= 3);
  const env = Object.fromEntries(
    settings.map((line) => {
      const [, name = '', value = ''] = /^(\w+)="?([^"]*)"?$/.exec(line) ?? [];
      return [name, value];
    }),
  );
  const { code, stdout, stderr } = await place.run('config show', { env });
  assert.equal(code, 0, stderr);
  for (const value of Object.values(env)) assert.ok(stdout.includes(value), value);
});

test('a backup with secrets of another instance is refused', async () => {
  const home = dirname(place.data);
  const file = join(home, 'other-secrets.json');
  const newKey = (): string => randomBytes(32).toString('hex');
  writeFileSync(file, JSON.stringify({ session_key: newKey(), encryption_key: newKey() }));
  const env = { GANTRY_SECRETS_FILE: file };
  const command = `backup create --to ${join(home, 'other-backups')}`;
  const { code, stderr } = await place.run(command, { env });
  assert.equal(code, 1);
  assert.match(stderr, /other-secrets\.json does not belong to this database .*copy the file from where/);
  const listed = await place.run(`backup list ${join(home, 'other-backups')} --json`);
  assert.doesNotMatch(listed.stdout, /"name"/);
  const without = await place.run(`${command} --without-secrets`, { env });
  assert.equal(without.code, 0, without.stderr);
});
