/** The commands that the documents give for a service of systemd, run by root with `gantry-run`. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Place, engine, newUsedPlace } from './gantry.ts';
import { type Machine, blockOf, gid, makeMachine, uid } from './systemd_machine.ts';

let machine: Machine;
let place: Place;

const install = async (): Promise<void> => {
  machine = makeMachine();
  place = await newUsedPlace();
  const { GANTRY_DATA: _data, ...settings } = place.env;
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  mkdirSync(machine.onMachine('/etc/gantry'));
  writeFileSync(machine.onMachine('/etc/gantry/gantry.env'), lines.join(''), { mode: 0o600 });
  const data = machine.onMachine('/var/lib/gantry');
  execFileSync('cp', ['-a', place.data, data]);
  execFileSync('chown', ['-R', `${uid}:${gid}`, data]);
};

const reasonToSkip =
  (process.getuid?.() !== 0 && 'needs root') || (engine === 'postgres' && 'moves the file of SQLite aside');

describe('commands with the user and the settings of the unit', { skip: reasonToSkip }, () => {
  before(install);
  after(async () => {
    await place.remove();
    machine.remove();
  });

  test('administration: gantry-run is installed, lists users, and checks the machine', async () => {
    const output = await machine.run(blockOf('administration.md', 'gantry-run'));
    assert.match(output, /root[^]*^ok {4}owner: user id 12345$/m);
  });

  test('backup: one is made and verified', async () => {
    await machine.run(blockOf('backup.md', 'install -d -o gantry -g gantry -m 0700 /srv/backups'));
    assert.match(await machine.run(blockOf('backup.md', 'gantry-run backup create')), /added to/);
  });

  test('backup: it is restored to the place of the old data', async () => {
    const output = await machine.run(blockOf('backup.md', 'systemctl stop gantry'));
    assert.match(output, /is restored to \S+var\/lib\/gantry, on SQLite[^]*^ok {4}owner: user id 12345$/m);
    const data = machine.onMachine('/var/lib/gantry');
    assert.ok(existsSync(`${data}.old/secrets.json`));
    const owners = readdirSync(data).map((name) => statSync(join(data, name)).uid);
    assert.deepEqual([...new Set(owners)], [uid]);
    assert.equal(readFileSync(join(machine.home, 'systemctl.log'), 'utf8'), 'stop gantry\nstart gantry\n');
  });
});
