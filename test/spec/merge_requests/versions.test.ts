/** API document: commits, changes, diff versions; behaviour book 3.4, 3.5, 3.15, 3.16. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { type CodeWorld, type MergeRequest, startCodeWorld } from '../code_world.ts';
import { type Team, answer } from '../world.ts';

let world: CodeWorld;
let team: Team;
let request: MergeRequest;
let first: string;
let second: string;

before(async () => {
  world = await startCodeWorld();
  team = await world.codeTeam();
  const branch = 'feature/one';
  first = await seedCommit(
    world.gantry,
    team.id,
    { a: 'a\n' },
    { from: 'main', branch, message: 'Add a\n\nFor b.\n' },
  );
  request = await world.open(team.id, { source_branch: branch });
  second = await seedCommit(world.gantry, team.id, { b: 'b\n' }, { branch });
  await world.gantry.service.worker.drain();
});
after(async () => await world.close());

const missing = [404, { message: '404 Not found' }];
const notInteger = [400, { message: { version_id: ['is invalid'] } }];

describe('commits', () => {
  it('have the fields of the contract, newest first', async () => {
    const { status, body, headers } = await world.get(request, '/commits');
    assert.deepEqual([status, headers.get('x-total')], [200, '2']);
    assert.deepEqual(
      body.map(({ id }: { id: string }) => id),
      [second, first],
    );
    assert.partialDeepStrictEqual(body[1], {
      id: first,
      short_id: first.slice(0, 8),
      title: 'Add a',
      author_name: 'Ada Lovelace',
      author_email: 'ada@example.com',
      created_at: '2017-07-14T02:40:00.000+00:00',
      message: 'Add a\n\nFor b.\n',
    });
  });
});

const change = (path: string) => ({
  old_path: path,
  new_path: path,
  a_mode: '0',
  b_mode: '100644',
  diff: `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${path}\n`,
  new_file: true,
  renamed_file: false,
  deleted_file: false,
});

describe('changes', () => {
  it('are a merge request with an array of them', async () => {
    const { status, body } = await world.get(request, '/changes');
    assert.equal(status, 200);
    assert.equal(body.iid, request.iid);
    assert.partialDeepStrictEqual(body.changes, [change('a'), change('b')]);
    assert.equal(body.changes.length, 2);
  });

  it('answer 304 as long as nothing changed', async () => {
    const path = `GET /projects/${team.id}/merge_requests/${request.iid}/changes`;
    const etag = (await world.api(path)).headers.get('etag') ?? '';
    const again = await world.api(path, { headers: { 'if-none-match': etag } });
    assert.deepEqual([again.status, again.text], [304, '']);
  });
});

describe('versions', () => {
  it('are listed newest first, each with its three commits', async () => {
    const { status, body, headers } = await world.get(request, '/versions');
    assert.deepEqual([status, headers.get('x-total')], [200, '2']);
    const base = request.diff_refs.base_sha;
    const fixed = {
      base_commit_sha: base,
      start_commit_sha: base,
      merge_request_id: request.id,
      state: 'collected',
    };
    assert.partialDeepStrictEqual(body, [
      { ...fixed, head_commit_sha: second, real_size: '2' },
      { ...fixed, head_commit_sha: first, real_size: '1' },
    ]);
    assert.ok(body[0].id > body[1].id);
    assert.match(body[0].created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('one alone has its commits and diffs, too', async () => {
    const { body: listed } = await world.get(request, '/versions');
    const { status, body } = await world.get(request, `/versions/${listed[1].id}`);
    const { commits, diffs, ...rest } = body;
    assert.deepEqual([status, rest], [200, listed[1]]);
    assert.deepEqual(commits, (await world.get(request, '/commits')).body.slice(1));
    assert.partialDeepStrictEqual(diffs, [change('a')]);
  });

  it('unknown, of another request or no number at all', async () => {
    const other = await world.open(team.id);
    const [version] = (await world.get(other, '/versions')).body;
    assert.deepEqual(answer(await world.get(request, `/versions/${version.id}`)), missing);
    assert.deepEqual(answer(await world.get(request, '/versions/0')), missing);
    assert.deepEqual(answer(await world.get(request, '/versions/x')), notInteger);
  });

  it('one more of a new target branch and of a request that is opened again', async () => {
    const again = await world.open(team.id);
    const count = async () => (await world.get(again, '/versions')).headers.get('x-total');
    await world.put(again, { target_branch: await world.branch(team.id) });
    assert.equal(await count(), '2');
    await world.put(again, { state_event: 'close' });
    await world.put(again, { state_event: 'reopen' });
    assert.equal(await count(), '3');
  });
});

it('who may not read the code is refused: 403 for guests, 404 for strangers', async () => {
  const hidden = await world.codeTeam({ visibility: 'private' });
  const secret = await world.open(hidden.id);
  const [version] = (await world.get(secret, '/versions')).body;
  for (const rest of ['/commits', '/changes', '/versions', `/versions/${version.id}`]) {
    const { guest, stranger } = hidden;
    assert.deepEqual(answer(await world.get(secret, rest, guest.token)), [403, { message: '403 Forbidden' }]);
    const none = [404, { message: '404 Project Not Found' }];
    assert.deepEqual(answer(await world.get(secret, rest, stranger.token)), none);
  }
});
