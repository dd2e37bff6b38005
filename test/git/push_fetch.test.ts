/** Clone, fetch and push with git over HTTP. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type WorkTree, git, newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { type SeededProject, seedMember, seedProject, seedUser, unique } from '../support/seed.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { openRepository } from '../support/repositories/seed_commits.ts';

let gantry: TestService;
let folder: string;
const trees: WorkTree[] = [];
before(async () => {
  gantry = await startTestService();
  folder = await mkdtemp(join(tmpdir(), 'gantry-clones-'));
});
after(async () => {
  await gantry.close();
  await Promise.all(trees.map(async (tree) => await tree.remove()));
  await rm(folder, { recursive: true, force: true });
});

const urlOf = (project: { full_path: string }, token: string | null = rootToken): string =>
  repositoryUrl(gantry.url, project.full_path, token);

const newTree = async (): Promise<WorkTree> => {
  const tree = await newWorkTree();
  trees.push(tree);
  return tree;
};

/** A project with some commits on `main`, and the tree that they come of. */
const pushed = async (commits = 3): Promise<{ project: SeededProject; tree: WorkTree; ids: string[] }> => {
  const [project, tree] = [await seedProject(gantry), await newTree()];
  const ids: string[] = [];
  for (let at = 0; at < commits; at += 1)
    ids.push(await tree.commit(`Commit ${at}`, { [`file-${at}.txt`]: `text ${at}\n`.repeat(100) }));
  await tree.git('remote', 'add', 'origin', urlOf(project));
  await tree.git('push', '--quiet', 'origin', 'main');
  return { project, tree, ids };
};

const cloned = async (url: string, ...options: string[]): Promise<string> => {
  const clone = join(folder, unique('clone'));
  await git(folder, ...options, 'clone', '--quiet', url, clone);
  return clone;
};

const rows = async () =>
  await gantry.service.platform.store.db.selectFrom('git_operations').selectAll().execute();

test('makes the first pushed branch the protected default branch, which a clone checks out', async () => {
  const [project, tree] = [await seedProject(gantry), await newTree()];
  const id = await tree.commit('First', { 'a.txt': 'a\n' });
  await tree.git('push', '--quiet', urlOf(project), 'HEAD:refs/heads/trunk');
  const clone = await cloned(urlOf(project, null));
  assert.equal(await git(clone, 'rev-parse', 'HEAD'), id);
  assert.equal(await git(clone, 'symbolic-ref', 'HEAD'), 'refs/heads/trunk');
  const { body } = await gantry.api(`GET /projects/${project.id}`);
  assert.equal(body.default_branch, 'trunk');
  const { db } = gantry.service.platform.store;
  const protectedNames = await db
    .selectFrom('protected_branches')
    .select('name')
    .where('project_id', '=', project.id)
    .execute();
  assert.deepEqual(
    protectedNames.map(({ name }) => name),
    ['trunk'],
  );
  assert.deepEqual(await rows(), []);
});

test('protects the first branch as the instance is configured', async () => {
  const [developer, tree] = [await seedUser(gantry), await newTree()];
  const [first, second] = [await tree.commit('First', {}), await tree.commit('Second', {})];
  const refused = /You are not allowed to (?:force )?push code to (?:a )?protected branch/;
  const pushes = async (level: number): Promise<boolean[]> => {
    const json = { default_branch_protection: level };
    assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);
    const project = await seedProject(gantry);
    await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
    const push = async (change: string): Promise<boolean> => {
      const { code, stderr } = await tryGit(tree.path, ['push', urlOf(project, developer.token), change]);
      assert.ok(code === 0 || refused.test(stderr), stderr);
      return code === 0;
    };
    await tree.git('push', '--quiet', urlOf(project), `${first}:refs/heads/main`);
    return [await push(`${second}:refs/heads/main`), await push(`+${first}:refs/heads/main`)];
  };
  assert.deepEqual(await pushes(0), [true, true]);
  assert.deepEqual(await pushes(1), [true, false]);
  // A push that does not move the ref is not forced.
  assert.deepEqual(await pushes(2), [false, true]);
});

test('clones an empty project as empty, on the default branch of the instance', async () => {
  const project = await seedProject(gantry);
  const clone = await cloned(urlOf(project, null));
  assert.equal(await git(clone, 'symbolic-ref', 'HEAD'), 'refs/heads/main');
  assert.equal((await tryGit(clone, ['rev-parse', '--verify', 'HEAD'])).code, 128);
  const repository = await openRepository(gantry, project.id);
  assert.deepEqual(await repository.ask('repository.exists', {}), { exists: false });
});

test('clones, fetches and pushes alike in every protocol version', async () => {
  const { project, tree } = await pushed();
  for (const version of ['0', '1', '2']) {
    const setting = ['-c', `protocol.version=${version}`];
    const clone = await cloned(urlOf(project), ...setting);
    const id = await tree.commit(`For version ${version}`, { 'v.txt': version });
    await tree.git(...setting, 'push', '--quiet', 'origin', 'main');
    await git(clone, ...setting, 'fetch', '--quiet');
    assert.equal(await git(clone, 'rev-parse', 'origin/main'), id);
    await git(clone, 'fsck', '--strict');
  }
});

test('clones without history or blobs, and fetches them later', async () => {
  const { project } = await pushed(5);
  const shallow = await cloned(urlOf(project), '-c', 'protocol.version=2');
  await rm(shallow, { recursive: true });
  await git(folder, 'clone', '--quiet', '--depth=2', urlOf(project), shallow);
  assert.equal(await git(shallow, 'rev-list', '--count', 'HEAD'), '2');
  await git(shallow, 'fetch', '--quiet', '--unshallow');
  assert.equal(await git(shallow, 'rev-list', '--count', 'HEAD'), '5');

  const partial = join(folder, unique('partial'));
  await git(folder, 'clone', '--quiet', '--filter=blob:none', '--no-checkout', urlOf(project), partial);
  const missing = await git(partial, 'rev-list', '--objects', '--all', '--missing=print');
  assert.equal(missing.split('\n').filter((line) => line.startsWith('?')).length, 5);
  await git(partial, 'checkout', '--quiet', 'main');
  // A blob of an older commit is reachable, too.
  assert.match(await git(partial, 'show', 'HEAD~4:file-0.txt'), /^text 0/);
});

test('decompresses a gzipped fetch with a long negotiation', async () => {
  const { project, tree } = await pushed(1);
  const clone = await cloned(urlOf(project));
  // Commits that the service does not know are told in the negotiation, the newest first: by their date
  // all come before the one that both have, which would end it.
  const later = { GIT_COMMITTER_DATE: '2090-01-01T00:00:00Z' };
  for (let at = 0; at < 40; at += 1)
    await tryGit(clone, ['commit', '--quiet', '--allow-empty', '-m', `own ${at}`], later);
  const id = await tree.commit('More', { 'more.txt': 'more\n' });
  await tree.git('push', '--quiet', 'origin', 'main');
  const trace = join(folder, unique('trace'));
  const { code, stderr } = await tryGit(clone, ['fetch', '--quiet'], { GIT_TRACE_CURL: trace });
  assert.equal(code, 0, stderr);
  assert.equal(await git(clone, 'rev-parse', 'origin/main'), id);
  assert.match(await readFile(trace, 'utf8'), /content-encoding: gzip/i);
});

test('accepts a chunked push after an empty probe request', async () => {
  const { project, tree } = await pushed(1);
  const noise = Array.from({ length: 20_000 }, () => Math.random().toString(36)).join('\n');
  const id = await tree.commit('Large', { 'noise.txt': noise });
  await tree.git('-c', 'http.postBuffer=65536', 'push', '--quiet', 'origin', 'main');
  const clone = await cloned(urlOf(project));
  assert.equal(await git(clone, 'rev-parse', 'HEAD'), id);
});

test('answers the empty probe request and creates no repository', async () => {
  const project = await seedProject(gantry);
  for (const service of ['git-upload-pack', 'git-receive-pack']) {
    const response = await fetch(`${gantry.url}/${project.full_path}.git/${service}`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`x:${rootToken}`).toString('base64')}`,
        'content-type': `application/x-${service}-request`,
      },
      body: '0000',
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), `application/x-${service}-result`);
    assert.equal(await response.text(), '');
  }
  const repository = await openRepository(gantry, project.id);
  assert.deepEqual(await repository.ask('repository.exists', {}), { exists: false });
});

test('accepts an unchunked push of several megabytes', async () => {
  const { project, tree } = await pushed(1);
  const noise = randomBytes(3_000_000).toString('base64');
  const id = await tree.commit('Large', { 'noise.txt': noise });
  await tree.git('-c', 'http.postBuffer=100000000', 'push', '--quiet', 'origin', 'main');
  assert.equal((await git(folder, 'ls-remote', urlOf(project), 'HEAD')).slice(0, 40), id);
});

test('creates, moves and deletes branches and tags, with events', async () => {
  const { project, tree, ids } = await pushed();
  await tree.git('push', '--quiet', 'origin', 'main:topic', 'main~1:refs/heads/a/b');
  await tree.git('tag', '-a', 'v1', '-m', 'One');
  await tree.git('push', '--quiet', 'origin', 'v1');
  await tree.git('push', '--quiet', '--force', 'origin', 'main~1:topic');
  await tree.git('push', '--quiet', 'origin', ':a/b');
  const listed = await git(folder, 'ls-remote', urlOf(project));
  const tag = await tree.git('rev-parse', 'v1');
  assert.deepEqual(
    listed.split('\n').map((line) => line.split('\t')),
    [
      [ids[2], 'HEAD'],
      [ids[2], 'refs/heads/main'],
      [ids[1], 'refs/heads/topic'],
      [tag, 'refs/tags/v1'],
      [ids[2], 'refs/tags/v1^{}'],
    ],
  );
  const events = await gantry.service.platform.store.db
    .selectFrom('events')
    .select(['kind', 'data'])
    .where('project_id', '=', project.id)
    .orderBy('id')
    .execute();
  const told = events.map(({ kind, data }) => `${kind} ${JSON.parse(data).ref}`);
  assert.deepEqual(told, [
    'ref.created refs/heads/main',
    'ref.created refs/heads/topic',
    'ref.created refs/heads/a/b',
    'ref.created refs/tags/v1',
    'ref.updated refs/heads/topic',
    'ref.deleted refs/heads/a/b',
  ]);
});

test('pushes and fetches notes without an event', async () => {
  const { project, tree } = await pushed();
  await tree.git('notes', 'add', '-m', 'A note', 'HEAD');
  await tree.git('push', '--quiet', 'origin', 'refs/notes/commits');
  const clone = await cloned(urlOf(project));
  await git(clone, 'fetch', '--quiet', 'origin', 'refs/notes/*:refs/notes/*');
  assert.equal(await git(clone, 'notes', 'show', 'HEAD'), 'A note');
  const events = gantry.service.platform.store.db.selectFrom('events').select('id');
  assert.equal((await events.where('project_id', '=', project.id).execute()).length, 1);
  assert.deepEqual(await rows(), []);
});

test('serves the default branch of the project, whatever it was before', async () => {
  const { project, tree } = await pushed();
  await tree.git('push', '--quiet', 'origin', 'main:other');
  assert.match(await git(folder, 'ls-remote', '--symref', urlOf(project), 'HEAD'), /^ref: refs\/heads\/main/);
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.updateTable('projects').set({ default_branch: 'other' }).where('id', '=', project.id).execute();
  });
  for (const version of ['0', '2']) {
    const shown = await git(
      folder,
      '-c',
      `protocol.version=${version}`,
      'ls-remote',
      '--symref',
      urlOf(project),
      'HEAD',
    );
    assert.match(shown, /^ref: refs\/heads\/other/);
  }
});

test('prints addresses of existing pages in the answer to a push', async () => {
  const { project, tree } = await pushed();
  const first = await tryGit(tree.path, ['push', 'origin', 'main:topic/one']);
  const json = { source_branch: 'topic/one', target_branch: 'main', title: 'One' };
  await tree.commit('More', {});
  assert.equal((await gantry.api(`POST /projects/${project.id}/merge_requests`, { json })).status, 201);
  const again = await tryGit(tree.path, ['push', 'origin', 'main:topic/one']);
  assert.match(again.stderr, /remote: View merge request for topic\/one:/);
  const urls = `${first.stderr}${again.stderr}`.match(/^remote: +http\S+/gm) ?? [];
  for (const line of urls) {
    const { status } = await fetch(line.replace(/^remote: +/, ''), { redirect: 'manual' });
    assert.notEqual(status, 404, line);
  }
  const last = await tryGit(tree.path, ['push', 'origin', 'main']);
  assert.doesNotMatch(last.stderr, /remote:/);
});

test('serves twenty concurrent clones whole, and packs for one of them', async () => {
  const { project, ids } = await pushed(10);
  const packs = (): number =>
    readdirSync(join(gantry.service.platform.config.data, 'repositories/default/+transport/packs')).length;
  await git(folder, 'clone', '--quiet', '--depth=1', urlOf(project), join(folder, unique('other')));
  const before = packs();
  const all = await Promise.all(Array.from({ length: 20 }, async () => await cloned(urlOf(project))));
  assert.equal(packs(), before + 1);
  for (const clone of all) assert.equal(await git(clone, 'rev-parse', 'HEAD'), ids.at(-1));
});

test('lets a user push and fetch according to a custom role', async () => {
  const { project, tree } = await pushed();
  const developer = await seedUser(gantry);
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  await tree.commit('By a developer', {});
  await tree.git('push', '--quiet', urlOf(project, developer.token), 'main:refs/heads/feature');
});
