/**
 * Makes backups under load and kills some of them in the middle. Restored, each has every write that was acknowledged
 * before it began, its refs are those that its database knows, and git finds no damage.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { times } from '../support/run/sample.ts';
import { runCommand, startCommand } from './backup_command.ts';
import {
  type Acknowledged,
  type BackupLoad,
  checkBytes,
  checkCopy,
  checkLoad,
  startBackupLoad,
} from './backup_load.ts';
import { untilEmpty } from './git_operations.ts';
import { findFaults } from './invariants.ts';
import { type Place, type Running, call, engine, newPlace } from './process.ts';

const rounds = times(20, 2);
/** Milliseconds of writes before each backup. */
const writesBefore = 500;

let place: Place;
let running: Running;
let folder: string;
let load: BackupLoad | undefined;

const getLoad = (): BackupLoad => {
  assert.ok(load !== undefined);
  return load;
};

const countObjects = (): number => globSync('objects/*/*', { cwd: folder }).length;
const countBackups = (): number => globSync('backups/*.json', { cwd: folder }).length;

/** Kills a backup once it has added something. */
const killBackup = async (): Promise<void> => {
  const [objects, backups] = [countObjects(), countBackups()];
  const child = startCommand(`backup create --to ${folder}`, place.env);
  const ended = once(child, 'exit');
  while (child.exitCode === null && countObjects() === objects) await wait(5);
  await wait(Math.random() * 50);
  child.kill('SIGKILL');
  await ended;
  if (child.signalCode === 'SIGKILL') assert.equal(countBackups(), backups, 'a killed backup counts');
};

/** Kills a restore once it has begun to write. */
const killRestore = async ({ data, env }: Place): Promise<void> => {
  const child = startCommand(`backup restore ${folder}`, env);
  const ended = once(child, 'exit');
  while (child.exitCode === null && !existsSync(join(data, 'restoring'))) await wait(5);
  await wait(Math.random() * 300);
  child.kill('SIGKILL');
  await ended;
};

/** Restores the newest backup, compares it, and serves it. */
const checkRestored = async (acknowledged: Acknowledged, isInterrupted: boolean): Promise<void> => {
  const copy = newPlace();
  try {
    if (isInterrupted) await killRestore(copy);
    const isLeft = !isInterrupted || existsSync(join(copy.data, 'restoring'));
    if (isLeft) await runCommand(`backup restore ${folder}`, copy.env);
    await checkCopy(copy, getLoad().project, acknowledged);
    const service = await copy.start();
    await checkBytes(service.url, getLoad(), acknowledged);
    await untilEmpty(copy, 'an operation', "select * from git_operations where process <> 'dropped'");
    assert.deepEqual(await findFaults(copy, engine), []);
    service.signal('SIGKILL');
    await service.exit;
  } finally {
    await copy.remove();
  }
};

before(async () => {
  place = newPlace();
  folder = `${place.data}-backups`;
  running = await place.start();
  assert.equal((await call(running.url, 'POST /projects', { name: 'load' })).status, 201);
  load = await startBackupLoad(running.url, 'root/load');
});

after(async () => {
  await load?.end();
  running.signal('SIGKILL');
  await running.exit;
  await place.remove();
});

/** Lets the writers write while a backup is made. Returns what was acknowledged before it began. */
const backUpUnderLoad = async (isKilledBefore: boolean): Promise<Acknowledged> => {
  const { resume, pause, acknowledged } = getLoad();
  resume();
  await wait(writesBefore);
  if (isKilledBefore) await killBackup();
  const before = acknowledged();
  await runCommand(`backup create --to ${folder}`, place.env);
  pause();
  return before;
};

describe('a backup under load', () => {
  for (let round = 1; round <= rounds; round += 1)
    test(`is whole in round ${round}`, async () => {
      await checkRestored(await backUpUnderLoad(round % 2 === 0), round % 2 === 1);
    });

  test('the backups ran during writes of each kind', () => checkLoad(getLoad()));
});
