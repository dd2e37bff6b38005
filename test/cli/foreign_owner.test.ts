/** Commands that root runs on the data folder of another user, as a shell of root does beside the unit of systemd. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { freePort } from '../support/servers/free_port.ts';
import { type Place, newPlace, newUsedPlace } from './gantry.ts';

const [uid, gid] = [12_345, 12_346];
const isRoot = process.getuid?.() === 0;

let place: Place | undefined;
afterEach(async () => await place?.remove());

/** A used data folder of another user, in a folder that this user may enter. */
const newForeignPlace = async (): Promise<Place> => {
  place = await newUsedPlace();
  execFileSync('chown', ['-R', `${uid}:${gid}`, place.data]);
  chmodSync(dirname(place.data), 0o755);
  return place;
};

describe('root on a data folder of another user', { skip: !isRoot }, () => {
  test('backups, restores and the service are refused with the command that works', async () => {
    const { data, run } = await newForeignPlace();
    const entries = readdirSync(data);
    const to = join(dirname(data), 'backups');
    for (const line of [
      `backup create --to ${to}`,
      `backup verify ${to}`,
      'admin user list',
      'migrate --dry-run',
      'serve --no-runner',
    ]) {
      const { code, stderr } = await run(line);
      assert.equal(code, 2, line);
      const command = `setpriv --reuid=${uid} --regid=${gid} --clear-groups gantry ${line}`;
      assert.equal(stderr.trimEnd().split('run: ')[1], command);
      assert.equal(stderr.trimEnd().split('\n').length, 1);
    }
    assert.deepEqual(readdirSync(data), entries);
    assert.equal(existsSync(to), false);
  });

  test('that command makes a backup, which leaves nothing of root', async () => {
    const { data, run, env } = await newForeignPlace();
    const to = join(dirname(data), 'backups');
    mkdirSync(to);
    chownSync(to, uid, gid);
    const { stderr } = await run(`backup create --to ${to}`);
    const [, command = ''] = stderr.trimEnd().split('run: ');
    const words = command.replace(' gantry ', ` ${process.execPath} bin/gantry `).split(' ');
    const output = execFileSync(words[0] ?? '', words.slice(1), {
      encoding: 'utf8',
      env: { ...env, PATH: process.env['PATH'] ?? '' },
    });
    assert.match(output, /added to/);
    const owners = readdirSync(data).map((name) => statSync(join(data, name)).uid);
    assert.deepEqual([...new Set(owners)], [uid]);
  });

  test('a restore into an empty folder of another user is refused', async () => {
    place = newPlace();
    mkdirSync(place.data);
    chownSync(place.data, uid, gid);
    const { code, stderr } = await place.run('backup restore /srv/none');
    assert.equal(code, 2);
    assert.match(stderr, /belongs to user id 12345, .*: setpriv .* gantry backup restore \/srv\/none$/m);
    assert.deepEqual(readdirSync(place.data), []);
  });

  test('the first start takes an empty folder of another user, as in a container; so does the next', async () => {
    place = newPlace();
    mkdirSync(place.data);
    chownSync(place.data, uid, gid);
    for (const start of [1, 2]) {
      const { code } = await (await place.serve()).end('SIGTERM');
      assert.equal(code, 0, `start ${start}`);
    }
    const { stdout } = await place.run('doctor');
    assert.match(stdout, /^ok {4}owner: user id 0$/m);
  });

  test('a gitd of root takes an empty folder of another user, and starts again', async () => {
    place = newPlace();
    place.env['GANTRY_GITD_SECRET'] = 's'.repeat(32);
    mkdirSync(place.data);
    chownSync(place.data, uid, gid);
    for (const start of [1, 2]) {
      const gitd = await place.serve(`gitd --listen 127.0.0.1:${await freePort()} --root ${place.data}`);
      assert.equal((await gitd.end('SIGTERM')).code, 0, `start ${start}`);
    }
  });

  test('doctor says who the owner is, and finds what root left', async () => {
    const { data, run } = await newForeignPlace();
    const refused = await run('doctor');
    assert.equal(refused.code, 1);
    assert.match(
      refused.stdout,
      /^fail {2}owner: .* belongs to user id 12345, and this process runs as 0\n {6}in a container, .* --user 12345:12346 .*, run: setpriv --reuid=12345/m,
    );
    const { status, stdout: other } = spawnSync(
      'setpriv',
      ['--reuid=12399', '--clear-groups', process.execPath, 'bin/gantry', 'doctor', '--data', data],
      { encoding: 'utf8' },
    );
    assert.equal(status, 1);
    assert.match(
      other,
      /^fail {2}owner: .* belongs to user id 12345, and this process runs as 12399\n {6}run gantry as its owner/m,
    );
    mkdirSync(join(data, 'lost+found'));
    assert.match((await run('doctor')).stdout, /^fail {2}owner: .* this process runs as 0$/m);
    mkdirSync(join(data, 'backup_work_scratch'));
    const { stdout } = await run('doctor');
    assert.match(
      stdout,
      /^fail {2}owner: \S+backup_work_scratch does not belong .*\n {6}run: chown -R 12345:12346 \S+data$/m,
    );
  });
});
