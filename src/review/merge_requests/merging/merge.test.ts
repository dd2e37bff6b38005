import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  type Request,
  merge,
  openFromBranch,
  openRequest,
  readRequest,
  seedBranch,
  seedCoded,
  seedCodedWith,
  settle,
  systemNotes,
  toPath,
} from '../../../../test/support/seed_merge_requests.ts';
import { type SeededUser, seedIssue } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { openRepository } from '../../../../test/support/repositories/seed_commits.ts';

let gantry: TestService;
let project: Coded;
let developer: SeededUser;
let reporter: SeededUser;
let number = 0;

before(async () => {
  gantry = await startTestService();
  ({ project, developer, reporter } = await seedCodedWith(gantry, { developer: 40, reporter: 20 }));
});
after(async () => await gantry.close());

const newBranch = (): string => `topic-${(number += 1)}`;

const openNew = async (attributes: Record<string, unknown> = {}, of: Coded = project): Promise<Request> => {
  const branch = newBranch();
  return await openFromBranch(gantry, of, branch, attributes);
};

const commitOf = async (id: string, of: Coded = project) => {
  const repository = await openRepository(gantry, of.id);
  return (await repository.ask('commits.get', { ids: [id] })).commits[0];
};

const headOf = async (branch: string, of: Coded = project): Promise<string | undefined> => {
  const repository = await openRepository(gantry, of.id);
  return (await repository.ask('refs.get', { names: [`refs/heads/${branch}`] })).refs[0]?.target;
};

describe('merging', () => {
  test('creates a merge commit of both heads by the merger, and notes it', async () => {
    const request = await openNew();
    const target = await headOf('main');
    const { status, body } = await merge(gantry, request, {}, developer.token);
    assert.equal(status, 200);
    assert.equal(body.state, 'merged');
    assert.equal(body.merged_by.username, developer.username);
    assert.equal(body.merge_commit_sha, await headOf('main'));
    const commit = await commitOf(body.merge_commit_sha);
    assert.deepEqual(commit?.parents, [target, request.sha]);
    assert.equal(commit?.author.email, `${developer.username}@example.com`);
    assert.equal(
      commit?.message.trim(),
      `Merge branch '${request.source_branch}' into 'main'\n\n${request.title}\n\n` +
        `See merge request ${project.full_path}!${request.iid}`,
    );
    assert.deepEqual(await systemNotes(gantry, request), ['merged']);
  });

  test('finishes the todos of the merger, and rechecks other requests into the branch', async () => {
    const [request, beside] = [await openNew({ assignee_id: developer.id }), await openNew()];
    await settle(gantry); // the pushes of the source branches, which schedule a check
    const todos = async (state: string): Promise<number[]> => {
      const { body } = await gantry.api(`GET /todos?state=${state}`, { as: developer.token });
      return body.map(({ target }: Request) => target.id as number);
    };
    assert.ok((await todos('pending')).includes(request.id));
    assert.equal((await readRequest(gantry, beside)).merge_status, 'can_be_merged');
    await merge(gantry, request, {}, developer.token);
    assert.ok((await todos('done')).includes(request.id));
    await settle(gantry);
    const { checked_target_sha } = await gantry.service.platform.store.db
      .selectFrom('merge_requests')
      .select('checked_target_sha')
      .where('id', '=', beside.id)
      .executeTakeFirstOrThrow();
    assert.equal(checked_target_sha, await headOf('main'));
  });

  test('a merge commit can have a message of 15 kB', async () => {
    const request = await openNew();
    const merge_commit_message = `Long\n\n${'x'.repeat(15_000)}`;
    const { body } = await merge(gantry, request, { merge_commit_message });
    assert.equal((await commitOf(body.merge_commit_sha))?.message.trim(), merge_commit_message);
  });

  test('checks refusals in the order of the contract', async () => {
    const request = await openNew({ title: 'WIP: not yet' });
    const wrong = { sha: 'f'.repeat(40) };
    const refused = async (json: object, as?: string) => {
      const { status, body } = await merge(gantry, request, json, as);
      return [status, body.message];
    };
    assert.deepEqual(await refused(wrong, reporter.token), [401, '401 Unauthorized']);
    assert.deepEqual(await refused(wrong), [405, '405 Method Not Allowed']);
    await gantry.api(`PUT ${toPath(request)}`, { json: { title: 'Now' } });
    assert.deepEqual(await refused(wrong), [409, 'SHA does not match HEAD of source branch']);
    await seedCommit(gantry, project.id, { [`${request.source_branch}.txt`]: 'other\n' });
    assert.deepEqual(await refused({ sha: request.sha }), [405, 'Branch cannot be merged']);
    assert.equal((await readRequest(gantry, request)).merge_status, 'cannot_be_merged');
    await gantry.api(`PUT ${toPath(request)}`, { json: { state_event: 'close' } });
    assert.deepEqual(await refused(wrong), [406, 'Method Not Allowed']);
    assert.deepEqual(await refused(wrong, reporter.token), [401, '401 Unauthorized']);
  });

  test('merging a second time is refused with 406', async () => {
    const request = await openNew();
    assert.equal((await merge(gantry, request)).status, 200);
    assert.equal((await merge(gantry, request)).status, 406);
  });

  test('refuses without commits or with a missing branch', async () => {
    await seedBranch(gantry, project, 'gone-later');
    const gone = await openRequest(gantry, project, 'gone-later');
    await gantry.api(`DELETE /projects/${project.id}/repository/branches/gone-later`);
    assert.equal((await readRequest(gantry, gone)).merge_status, 'cannot_be_merged');
    assert.deepEqual((await merge(gantry, gone)).body, { message: 'Branch cannot be merged' });
    await gantry.api(`POST /projects/${project.id}/repository/branches?branch=same&ref=main`);
    const empty = await openRequest(gantry, project, 'same');
    assert.deepEqual([empty.merge_status, empty.changes_count], ['cannot_be_merged', null]);
    assert.equal((await merge(gantry, empty)).status, 405);
  });

  test('merges commits that were pushed a moment before', async () => {
    const request = await openNew();
    const sha = await seedCommit(gantry, project.id, { late: '1' }, { branch: request.source_branch });
    const { status, body } = await merge(gantry, request, { sha });
    assert.deepEqual([status, body.sha], [200, sha]);
    assert.equal((await commitOf(body.merge_commit_sha))?.parents[1], sha);
  });

  test('removes the source branch on request, but never a protected one', async () => {
    const [asked, kept, guarded] = [await openNew(), await openNew(), await openNew()];
    const forced = await openNew({ remove_source_branch: true });
    await gantry.api(`POST /projects/${project.id}/protected_branches`, {
      json: { name: guarded.source_branch },
    });
    for (const one of [asked, guarded]) await merge(gantry, one, { should_remove_source_branch: true });
    for (const one of [kept, forced]) await merge(gantry, one);
    await settle(gantry);
    assert.equal(await headOf(asked.source_branch), undefined);
    assert.equal(await headOf(forced.source_branch), undefined);
    assert.equal(await headOf(kept.source_branch), kept.sha);
    assert.equal(await headOf(guarded.source_branch), guarded.sha);
  });
});

describe('issues closed by a request', () => {
  test('are closed by a merge into the default branch if the merger may close them', async () => {
    const own = await seedIssue(gantry, { project: project.id });
    const hidden = await seedCoded(gantry, { visibility: 'private' });
    const foreign = await seedIssue(gantry, { project: hidden.id });
    const request = await openNew({
      description: `Closes #${own.iid} and ${hidden.full_path}#${foreign.iid}`,
    });
    const { body } = await merge(gantry, request, {}, developer.token);
    assert.match(
      (await commitOf(body.merge_commit_sha))?.message ?? '',
      new RegExp(`\n\nCloses #${own.iid}\n\nSee merge request`),
    );
    const stateOf = async ({ project_id, iid }: { project_id: number; iid: number }) =>
      (await gantry.api(`GET /projects/${project_id}/issues/${iid}`)).body.state;
    assert.equal(await stateOf(own), 'closed');
    assert.equal(await stateOf(foreign), 'opened');
    const notes = (await gantry.api(`GET /projects/${project.id}/issues/${own.iid}/notes`)).body;
    assert.equal(notes[0].body, `closed via merge request !${request.iid}`);
  });

  test('are listed in one sentence, with full references to other projects', async () => {
    const other = await seedCoded(gantry);
    const [one, two] = [
      await seedIssue(gantry, { project: project.id }),
      await seedIssue(gantry, { project: project.id }),
    ];
    const third = await seedIssue(gantry, { project: other.id });
    const messageOf = async (description: string): Promise<string | undefined> => {
      const { body } = await merge(gantry, await openNew({ description }));
      return (await commitOf(body.merge_commit_sha))?.message.split('\n\n')[2];
    };
    assert.equal(
      await messageOf(`Fixes #${one.iid}, ${other.full_path}#${third.iid}`),
      `Closes #${one.iid} and ${other.full_path}#${third.iid}`,
    );
    const more = [
      await seedIssue(gantry, { project: project.id }),
      await seedIssue(gantry, { project: project.id }),
    ];
    const all = [two, ...more].map(({ iid }) => `#${iid}`);
    assert.equal(await messageOf(`Closes ${all.join(', ')}`), `Closes ${all[0]}, ${all[1]}, and ${all[2]}`);
  });

  test('stay open after a merge into another branch', async () => {
    const issue = await seedIssue(gantry, { project: project.id });
    await seedBranch(gantry, project, 'stable');
    const request = await openNew({ target_branch: 'stable', description: `Fixes #${issue.iid}` });
    assert.equal((await merge(gantry, request)).status, 200);
    await settle(gantry);
    assert.equal((await gantry.api(`GET /projects/${project.id}/issues/${issue.iid}`)).body.state, 'opened');
  });
});

describe('merge methods', () => {
  test('squash: creates one commit with its own message, by the author', async () => {
    const branch = newBranch();
    await seedBranch(gantry, project, branch);
    await seedCommit(gantry, project.id, { [`${branch}-2`]: '2' }, { branch });
    const request = await openRequest(gantry, project, branch, { as: developer.token });
    const json = { squash: true, squash_commit_message: 'All in one' };
    const { body } = await merge(gantry, request, json);
    const squashed = await commitOf(body.squash_commit_sha);
    assert.equal(squashed?.message.trim(), 'All in one');
    assert.equal(squashed?.author.email, `${developer.username}@example.com`);
    assert.equal((await commitOf(body.merge_commit_sha))?.parents[1], body.squash_commit_sha);
  });

  test('ff: moves the branch to the head, and refuses until it is rebased', async () => {
    const fast = await seedCoded(gantry, {}, { merge_method: 'ff' });
    const [one, two] = [await openNew({}, fast), await openNew({}, fast)];
    const { body } = await merge(gantry, one);
    assert.deepEqual([body.state, await headOf('main', fast)], ['merged', one.sha]);
    assert.deepEqual((await merge(gantry, two)).body, { message: 'Branch cannot be merged' });
    const rebase = await gantry.api(`PUT ${toPath(two)}/rebase`);
    assert.deepEqual([rebase.status, rebase.body], [202, { rebase_in_progress: true }]);
    await settle(gantry);
    const rebased = await readRequest(gantry, two);
    assert.notEqual(rebased.sha, two.sha);
    assert.deepEqual([rebased.rebase_in_progress, rebased.merge_error], [false, null]);
    assert.deepEqual((await commitOf(rebased.sha, fast))?.parents, [one.sha]);
    assert.equal((await merge(gantry, two)).status, 200);
    assert.equal(await headOf('main', fast), rebased.sha);
  });

  test('rebase_merge: creates a merge commit only of a rebased source', async () => {
    const semi = await seedCoded(gantry, {}, { merge_method: 'rebase_merge' });
    const [one, two] = [await openNew({}, semi), await openNew({}, semi)];
    const { body } = await merge(gantry, one);
    assert.deepEqual((await commitOf(body.merge_commit_sha, semi))?.parents, [semi.first, one.sha]);
    assert.equal((await merge(gantry, two)).status, 405);
  });

  test('squash_option never and always override the request', async () => {
    const never = await seedCoded(gantry, {}, { squash_option: 'never' });
    const { body } = await merge(gantry, await openNew({}, never), {
      squash: true,
      squash_commit_message: 'x',
    });
    assert.equal(body.squash_commit_sha, null);
    const always = await seedCoded(gantry, {}, { squash_option: 'always' });
    const merged = await merge(gantry, await openNew({}, always), { squash_commit_message: 'x' });
    assert.notEqual(merged.body.squash_commit_sha, null);
  });
});

describe('races', () => {
  test('64 merges and closes of one request: exactly one wins', async () => {
    const request = await openNew();
    const replies = await Promise.all(
      Array.from({ length: 64 }, async (_, index) =>
        index % 2 === 0
          ? await merge(gantry, request)
          : await gantry.api(`PUT ${toPath(request)}`, { json: { state_event: 'close' } }),
      ),
    );
    const { state } = await readRequest(gantry, request);
    const merges = replies.filter((_reply, index) => index % 2 === 0);
    const closes = replies.filter((_reply, index) => index % 2 === 1);
    const won = merges.filter(({ status }) => status === 200);
    assert.deepEqual(new Set(merges.map(({ status }) => status)).difference(new Set([200, 406])), new Set());
    assert.equal(won.length, state === 'merged' ? 1 : 0);
    assert.ok(closes.every(({ status, body }) => status === 200 && body.state === state));
    const notes = await systemNotes(gantry, request);
    assert.deepEqual(notes, [state === 'merged' ? 'merged' : 'closed']);
  });

  test('10 requests merged into one branch at once all land', async () => {
    const crowded = await seedCoded(gantry);
    const requests: Request[] = [];
    for (let index = 0; index < 10; index += 1) requests.push(await openNew({}, crowded));
    const replies = await Promise.all(requests.map((request) => merge(gantry, request)));
    assert.deepEqual(
      replies.map(({ status }) => status),
      requests.map(() => 200),
    );
    const { body } = await gantry.api(`GET /projects/${crowded.id}/repository/tree?per_page=100`);
    const names = (body as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(
      requests.filter(({ source_branch }) => !names.includes(`${source_branch}.txt`)),
      [],
    );
  });

  test('requests merged and commits made into one branch at once all land', async () => {
    const crowded = await seedCoded(gantry);
    const requests: Request[] = [];
    for (let index = 0; index < 5; index += 1) requests.push(await openNew({}, crowded));
    const paths = Array.from({ length: 8 }, (_none, at) => `beside-${at}.txt`);
    const commit = async (file_path: string) =>
      await gantry.api(`POST /projects/${crowded.id}/repository/commits`, {
        json: {
          branch: 'main',
          commit_message: file_path,
          actions: [{ action: 'create', file_path, content: 'x' }],
        },
      });
    const [merged, committed] = await Promise.all([
      Promise.all(requests.map(async (request) => await merge(gantry, request))),
      Promise.all(paths.map(commit)),
    ]);
    assert.deepEqual(new Set(merged.map(({ status }) => status)), new Set([200]));
    const { body } = await gantry.api(`GET /projects/${crowded.id}/repository/tree?per_page=100`);
    const names = new Set((body as { name: string }[]).map(({ name }) => name));
    const landed = committed.flatMap(({ status }, at) => (status === 201 ? [paths[at] ?? ''] : []));
    const wanted = [...requests.map(({ source_branch }) => `${source_branch}.txt`), ...landed];
    assert.ok(landed.length > 0);
    assert.deepEqual(
      wanted.filter((name) => !names.has(name)),
      [],
    );
  });
});
