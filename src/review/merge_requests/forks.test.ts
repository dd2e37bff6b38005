import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
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
} from '../../../test/support/seed_merge_requests.ts';
import { type SeededUser, seedMember, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { openRepository } from '../../../test/support/repositories/seed_commits.ts';

let gantry: TestService;
let project: Coded;
let owner: SeededUser;
let stranger: SeededUser;

before(async () => {
  gantry = await startTestService({ GANTRY_REPOSITORY_STORAGES: 'default,second' });
  project = await seedCoded(gantry);
  [owner, stranger] = [await seedUser(gantry), await seedUser(gantry)];
});
after(async () => await gantry.close());

const setColumns = async (id: number, columns: object): Promise<void> => {
  await gantry.service.platform.store.write(
    async ({ db }) => await db.updateTable('projects').set(columns).where('id', '=', id).execute(),
  );
};

let number = 0;
const newFork = async (of: Coded = project, as: SeededUser = owner): Promise<{ id: number }> => {
  const path = `fork-${(number += 1)}`;
  const { status, body, text } = await gantry.api(`POST /projects/${of.id}/fork`, {
    json: { path, name: path },
    as: as.token,
  });
  assert.equal(status, 201, text);
  await settle(gantry);
  return body;
};

const openFrom = async (fork: { id: number }, branch: string, of: Coded = project): Promise<Request> =>
  await openRequest(gantry, fork, branch, { target_project_id: of.id, as: owner.token });

describe('a request from a fork', () => {
  test('shows the commits of the fork, follows pushes, and is merged', async () => {
    const fork = await newFork();
    const sha = await seedBranch(gantry, fork, 'topic');
    const request = await openFrom(fork, 'topic');
    assert.partialDeepStrictEqual(request, {
      project_id: project.id,
      source_project_id: fork.id,
      sha,
      merge_status: 'can_be_merged',
      changes_count: '1',
    });
    const second = await seedCommit(gantry, fork.id, { more: '2' }, { branch: 'topic' });
    await settle(gantry);
    assert.partialDeepStrictEqual(await readRequest(gantry, request), {
      sha: second,
      changes_count: '2',
      merge_status: 'can_be_merged',
    });
    const { body } = await merge(gantry, request);
    const target = await openRepository(gantry, project.id);
    const { commits } = await target.ask('commits.get', { ids: [body.merge_commit_sha] });
    assert.equal(commits[0]?.parents[1], second);
  });

  test('copies its commits from another storage', async () => {
    const fork = await newFork();
    await setColumns(fork.id, { repository_storage: 'second', repository_written: 0, default_branch: null });
    await seedCommit(gantry, fork.id, { 'README.md': 'Read me\n' });
    const sha = await seedBranch(gantry, fork, 'far', { files: { far: '1' } });
    const request = await openFrom(fork, 'far');
    assert.deepEqual([request.sha, request.changes_count], [sha, '1']);
    const second = await seedCommit(gantry, fork.id, { far: '2' }, { branch: 'far' });
    await settle(gantry);
    assert.equal((await readRequest(gantry, request)).sha, second);
    assert.equal((await merge(gantry, request)).status, 200);
  });

  test('stays readable after deletion of the fork, and can be closed but not merged', async () => {
    const fork = await newFork();
    const sha = await seedBranch(gantry, fork, 'orphan');
    const request = await openFrom(fork, 'orphan');
    const removed = await gantry.api(`DELETE /projects/${fork.id}`);
    assert.equal(removed.status, 202);
    const check = async () => {
      const now = await readRequest(gantry, request);
      assert.deepEqual([now.sha, now.merge_status], [sha, 'cannot_be_merged']);
      const { body } = await gantry.api(`GET ${toPath(request)}/changes`);
      assert.equal(body.changes[0].new_path, 'orphan.txt');
      assert.equal((await gantry.api(`GET ${toPath(request)}/commits`)).body[0].id, sha);
      const { status, body: refusal } = await merge(gantry, request);
      assert.deepEqual([status, refusal.message], [405, 'Branch cannot be merged']);
    };
    await check();
    await settle(gantry);
    await check();
    const close = await gantry.api(`PUT ${toPath(request)}`, { json: { state_event: 'close' } });
    assert.deepEqual([close.status, close.body.state], [200, 'closed']);
    const reopen = await gantry.api(`PUT ${toPath(request)}`, { json: { state_event: 'reopen' } });
    assert.deepEqual([reopen.status, reopen.body.message], [400, { source_branch: ['does not exist'] }]);
  });

  test('removes the branch of the fork only if the merger may push there', async () => {
    const fork = await newFork();
    const reader = await seedUser(gantry);
    await seedMember(gantry, { user: reader.id, project: project.id, access_level: 40 });
    const sha = await seedBranch(gantry, fork, 'kept', { files: { kept: '1' } });
    const request = await openFrom(fork, 'kept');
    const { status } = await merge(gantry, request, { should_remove_source_branch: true }, reader.token);
    assert.equal(status, 200);
    await settle(gantry);
    const { body } = await gantry.api(`GET /projects/${fork.id}/repository/branches/kept`);
    assert.equal(body.commit.id, sha);
  });

  test('has its branch removed if its author requested it, not a user who may not push there', async () => {
    const fork = await newFork();
    const master = await seedUser(gantry);
    await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
    for (const [branch, as, status] of [
      ['theirs', master, 200],
      ['own', owner, 404],
    ] as const) {
      await seedBranch(gantry, fork, branch, { files: { [branch]: '1' } });
      const request = await openFrom(fork, branch);
      const json = { remove_source_branch: true, description: 'Changed' };
      const edited = await gantry.api(`PUT ${toPath(request)}`, { json, as: as.token });
      assert.deepEqual(
        [edited.status, edited.body.force_remove_source_branch, edited.body.description],
        [200, as === owner, 'Changed'],
      );
      assert.equal((await merge(gantry, request, {}, master.token)).status, 200);
      await settle(gantry);
      const left = await gantry.api(`GET /projects/${fork.id}/repository/branches/${branch}`);
      assert.equal(left.status, status);
    }
  });
});

describe('projects hidden from the caller', () => {
  const create = async (source: { id: number }, target: { id: number }, as: SeededUser) => {
    const json = {
      source_branch: 'secret',
      target_branch: 'main',
      title: 'x',
      target_project_id: target.id,
    };
    const { status, body } = await gantry.api(`POST /projects/${source.id}/merge_requests`, {
      json,
      as: as.token,
    });
    return [status, body.message];
  };

  test('replies 404 for the private fork of another user', async () => {
    const fork = await newFork();
    await setColumns(fork.id, { visibility: 'private' });
    await seedBranch(gantry, fork, 'secret');
    assert.deepEqual(await create(fork, project, stranger), [404, '404 Project Not Found']);
  });

  test('a private target project gets 404', async () => {
    const hidden = await seedCoded(gantry);
    const fork = await newFork(hidden);
    await seedBranch(gantry, fork, 'secret');
    await setColumns(hidden.id, { visibility: 'private' });
    assert.deepEqual(await create(fork, hidden, owner), [404, '404 Project Not Found']);
  });

  test('hides the requests of a target that became private, also from their authors', async () => {
    const hidden = await seedCoded(gantry);
    const fork = await newFork(hidden);
    await seedBranch(gantry, fork, 'topic');
    const request = await openFrom(fork, 'topic', hidden);
    await setColumns(hidden.id, { visibility: 'private' });
    for (const rest of ['', '/changes', '/commits', '/versions', '/diffs', '/raw_diffs']) {
      const { status } = await gantry.api(`GET ${toPath(request)}${rest}`, { as: owner.token });
      assert.equal(status, 404, rest);
    }
  });

  test('does not copy new commits of a private fork when a user without access reopens', async () => {
    const fork = await newFork();
    const developer = await seedUser(gantry);
    await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
    const sha = await seedBranch(gantry, fork, 'inner', { files: { inner: '1' } });
    const request = await openFrom(fork, 'inner');
    const change = async (state_event: string, as: SeededUser) =>
      await gantry.api(`PUT ${toPath(request)}`, { json: { state_event }, as: as.token });
    await change('close', owner);
    await setColumns(fork.id, { visibility: 'private' });
    const second = await seedCommit(gantry, fork.id, { inner: 'secret' }, { branch: 'inner' });
    await settle(gantry);
    const refused = await change('reopen', developer);
    assert.deepEqual([refused.status, refused.body.message], [400, { source_branch: ['does not exist'] }]);
    assert.equal((await readRequest(gantry, request)).sha, sha);
    const reopened = await change('reopen', owner);
    assert.deepEqual([reopened.status, reopened.body.state, reopened.body.sha], [200, 'opened', second]);
  });
});

describe('projects of one fork network', () => {
  const compare = async (fork: { id: number }, query: string, as = owner) =>
    await gantry.api(`GET /projects/${fork.id}/repository/compare?${query}`, { as: as.token });

  test('are compared without copying objects between them', async () => {
    const fork = await newFork();
    const upstream = await seedCommit(gantry, project.id, { 'upstream.txt': 'only there\n' });
    const sha = await seedBranch(gantry, fork, 'compared');
    const { status, body } = await compare(fork, `from=main&to=compared&from_project_id=${project.id}`);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.commit.id, body.commits.length], [sha, 1]);
    assert.ok(!body.diffs.some((diff: { new_path: string }) => diff.new_path === 'upstream.txt'));
    const straight = await compare(fork, `from=main&to=compared&straight=true&from_project_id=${project.id}`);
    const removed = straight.body.diffs.filter((diff: { deleted_file: boolean }) => diff.deleted_file);
    assert.ok(removed.some((diff: { old_path: string }) => diff.old_path === 'upstream.txt'));
    const gone = await gantry.api(`GET /projects/${fork.id}/repository/commits/${upstream}`, {
      as: owner.token,
    });
    assert.equal(gone.status, 404, 'its commits stay where they are');
  });

  test('are compared only for users who can read both', async () => {
    const [fork, alone] = [await newFork(), await seedCoded(gantry)];
    const hidden = await seedCoded(gantry, { visibility: 'private' });
    const asked = async (id: number) => {
      const reply = await compare(fork, `from=main&to=main&from_project_id=${id}`);
      return [reply.status, reply.body.message];
    };
    const noFork = `Target project id:${alone.id} is not a fork of project id:${fork.id}`;
    assert.deepEqual(await asked(alone.id), [400, noFork]);
    assert.deepEqual(await asked(hidden.id), [404, '404 Project Not Found']);
    assert.deepEqual(await asked(999_999), [404, '404 Project Not Found']);
  });

  test('starts a commit at a branch of a project on another storage', async () => {
    const fork = await newFork();
    await setColumns(fork.id, { repository_storage: 'second', repository_written: 0 });
    await seedCommit(gantry, fork.id, { 'first.txt': 'here\n' });
    const start = await seedCommit(gantry, project.id, { 'there.txt': 'there\n' });
    const made = await gantry.api(`POST /projects/${fork.id}/repository/commits`, {
      as: owner.token,
      json: {
        branch: 'brought',
        start_project: project.id,
        start_branch: 'main',
        commit_message: 'On that',
        actions: [{ action: 'create', file_path: 'more.txt', content: 'more' }],
      },
    });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(made.body.parent_ids, [start]);
    const file = await gantry.api(`GET /projects/${fork.id}/repository/files/there.txt/raw?ref=brought`);
    assert.equal(file.text, 'there\n');
    const { problems } = await (await openRepository(gantry, fork.id)).ask('repository.check', {});
    assert.deepEqual(problems, []);
  });
});
