import assert from 'node:assert/strict';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { newWorkTree, repositoryUrl } from '../../../../test/support/repositories/git.ts';
import {
  type Coded,
  type Request,
  merge,
  openRequest,
  toPath,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../test/support/seed_merge_requests.ts';
import { seedUser } from '../../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../../test/support/service.ts';
import { openRepository } from '../../../../test/support/repositories/seed_commits.ts';

let gantry: TestService;
let project: Coded;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry);
});
after(async () => await gantry.close());

const get = async (request: Request, rest: string) => await gantry.api(`GET ${toPath(request)}/${rest}`);
const repository = async (id = project.id) => await openRepository(gantry, id);

describe('commits', () => {
  let request: Request;
  const shas: string[] = [];
  before(async () => {
    for (const name of ['1', '2', '3']) {
      shas.push(
        await seedBranch(gantry, project, 'three', { files: { [name]: name }, message: `Add ${name}\n` }),
      );
    }
    request = await openRequest(gantry, project, 'three');
  });

  test('are listed newest first, with the fields of the contract, in pages', async () => {
    const { body, headers } = await get(request, 'commits?per_page=2');
    assert.equal(headers.get('x-total'), '3');
    assert.deepEqual(
      body.map(({ id }: { id: string }) => id),
      shas.toReversed().slice(0, 2),
    );
    const { id, short_id, title, message, author_name, author_email, created_at } = body[0];
    assert.deepEqual(
      { id, short_id, title, message, author_name, author_email, created_at },
      {
        id: shas[2],
        short_id: shas[2]?.slice(0, 8),
        title: 'Add 3',
        message: 'Add 3\n',
        author_name: 'Ada Lovelace',
        author_email: 'ada@example.com',
        created_at: '2017-07-14T02:40:00.000+00:00',
      },
    );
    const second = await get(request, 'commits?per_page=2&page=2');
    assert.deepEqual(
      second.body.map(({ id }: { id: string }) => id),
      [shas[0]],
    );
    assert.deepEqual((await get(request, 'commits?page=9')).body, []);
  });

  test('with messages too long to store are read from git', async () => {
    const messages = ['First', 'Second'].map((word) => `${word}\n\n${'x'.repeat(1_000_000)}`);
    for (const [index, message] of messages.entries()) {
      await seedBranch(gantry, project, 'wordy', { files: { [`wordy-${index}`]: '1' }, message });
    }
    const wordy = await openRequest(gantry, project, 'wordy');
    const { body, headers } = await get(wordy, 'commits');
    assert.equal(headers.get('x-total'), '2');
    assert.deepEqual(
      body.map(({ title }: { title: string }) => title),
      ['Second', 'First'],
    );
    const rows = await gantry.service.platform.store.db
      .selectFrom('merge_request_diff_texts')
      .innerJoin('merge_requests', 'merge_requests.diff_id', 'merge_request_diff_texts.diff_id')
      .select('commits')
      .where('merge_requests.id', '=', wordy.id)
      .execute();
    assert.equal(JSON.parse(rows[0]?.commits ?? '[]').length, 1);
  });

  test('list the requests that contain them', async () => {
    const of = async (sha: string) =>
      (await gantry.api(`GET /projects/${project.id}/repository/commits/${sha}/merge_requests`)).body;
    const iids = (body: { iid: number }[]): number[] => body.map(({ iid }) => iid);
    assert.deepEqual(iids(await of(shas[0] ?? '')), [request.iid]);
    assert.deepEqual(iids(await of('three')), [request.iid]);
    assert.deepEqual(await of(project.first), []);
    assert.deepEqual(await of('f'.repeat(40)), { message: '404 Commit Not Found' });
  });
});

describe('changes', () => {
  let request: Request;
  before(async () => {
    const tree = await newWorkTree();
    const files = {
      'changed.txt': 'one\ntwo\n',
      'deleted.txt': 'gone\n',
      'moved.txt': Array.from({ length: 20 }, (_, index) => `line ${index}\n`).join(''),
      'script.sh': '#!/bin/sh\n',
    };
    await tree.git('remote', 'add', 'origin', repositoryUrl(gantry.url, project.full_path, rootToken));
    await tree.git('fetch', 'origin');
    await tree.git('checkout', '-B', 'main', 'origin/main');
    await tree.commit('Before', files);
    await tree.git('push', 'origin', 'main');
    await tree.git('checkout', '-b', 'every-kind');
    await chmod(join(tree.path, 'script.sh'), 0o755);
    await tree.git('mv', 'moved.txt', 'new name.txt');
    await tree.git('rm', '-q', 'deleted.txt');
    await tree.git('update-index', '--add', '--cacheinfo', `160000,${project.first},module`);
    await mkdir(join(tree.path, 'module'));
    await tree.write('changed.txt', 'one\n2\n');
    await tree.write('empty', '');
    await tree.write('binary', '\0\u0001\0');
    await tree.git('add', 'changed.txt', 'empty', 'binary', 'script.sh');
    await tree.git('commit', '-qm', 'Every kind');
    await tree.git('push', 'origin', 'every-kind');
    await tree.remove();
    await settle(gantry);
    request = await openRequest(gantry, project, 'every-kind');
  });

  const fileOf = (body: Request, path: string) =>
    body.changes.find(({ new_path }: { new_path: string }) => new_path === path);

  test('the answer with changes has the fields of the merge request', async () => {
    const { body } = await get(request, 'changes');
    const { changes, overflow, ...rest } = body;
    assert.deepEqual([changes.length, overflow], [7, false]);
    assert.deepEqual(rest, await readRequest(gantry, request));
    assert.equal(rest.changes_count, '7');
  });

  const rows: [string, string, object][] = [
    [
      'a change',
      'changed.txt',
      {
        a_mode: '100644',
        b_mode: '100644',
        diff: '--- a/changed.txt\n+++ b/changed.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n',
      },
    ],
    [
      'a deletion',
      'deleted.txt',
      {
        old_path: 'deleted.txt',
        b_mode: '0',
        deleted_file: true,
        diff: '--- a/deleted.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n',
      },
    ],
    ['a rename', 'new name.txt', { old_path: 'moved.txt', renamed_file: true, diff: '' }],
    ['a change of mode', 'script.sh', { a_mode: '100644', b_mode: '100755', renamed_file: false, diff: '' }],
    [
      'an empty file',
      'empty',
      { a_mode: '0', b_mode: '100644', new_file: true, old_path: 'empty', diff: '' },
    ],
    ['a binary file', 'binary', { new_file: true, diff: 'Binary files /dev/null and b/binary differ\n' }],
    ['a submodule', 'module', { b_mode: '160000', new_file: true }],
  ];
  for (const [kind, path, expected] of rows) {
    test(`show ${kind}`, async () => {
      const { body } = await get(request, 'changes');
      assert.partialDeepStrictEqual(fileOf(body, path), expected);
    });
  }

  test('are the same in pages of /diffs and as a patch in /raw_diffs', async () => {
    const whole = (await get(request, 'changes')).body.changes;
    const { body, headers } = await get(request, 'diffs?per_page=3&page=2');
    assert.equal(headers.get('x-total'), '7');
    assert.deepEqual(body, whole.slice(3, 6));
    const raw = await get(request, 'raw_diffs');
    assert.match(raw.headers.get('content-type') ?? '', /^text\/plain/);
    assert.match(raw.text, /^diff --git a\/binary b\/binary\n/);
  });

  test('stored changes are served without git', async () => {
    const { body } = await get(request, 'versions');
    const { store } = gantry.service.platform;
    await store.write(
      async ({ db }) =>
        await db
          .updateTable('projects')
          .set({ repository_storage: 'nowhere' })
          .where('id', '=', project.id)
          .execute(),
    );
    try {
      for (const rest of ['commits', 'diffs', 'versions', `versions/${body[0].id}`]) {
        assert.equal((await get(request, rest)).status, 200, rest);
      }
    } finally {
      await store.write(
        async ({ db }) =>
          await db
            .updateTable('projects')
            .set({ repository_storage: 'default' })
            .where('id', '=', project.id)
            .execute(),
      );
    }
  });
});

describe('a diff beyond the stored limits', () => {
  test('is cut in versions and complete in changes', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 1005 }, (_, index) => [`many/${index}`, `${index}\n`]),
    );
    await seedBranch(gantry, project, 'many', { files });
    const request = await openRequest(gantry, project, 'many');
    assert.equal(request.changes_count, '1000+');
    const [version] = (await get(request, 'versions')).body;
    assert.deepEqual([version.state, version.real_size], ['overflow', '1000+']);
    assert.equal((await get(request, `versions/${version.id}`)).body.diffs.length, 1000);
    const { changes, overflow } = (await get(request, 'changes')).body;
    assert.deepEqual([changes.length, overflow], [1005, false]);
    assert.equal((await get(request, 'diffs')).headers.get('x-total'), '1005');
  });

  test('a single file beyond the stored limits has no diff text', async () => {
    const files = { long: 'a line of text\n'.repeat(10_000) };
    await seedBranch(gantry, project, 'long', { files });
    const request = await openRequest(gantry, project, 'long');
    const [file] = (await get(request, 'changes')).body.changes;
    assert.deepEqual([file.diff, file.too_large], ['', true]);
  });
});

describe('versions', () => {
  test('are stored per push, newest first, and keep their commits', async () => {
    const first = await seedBranch(gantry, project, 'rewritten');
    const request = await openRequest(gantry, project, 'rewritten');
    const second = await seedBranch(gantry, project, 'rewritten', {
      files: { more: '2' },
      onto: project.first,
    });
    await settle(gantry);
    const { body } = await get(request, 'versions');
    assert.deepEqual(
      body.map((version: Request) => [version.head_commit_sha, version.base_commit_sha, version.real_size]),
      [
        [second, project.first, '1'],
        [first, body[1].base_commit_sha, '1'],
      ],
    );
    assert.deepEqual(
      [body[0].merge_request_id, body[0].state, body[0].start_commit_sha],
      [request.id, 'collected', (await readRequest(gantry, request)).diff_refs.start_sha],
    );
    const { body: old } = await get(request, `versions/${body[1].id}`);
    assert.equal(old.commits[0].id, first);
    assert.equal(old.diffs[0].new_path, 'rewritten.txt');
    assert.equal((await readRequest(gantry, request)).sha, second);
    await (await repository()).ask('repository.maintain', {});
    const { commits } = await (await repository()).ask('commits.get', { ids: [first, second] });
    assert.deepEqual(
      commits.map((commit) => commit?.id),
      [first, second],
    );
    const names = [`refs/merge-requests/${request.iid}/head`, `refs/keep-around/${first}`];
    const { refs } = await (await repository()).ask('refs.get', { names });
    assert.deepEqual(
      refs.map((ref) => ref?.target),
      [second, first],
    );
  });

  test('of another request, or missing ones, reply 404', async () => {
    await seedBranch(gantry, project, 'apart');
    const apart = await openRequest(gantry, project, 'apart');
    await seedBranch(gantry, project, 'beside');
    const beside = await openRequest(gantry, project, 'beside');
    const [version] = (await get(apart, 'versions')).body;
    assert.equal((await get(apart, `versions/${version.id}`)).status, 200);
    assert.deepEqual((await get(beside, `versions/${version.id}`)).body, { message: '404 Not found' });
    assert.equal((await get(apart, 'versions/999999999')).status, 404);
    assert.equal((await get(apart, 'versions/abc')).status, 400);
  });

  test('a version without commits is empty', async () => {
    await gantry.api(`POST /projects/${project.id}/repository/branches?branch=nothing&ref=main`);
    const request = await openRequest(gantry, project, 'nothing');
    const [version] = (await get(request, 'versions')).body;
    assert.deepEqual([version.state, version.real_size], ['empty', null]);
    assert.deepEqual((await get(request, 'changes')).body.changes, []);
    assert.deepEqual((await get(request, 'commits')).body, []);
  });

  test('versions can be read after the source branch was deleted', async () => {
    await seedBranch(gantry, project, 'short-lived');
    const request = await openRequest(gantry, project, 'short-lived');
    await gantry.api(`DELETE /projects/${project.id}/repository/branches/short-lived`);
    await settle(gantry);
    assert.equal((await get(request, 'commits')).body.length, 1);
    assert.equal((await get(request, 'changes')).body.changes.length, 1);
  });
});

test('participants are the author, commenters and mentioned users who can see the request', async () => {
  const [speaker, mentioned] = [await seedUser(gantry), await seedUser(gantry)];
  await seedBranch(gantry, project, 'talked-about');
  const request = await openRequest(gantry, project, 'talked-about', {
    description: `For @${mentioned.username}`,
  });
  await gantry.api(`POST ${toPath(request)}/notes`, { json: { body: 'Well' }, as: speaker.token });
  const { body } = await get(request, 'participants');
  assert.deepEqual(
    body.map(({ username }: { username: string }) => username),
    ['root', speaker.username, mentioned.username],
  );
});

test('lists no pipelines by default', async () => {
  await seedBranch(gantry, project, 'no-pipeline');
  const request = await openRequest(gantry, project, 'no-pipeline');
  const { body, headers } = await get(request, 'pipelines');
  assert.deepEqual([body, headers.get('x-total')], [[], '0']);
});

test('compares and merges a criss-cross history', async () => {
  const cross = await seedCoded(gantry);
  const of = { id: cross.id };
  await seedBranch(gantry, of, 'left', { files: { left: '1' } });
  await seedBranch(gantry, of, 'right', { files: { right: '1' } });
  const both = await Promise.all(
    ['left', 'right'].map(
      async (name) =>
        (await (await repository(cross.id)).ask('refs.get', { names: [`refs/heads/${name}`] })).refs[0]
          ?.target ?? '',
    ),
  );
  const sign = { name: 'A', email: 'a@example.com', time: 1_500_000_000, offset: '+0000' };
  const join = async (branch: string, ours = '', theirs = '') => {
    const made = await (
      await repository(cross.id)
    ).ask('merge.commit', {
      ours,
      theirs,
      message: branch,
      author: sign,
      committer: sign,
    });
    await (
      await repository(cross.id)
    ).ask('refs.update', {
      updates: [{ ref: `refs/heads/${branch}`, old: ours, new: made?.id ?? '' }],
    });
  };
  await join('left', both[0], both[1]);
  await join('right', both[1], both[0]);
  await seedCommit(gantry, cross.id, { left: '2' }, { branch: 'left' });
  await seedCommit(gantry, cross.id, { right: '2' }, { branch: 'right' });
  const request = await openRequest(gantry, cross, 'left', { target_branch: 'right' });
  assert.equal(request.merge_status, 'can_be_merged');
  assert.equal((await merge(gantry, request)).status, 200);
});
