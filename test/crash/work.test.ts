/** Work of a killed process is resumed by the next process on its folder; work of a live process is not. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, describe, it } from 'node:test';
import { untilEmpty } from './git_operations.ts';
import { type Place, type Running, call, engine, newPlace, startTogether } from './process.ts';

const preload = pathToFileURL(join(import.meta.dirname, '../support/machine/kill_at_effect.ts')).href;

let place: Place;

const ok = async (url: string, line: string, json?: object) => {
  const { status, body } = await call(url, line, json);
  assert.ok(status < 300, `${line}: ${status} ${JSON.stringify(body)}`);
  return body;
};

const commit = async (url: string, project: number, branch: string, more: object = {}): Promise<string> => {
  const actions = [{ action: 'create', file_path: `${branch}-${Date.now()}`, content: branch }];
  const json = { branch, commit_message: branch, actions, ...more };
  return (await ok(url, `POST /projects/${project}/repository/commits`, json)).id;
};

type Request = { path: string; project: number; onto: string };

/** A merge request to be rebased, with no other pending work. */
const makeRequest = async (url: string, name: string): Promise<Request> => {
  const { id: project } = await ok(url, 'POST /projects', { name });
  await commit(url, project, 'main');
  await commit(url, project, 'turn', { start_branch: 'main' });
  const onto = await commit(url, project, 'main');
  await ok(url, `POST /projects/${project}/merge_requests`, {
    source_branch: 'turn',
    target_branch: 'main',
    title: 'Turn',
  });
  await untilEmpty(place, 'work', 'select name, last_error from work where run_at < 9000000000000');
  return { path: `/projects/${project}/merge_requests/1`, project, onto };
};

const rebases = "select attempts, locked_until, locked_by from work where name = 'merge_requests.rebase'";

/** Extends the leases of a process beyond any test's wait, however slow the machine is. */
const held = async () => {
  await place.change('update work set locked_until = locked_until + 3600000 where locked_until is not null');
  return (await place.query(rebases)).filter(({ locked_until }) => locked_until !== null);
};

const checkRebased = async (url: string, { path, project, onto }: Request): Promise<void> => {
  await untilEmpty(place, 'work', rebases);
  const request = await ok(url, `GET ${path}?include_rebase_in_progress=true`);
  assert.deepEqual([request.rebase_in_progress, request.merge_error], [false, null]);
  const { commit: head } = await ok(url, `GET /projects/${project}/repository/branches/turn`);
  assert.deepEqual(head.parent_ids, [onto]);
};

const end = async (one: Running, signal: NodeJS.Signals): Promise<void> => {
  one.signal(signal);
  await one.exit;
};

const usePlace = (): void => {
  before(() => void (place = newPlace()));
  after(async () => await place.remove());
};

describe('work of a killed process', () => {
  usePlace();
  const effects = ['operation.begun', 'refs.moved', 'operation.completed'];
  let requests: Request[];
  before(async () => {
    const first = await place.start();
    requests = [];
    for (const effect of effects) requests.push(await makeRequest(first.url, effect.replace('.', '-')));
    await end(first, 'SIGTERM');
  });

  for (const [index, effect] of effects.entries()) {
    it(`at ${effect} is resumed by the next process without waiting for the lease`, async () => {
      const request = requests[index]!;
      const killed = await place.start({ node: [`--import=${preload}?program=service&effect=${effect}`] });
      await call(killed.url, `PUT ${request.path}/rebase`).catch(() => null);
      assert.equal(await killed.exit, null, 'it was not killed');
      assert.equal((await held()).length, 1);
      const next = await place.start();
      await checkRebased(next.url, request);
      await end(next, 'SIGTERM');
    });
  }
});

describe('work of a live process', { skip: engine !== 'postgres' }, () => {
  usePlace();
  it('stays with it although another process starts', async () => {
    const [first, other] = await startTogether(place, 2);
    await end(other!, 'SIGKILL');
    const request = await makeRequest(first!.url, 'stopped');
    await end(first!, 'SIGTERM');
    const stop = `--import=${preload}?program=service&effect=operation.begun&signal=SIGSTOP`;
    const holder = await place.start({ node: [stop], env: { GANTRY_DATA: `${place.data}-0` } });
    const asking = call(holder.url, `PUT ${request.path}/rebase`);
    const begun = "select id from git_operations where process <> 'dropped'";
    await untilEmpty(place, 'nothing begun', `select 1 as none where not exists (${begun})`);
    await place.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like 'gantry listens%'`,
    );
    const before = await held();
    const next = await place.start({ env: { GANTRY_DATA: `${place.data}-1` } });
    assert.equal(before.length, 1);
    assert.deepEqual(await place.query(rebases), before);
    holder.signal('SIGCONT');
    assert.equal((await asking).status, 202);
    await checkRebased(holder.url, request);
    await end(next, 'SIGTERM');
    await end(holder, 'SIGTERM');
  });
});
