/** Where backups copy things for a time, how much space they ask for first, and when they are verified. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { newSmallDisk } from '../support/machine/small_disk.ts';
import { type Place, newPlace, newUsedPlace } from './gantry.ts';

let place: Place;
let home: string;
let folder: string;
before(async () => {
  place = await newUsedPlace();
  home = dirname(place.data);
  folder = join(home, 'backups');
});
after(async () => await place.remove());

const ok = async (line: string, env: Record<string, string> = {}): Promise<string> => {
  const { code, stdout, stderr } = await place.run(line, { env });
  assert.equal(code, 0, `${line}: ${stderr}`);
  return stdout;
};

test('copies go to GANTRY_BACKUP_SCRATCH, and nothing of them stays', async () => {
  const scratch = join(home, 'scratch');
  await ok(`backup create --to ${folder} --verify`, { GANTRY_BACKUP_SCRATCH: scratch });
  await ok(`backup create --to ${join(home, 'one.tar.zst')} --verify`, { GANTRY_BACKUP_SCRATCH: scratch });
  assert.deepEqual(readdirSync(scratch), ['backup_work_scratch']);
  assert.deepEqual(readdirSync(join(scratch, 'backup_work_scratch')), []);
  assert.equal(existsSync(join(place.data, 'backup_work_scratch')), false);
});

test('a scratch folder without room for them is refused before the first byte', async (t) => {
  const scratch = join(home, 'small');
  mkdirSync(scratch);
  const disk = newSmallDisk(scratch, 1);
  if (typeof disk === 'string') return t.skip(disk);
  try {
    const env = { GANTRY_BACKUP_SCRATCH: scratch };
    const refusals = {
      [`backup create --to ${folder}`]: /the copy of the database needs about \d/,
      [`backup create --to ${join(home, 'two.tar.zst')}`]: /the backup before it is packed needs about \d/,
      [`backup verify ${folder}`]: /verifying \S+ needs about \d/,
    };
    for (const [line, expected] of Object.entries(refusals)) {
      const { code, stderr } = await place.run(line, { env });
      assert.equal(code, 1, line);
      assert.match(stderr, expected);
      assert.match(stderr, / in \S+\/small\/\S+, where \S+ KiB may be used: make room, or name a folder/);
    }
    assert.deepEqual(readdirSync(join(scratch, 'backup_work_scratch')), []);
  } finally {
    disk.remove();
  }
});

test('a scratch folder that cannot be used is named', async () => {
  const env = { GANTRY_BACKUP_SCRATCH: join(folder, 'gantry-instance') };
  const { code, stderr } = await place.run(`backup create --to ${folder}`, { env });
  assert.equal(code, 1);
  assert.match(stderr, /GANTRY_BACKUP_SCRATCH: \S.*gantry-instance\/backup_work_scratch cannot be used/);
});

test('a backup is verified always, weekly or never', async () => {
  const own = newPlace();
  try {
    await (await own.serve()).end('SIGTERM');
    const to = join(dirname(own.data), 'backups');
    const verified = async (options: string): Promise<unknown> => {
      const { code, stdout, stderr } = await own.run(`backup create --json --to ${to}${options}`);
      assert.equal(code, 0, stderr);
      return (JSON.parse(stdout) as { verified: boolean }).verified;
    };
    const age = async (days: number): Promise<void> =>
      await own.store(
        async ({ write }) =>
          void (await write(
            async ({ db, now }) =>
              await db
                .updateTable('backups')
                .set({ verified_at: now - days * 86_400_000 })
                .where('verified_at', 'is not', null)
                .execute(),
          )),
      );
    assert.equal(await verified(''), false);
    assert.equal(await verified(' --verify never'), false);
    assert.equal(await verified(' --verify weekly'), true);
    assert.equal(await verified(' --verify weekly'), false);
    await age(7);
    assert.equal(await verified(' --verify weekly'), true);
    const wrong = await own.run(`backup create --to ${to} --verify sometimes`);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /--verify takes always, weekly, never/);
  } finally {
    await own.remove();
  }
});
