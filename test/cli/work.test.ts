/** Failed background work is listed, counted and retried: by command, on a page and in metrics. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { openVisitor } from '../support/visitor.ts';
import { type Place, newPlace } from './gantry.ts';

let place: Place | undefined;
afterEach(async () => await place?.remove());

const password = 'correct horse battery';

/** A service with three work items: two failed, one that is retried in an hour. */
const withWork = async () => {
  place = newPlace();
  const running = await place.serve('serve', { env: { GANTRY_ROOT_PASSWORD: password } });
  await running.end('SIGTERM');
  await place.store(async ({ write }) => {
    await write(async ({ db, now }) => {
      const piece = { payload: '{"project_id":0}', created_at: now - 60_000, last_error: 'Error: no' };
      const unlocked = { unique_key: null, turn: null, locked_until: null, locked_by: null };
      const failed = { ...piece, ...unlocked, attempts: 20, run_at: Number.MAX_SAFE_INTEGER };
      await db
        .insertInto('work')
        .values([
          { ...failed, name: 'purge_project' },
          { ...failed, name: 'purge_project' },
          { ...failed, name: 'no_such_kind', run_at: now + 3_600_000 },
        ])
        .execute();
    });
  });
  return place;
};

const states = async ({ run }: Place): Promise<string[]> => {
  const { code, stdout } = await run('admin work list --json');
  assert.equal(code, 0);
  const { items } = JSON.parse(stdout) as { items: { id: number; name: string; state: string }[] };
  return items.map(({ name, state }) => `${name} ${state}`);
};

test('admin work lists and retries', async () => {
  const used = await withWork();
  assert.deepEqual(await states(used), [
    'purge_project failed',
    'purge_project failed',
    'no_such_kind waiting',
  ]);
  const { stdout } = await used.run('admin work list --state failed');
  assert.match(
    stdout,
    /^id +kind +state +attempts +created +payload +last error\n1 +purge_project +failed +20 /,
  );
  assert.doesNotMatch(stdout, /no_such_kind/);
  assert.equal((await used.run('admin work retry')).code, 2);
  assert.match(
    (await used.run('admin work retry 3')).stderr,
    /0 of 1 are retried; the others are not failed/,
  );
  assert.equal((await used.run('admin work retry 1')).code, 0);
  assert.deepEqual((await states(used)).slice(0, 2), ['purge_project waiting', 'purge_project failed']);
  assert.deepEqual(JSON.parse((await used.run('admin work retry --all --json')).stdout), { retried: 1 });
});

test('the page and the metrics show what failed, and a form without scripts retries it', async () => {
  const used = await withWork();
  const running = await used.serve();
  const metrics = async (): Promise<string> => await (await fetch(`${running.url}/-/metrics`)).text();
  const before = await metrics();
  assert.match(before, /^gantry_work_failed\{kind="purge_project",lane="removal"\} 2$/m);
  assert.match(before, /^gantry_work_depth\{kind="no_such_kind",lane="default"\} 1$/m);
  assert.match(before, /^gantry_work_depth\{kind="repository\.refs_moved",lane="git"\} 0$/m);
  assert.match(before, /^gantry_work_oldest_age_seconds\{kind="no_such_kind",lane="default"\} (?!0$)/m);
  const root = openVisitor(running);
  await root.signIn('root', password);
  const { status, text } = await root.get('/admin/background_work?state=failed');
  assert.equal(status, 200);
  assert.match(text, /#1 purge_project[^]*#2 purge_project/);
  assert.doesNotMatch(text, /#3/);
  const ofKind = await root.get('/admin/background_work?kind=no_such_kind');
  assert.match(ofKind.text, /#3 no_such_kind/);
  assert.doesNotMatch(ofKind.text, /#1 purge_project/);
  assert.match(ofKind.text, /background_work\?state=failed&amp;kind=no_such_kind/);
  assert.equal((await root.post('/admin/background_work/1/retry')).status, 303);
  assert.match((await root.get('/admin/background_work')).text, /Retrying 1 failed task\./);
  assert.equal((await root.post('/admin/background_work/retry')).status, 303);
  assert.match(await metrics(), /^gantry_work_failed\{kind="purge_project",lane="removal"\} 0$/m);
});
