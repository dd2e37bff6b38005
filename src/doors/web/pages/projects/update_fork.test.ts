/** Tests how forks follow the project that they were forked from. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Repository, RepositoryLocation } from '../../../../platform/git/repository.ts';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedMember, unique } from '../../../../../test/support/seed.ts';
import { type Coded, seedCoded, settle } from '../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService({ GANTRY_REPOSITORY_STORAGES: 'default,second' });
});
after(async () => await gantry.close());

type Fork = { id: number; path: string; upstream: Coded; owner: SeededVisitor };

const seedFork = async (visibility: 'public' | 'private' = 'public'): Promise<Fork> => {
  const upstream = await seedCoded(gantry, { visibility });
  const path = unique('fork');
  const json = { path, name: path, visibility };
  const { body, text } = await gantry.api(`POST /projects/${upstream.id}/fork`, { json });
  assert.ok(body.id, text);
  await settle(gantry);
  const owner = await seedVisitor(gantry, { project: body.id, access_level: 40 });
  return { id: body.id, path: `/${body.path_with_namespace}`, upstream, owner };
};

const words = (text: string): string => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

/**
 * Returns the words of the fork's page, once the commits were counted, for which a busy machine has too little time.
 */
const wordsOf = async ({ path, owner }: Fork, visitor = owner.visitor): Promise<string> => {
  for (let tries = 0; ; tries += 1) {
    const text = words((await visitor.get(path)).text);
    if (tries === 100 || / behind|ahead of|Up to date with/.test(text)) return text;
  }
};

const headOf = async (id: number): Promise<{ id: string; parents: string[]; title: string }> => {
  const { body } = await gantry.api(`GET /projects/${id}/repository/commits/main`);
  return { id: body.id, parents: body.parent_ids, title: body.title };
};

const seedUpstream = async ({ upstream }: Fork, files: Record<string, string>): Promise<string> =>
  await seedCommit(gantry, upstream.id, files, { branch: 'main', from: 'main' });

const update = async ({ path, owner }: Fork, visitor = owner.visitor) =>
  await visitor.post(`${path}/-/update_fork`);

/** Returns the notice or alert of the next page. */
const flashOf = async ({ path, owner }: Fork, visitor = owner.visitor): Promise<string> =>
  words(/class="flash[^"]*"[^>]*>(.*?)<\/p>/s.exec((await visitor.get(path)).text)?.[1] ?? '').trim();

test('says how many commits a fork is behind, and moves it forward', async () => {
  const fork = await seedFork();
  const { owner, path, upstream } = fork;
  const name = `${upstream.full_path} : main`;
  const fresh = await wordsOf(fork);
  assert.match(fresh, new RegExp(`Up to date with ${name} Contribute`));
  assert.doesNotMatch(fresh, /Update fork/);
  const ci = 'job:\n  script: echo\n';
  await seedUpstream(fork, { 'one.txt': 'x\n' });
  const head = await seedUpstream(fork, { '.gitlab-ci.yml': ci });
  const behind = await wordsOf(fork);
  assert.match(behind, new RegExp(`2 commits behind ${name} Update fork Contribute`));
  const { status, location } = await update(fork);
  assert.deepEqual([status, location], [303, path]);
  assert.equal(await flashOf(fork), 'The fork was updated.');
  assert.equal((await headOf(fork.id)).id, head);
  assert.match(await wordsOf(fork), new RegExp(`Up to date with ${name}`));
  await settle(gantry);
  const pipelines = (await gantry.api(`GET /projects/${fork.id}/pipelines`)).body;
  assert.deepEqual(
    pipelines.map(({ sha, source }: { sha: string; source: string }) => [sha, source]),
    [[head, 'push']],
  );
  const events = (await gantry.api(`GET /projects/${fork.id}/events?action=pushed`)).body;
  assert.ok(
    events.some(
      (one: { author_id: number; push_data: { commit_to: string } }) =>
        one.author_id === owner.id && one.push_data.commit_to === head,
    ),
  );
  await update(fork);
  assert.equal(
    await flashOf(fork),
    'The fork already contains all commits of the project that it was forked from.',
  );
});

test('does not count again at once what git could not count in time', async (t) => {
  const fork = await seedFork();
  await seedUpstream(fork, { 'slow.txt': 'x\n' });
  const { git } = gantry.service.platform;
  const open = git.repository.bind(git);
  let asked = 0;
  t.mock.method(git, 'repository', (location: RepositoryLocation): Repository => {
    const repository = open(location);
    const ask: Repository['ask'] = async (method, ...rest) => {
      if (method !== 'commits.ahead_behind') return await repository.ask(method, ...rest);
      asked += 1;
      return { counts: [null] } as Awaited<ReturnType<typeof repository.ask<typeof method>>>;
    };
    return { ...repository, ask };
  });
  const now = Date.now();
  t.after(() => gantry.setTime(null));
  // The pauses are of one second, then of two.
  for (const [milliseconds, times] of [
    [0, 1],
    [900, 1],
    [1_000, 2],
    [2_900, 2],
    [3_000, 3],
  ] as const) {
    gantry.setTime(now + milliseconds);
    const { text } = await fork.owner.visitor.get(fork.path);
    assert.match(words(text), / Forked from /);
    assert.equal(asked, times, `after ${milliseconds} ms`);
  }
});

test('merges where both have commits, without naming the upstream in the commit', async () => {
  const fork = await seedFork();
  const theirs = await seedUpstream(fork, { 'theirs.txt': 'x\n' });
  const own = await seedCommit(gantry, fork.id, { 'own.txt': 'x\n' }, { branch: 'main', from: 'main' });
  assert.match(
    await wordsOf(fork),
    new RegExp(`1 commit behind, 1 ahead of ${fork.upstream.full_path} : main`),
  );
  assert.equal((await update(fork)).location, fork.path);
  assert.equal(await flashOf(fork), 'The fork was updated by a merge commit.');
  const merged = await headOf(fork.id);
  assert.deepEqual(merged.parents, [own, theirs]);
  assert.equal(merged.title, "Merge branch 'main' of the upstream project into 'main'");
  const now = await wordsOf(fork);
  assert.match(now, new RegExp(`2 commits ahead of ${fork.upstream.full_path} : main`));
});

test('names conflicting files and the commands that resolve them, and changes nothing', async () => {
  const fork = await seedFork();
  await seedUpstream(fork, { 'README.md': 'Theirs\n' });
  const own = await seedCommit(gantry, fork.id, { 'README.md': 'Own\n' }, { branch: 'main', from: 'main' });
  const { status, text } = await update(fork);
  assert.equal(status, 409);
  assert.match(text, /<li><code>README\.md<\/code><\/li>/);
  assert.match(
    text,
    new RegExp(`git fetch http[^\\s]+/${fork.upstream.full_path}\\.git main\ngit merge FETCH_HEAD`),
  );
  assert.equal((await headOf(fork.id)).id, own);
});

test('updates a fork on another storage, whose commits are not counted', async () => {
  const fork = await seedFork();
  const columns = { repository_storage: 'second', repository_written: 0 as const, default_branch: null };
  await gantry.service.platform.store.write(
    async ({ db }) => await db.updateTable('projects').set(columns).where('id', '=', fork.id).execute(),
  );
  await seedCommit(gantry, fork.id, { 'README.md': 'Read me\n' });
  const head = await seedUpstream(fork, { 'a.txt': 'x\n' });
  const before = words((await fork.owner.visitor.get(fork.path)).text);
  assert.match(before, new RegExp(`Forked from ${fork.upstream.full_path} : main Update fork`));
  assert.equal((await update(fork)).location, fork.path);
  assert.equal((await headOf(fork.id)).id, head);
  assert.match(await wordsOf(fork), /Up to date with/);
});

test('obeys the protection of the branch', async () => {
  const fork = await seedFork();
  await seedUpstream(fork, { 'a.txt': 'x\n' });
  const developer = await seedVisitor(gantry, { project: fork.id, access_level: 30 });
  const before = await headOf(fork.id);
  await gantry.api(`DELETE /projects/${fork.id}/protected_branches/main`);
  await gantry.api(`POST /projects/${fork.id}/protected_branches`, {
    json: { name: 'main', push_access_level: 40 },
  });
  assert.doesNotMatch((await developer.visitor.get(fork.path)).text, /Update fork/);
  assert.equal((await update(fork, developer.visitor)).location, fork.path);
  assert.equal(await flashOf(fork, developer.visitor), 'You are not allowed to push into this branch');
  assert.equal((await headOf(fork.id)).id, before.id);
  assert.match((await fork.owner.visitor.get(fork.path)).text, /Update fork/);
});

test('shows the state to all who may read both, and the buttons to those who may push', async () => {
  const fork = await seedFork();
  await seedUpstream(fork, { 'a.txt': 'x\n' });
  const stranger = await seedVisitor(gantry);
  for (const visitor of [stranger.visitor, openVisitor(gantry)]) {
    const text = await wordsOf(fork, visitor);
    assert.match(text, new RegExp(`1 commit behind ${fork.upstream.full_path}`));
    assert.doesNotMatch(text, /Update fork|Contribute/);
  }
  assert.equal((await update(fork, stranger.visitor)).status, 403);
});

test('hides an upstream that the viewer may not read', async () => {
  const fork = await seedFork('private');
  await seedUpstream(fork, { 'a.txt': 'x\n' });
  const { owner, path, upstream } = fork;
  const before = await owner.visitor.get(path);
  assert.equal(before.status, 200);
  assert.equal(before.text.includes(upstream.full_path), false);
  assert.doesNotMatch(before.text, /behind|Update fork|Contribute/);
  const missing = await seedVisitor(gantry, { project: upstream.id, access_level: 40 });
  const [hidden, none] = [
    await update(fork),
    await missing.visitor.post(`/${upstream.full_path}/-/update_fork`),
  ];
  // The frame around it names the viewer.
  const mainOf = ({ text }: { text: string }): string => /<main[\s\S]*<\/main>/.exec(text)?.[0] ?? '';
  assert.notEqual(mainOf(none), '');
  assert.deepEqual([hidden.status, mainOf(hidden)], [404, mainOf(none)], 'as for a project that is no fork');
  await seedMember(gantry, { user: owner.id, project: upstream.id, access_level: 20 });
  assert.match(await wordsOf(fork), /1 commit behind .* Update fork Contribute/);
});

test('does not copy commits into a fork that more users may read', async () => {
  for (const json of [{ visibility: 'private' }, { repository_access_level: 'private' }]) {
    const fork = await seedFork();
    const { owner, upstream } = fork;
    await seedMember(gantry, { user: owner.id, project: upstream.id, access_level: 40 });
    await gantry.api(`PUT /projects/${upstream.id}`, { json });
    await gantry.api(`PUT /projects/${fork.id}`, { json: { visibility: 'public' } });
    await seedUpstream(fork, { 'secret.txt': 'x\n' });
    const before = await headOf(fork.id);
    assert.doesNotMatch((await owner.visitor.get(fork.path)).text, /Update fork/);
    await update(fork);
    assert.match(await flashOf(fork), /open to more users/);
    assert.equal((await headOf(fork.id)).id, before.id);
  }
});
