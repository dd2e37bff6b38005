/** Tests the card of recent pushes on the start page. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { GitFailure } from '../../../../platform/git/failure.ts';
import { seedMember, seedProject, unique } from '../../../../../test/support/seed.ts';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

type Pusher = SeededVisitor & { project: { id: number; full_path: string } };

const seedPusher = async (): Promise<Pusher> => {
  const user = await seedVisitor(gantry);
  const project = await seedProject(gantry, { visibility: 'private' });
  await seedCommit(gantry, project.id, { a: 'x\n' });
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 40 });
  return { ...user, project };
};

/** Commits to a branch over the API; of a new one from `start`. */
const commit = async (
  { project }: Pusher,
  branch: string,
  { by, start }: { by?: number; start?: string } = {},
): Promise<void> => {
  const actions = [{ action: 'create', file_path: unique('file'), content: 'x' }];
  const json = { branch, commit_message: 'x', actions, ...(start !== undefined && { start_branch: start }) };
  const sudo = by === undefined ? '' : `?sudo=${by}`;
  const { status, text } = await gantry.api(`POST /projects/${project.id}/repository/commits${sudo}`, {
    json,
  });
  assert.equal(status, 201, text);
};

/** Opens a merge request and merges it, by the pusher. */
const mergeBranch = async ({ id, project }: Pusher, source: string, target: string): Promise<void> => {
  const path = `/projects/${project.id}/merge_requests`;
  const json = { source_branch: source, target_branch: target, title: source };
  const { body } = await gantry.api(`POST ${path}`, { json });
  const merged = await gantry.api(`PUT ${path}/${body.iid}/merge?sudo=${id}`);
  assert.equal(merged.status, 200, merged.text);
};

const offered = async ({ visitor }: Pusher): Promise<string[]> => {
  const { status, text } = await visitor.get('/');
  assert.equal(status, 200);
  return [...text.matchAll(/merge_request%5Bsource_branch%5D=([\w-]+)"/g)].map(([, name = '']) => name);
};

/** Runs work while no repository storage answers. */
const withoutStorages = async (work: () => Promise<void>): Promise<void> => {
  const { git } = gantry.service.platform;
  const { repository } = git;
  git.repository = (...parameters) => ({
    ...repository(...parameters),
    ask: async () => await Promise.reject(new GitFailure('unavailable', 'stopped')),
  });
  try {
    await work();
  } finally {
    git.repository = repository;
  }
};

test('a stopped storage leaves out its pushes and templates, until it answers again', async () => {
  const user = await seedPusher();
  await commit(user, 'topic', { by: user.id, start: 'main' });
  await withoutStorages(async () => {
    assert.deepEqual(await offered(user), []);
    const form = await user.visitor.get(`/${user.project.full_path}/issues/new`);
    assert.equal(form.status, 200, form.text);
    assert.match(form.text, /name="title"/);
  });
  assert.deepEqual(await offered(user), ['topic']);
});

test('a branch whose present commit was merged is not offered, no matter who pushed it', async () => {
  const user = await seedPusher();
  await commit(user, 'topic', { by: user.id, start: 'main' });
  await commit(user, 'topic');
  await mergeBranch(user, 'topic', 'main');
  assert.deepEqual(await offered(user), []);
});

test('a merge by the user is no push', async () => {
  const user = await seedPusher();
  await commit(user, 'develop', { start: 'main' });
  await commit(user, 'topic', { start: 'main' });
  await mergeBranch(user, 'topic', 'develop');
  assert.deepEqual(await offered(user), []);
  await commit(user, 'develop', { by: user.id });
  assert.deepEqual(await offered(user), ['develop']);
});

test('merged branches do not take the place of those that wait', async () => {
  const user = await seedPusher();
  await commit(user, 'waiting', { by: user.id, start: 'main' });
  for (let at = 1; at <= 9; at += 1) {
    await commit(user, `gone-${at}`, { by: user.id, start: 'main' });
    await gantry.api(`DELETE /projects/${user.project.id}/repository/branches/gone-${at}`);
  }
  assert.deepEqual(await offered(user), ['waiting']);
});
