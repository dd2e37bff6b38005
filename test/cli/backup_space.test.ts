/** Where backups copy things for a time, how much space they ask for first, and when they are verified. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
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
      assert.match(
        stderr,
        / in \S+\/small\/\S+, but only \S+ KiB is available: free some space, or set GANTRY_BACKUP_SCRATCH to a folder/,
      );
    }
    assert.deepEqual(readdirSync(join(scratch, 'backup_work_scratch')), []);
  } finally {
    disk.remove();
  }
});

test('a place without room for the first backup is refused before the first byte', async (t) => {
  const to = join(home, 'full');
  mkdirSync(to);
  const disk = newSmallDisk(to, 1);
  if (typeof disk === 'string') return t.skip(disk);
  try {
    const { code, stderr } = await place.run(`backup create --to ${join(to, 'backups')}`);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /the backup needs about \d\S* \S+ in \S+\/full, but only .* is available: free some space, or choose a place/,
    );
    assert.deepEqual(readdirSync(to), []);
  } finally {
    disk.remove();
  }
});

test('the doctor warns of a place on the disk of the data folder', async (t) => {
  const line = async (to: string): Promise<string> => {
    const { stdout } = await place.run('doctor', { env: { GANTRY_BACKUP_TO: to } });
    return stdout.split('\n').find((text) => text.includes('backup place: ')) ?? '';
  };
  assert.match(
    await line(join(folder, 'not/yet')),
    /^warn {2}backup place: \S+ is on the same disk as the data folder/,
  );
  assert.equal(await line('s3://backups/gantry'), '');
  const other = join(home, 'other');
  mkdirSync(other);
  const disk = newSmallDisk(other, 1);
  if (typeof disk === 'string') return t.skip(disk);
  try {
    assert.match(await line(join(other, 'backups')), /^ok {4}backup place: \S+, on a different disk from/);
  } finally {
    disk.remove();
  }
});

test('a list says how large backups are, which were verified, and which cannot be read', async () => {
  const to = join(home, 'listed');
  await ok(`backup create --to ${to}`);
  await ok(`backup create --to ${to} --verify`);
  const [first, second] = readdirSync(join(to, 'backups')).toSorted();
  writeFileSync(join(to, 'backups', '20200101T000000Z-00000000.json'), '{}');
  const text = await ok(`backup list ${to}`);
  assert.match(text, /^\S+ .* \S+ [KM]iB {2}with secrets {2}not verified$/m);
  assert.match(text, /^\S+ .* \S+ [KM]iB {2}with secrets {2}verified \d{4}-\S+$/m);
  assert.match(text, /^warning: the backup 20200101T000000Z-00000000 cannot be read/m);
  type Row = { name: string; size?: number; verified_at?: string | null; error?: string };
  const [damaged, one, other] = JSON.parse(await ok(`backup list ${to} --json`)) as Row[];
  assert.match(damaged?.error ?? '', /cannot be read/);
  assert.deepEqual([one?.name, one?.verified_at], [first?.slice(0, -5), null]);
  assert.equal(other?.name, second?.slice(0, -5));
  assert.match(other?.verified_at ?? '', /^\d{4}-/);
  assert.ok((other?.size ?? 0) > 100_000);
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
