/**
 * The service or its gitd is killed at every moment at which a push, a commit or a merge has just lasted somewhere:
 * after the next start, what was acknowledged is there, and git and the database tell the same.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { type WorkTree, git, newWorkTree, repositoryUrl, tryGit } from '../support/git.ts';
import { type Place, type Running, call, newPlace, token } from './process.ts';

const preload = pathToFileURL(join(import.meta.dirname, '../support/kill_at.ts')).href;

const effects = {
  service: ['operation.begun', 'refs.moved', 'operation.completed'],
  gitd: ['objects.written', 'push.received', 'refs.prepared', 'refs.committed', 'refs.durable'],
} as const;

type Deed = 'push' | 'commit' | 'merge';

/** Moments that a deed does not come by: a push brings its objects itself, and its refs are moved by git. */
const unknown: Record<Deed, readonly string[]> = {
  push: ['objects.written', 'refs.prepared'],
  commit: ['push.received'],
  merge: ['push.received'],
};

let place: Place;
let tree: WorkTree;

const ok = async (url: string, line: string, json?: object) => {
  const { status, body } = await call(url, line, json);
  assert.ok(status < 300, `${line}: ${status} ${JSON.stringify(body)}`);
  return body;
};

const untilEmpty = async (what: string, query: string): Promise<void> => {
  for (let tries = 0; tries < 300; tries += 1) {
    if ((await place.query(query)).length === 0) return;
    await pause(100);
  }
  assert.fail(`there is still ${what}: ${JSON.stringify(await place.query(query))}`);
};

const names = new Set<string>();

const newProject = async (url: string, name: string): Promise<string> => {
  names.add(name);
  const { id } = await ok(url, 'POST /projects', { name });
  const path = `/projects/root%2F${name}`;
  const commits = `POST ${path}/repository/commits`;
  const create = (file_path: string, content: string) => ({ action: 'create', file_path, content });
  await ok(url, commits, { branch: 'main', commit_message: 'First', actions: [create('one', '1')] });
  await ok(url, commits, {
    branch: 'turn',
    start_branch: 'main',
    commit_message: 'Turn',
    actions: [create('two', '2')],
  });
  await ok(url, `POST ${path}/issues`, { title: 'It does not turn' });
  await ok(url, `POST ${path}/merge_requests`, {
    source_branch: 'turn',
    target_branch: 'main',
    title: 'Turn',
    description: 'Closes #1',
  });
  const folder = join(tree.path, name);
  await git(tree.path, 'clone', '--quiet', repositoryUrl(url, `root/${name}`, token), folder);
  await git(folder, 'commit', '--quiet', '--allow-empty', '--message', 'Pushed');
  // What another project's service was killed at waits for its lease to end.
  await untilEmpty('work', `select name, last_error from work where payload like '%"project_id":${id},%'`);
  return path;
};

/** Does it, and answers whether it was acknowledged. */
const deeds: Record<Deed, (url: string, name: string, path: string) => Promise<boolean>> = {
  push: async (url, name) => {
    const to = repositoryUrl(url, `root/${name}`, token);
    return (await tryGit(join(tree.path, name), ['push', '--quiet', to, 'main'])).code === 0;
  },
  commit: async (url, _name, path) => {
    const json = {
      branch: 'main',
      commit_message: 'Committed',
      actions: [{ action: 'create', file_path: 'three', content: '3' }],
    };
    const answer = await call(url, `POST ${path}/repository/commits`, json).catch(() => null);
    return answer?.status === 201;
  },
  merge: async (url, _name, path) => {
    const answer = await call(url, `PUT ${path}/merge_requests/1/merge`).catch(() => null);
    return answer?.status === 200;
  },
};

const titles = async (url: string, path: string): Promise<string[]> =>
  ((await ok(url, `GET ${path}/repository/commits?ref_name=main`)) as { title: string }[]).map(
    ({ title }) => title,
  );

/** Whether main has what the deed brings. */
const isThere: Record<Deed, (titles: string[]) => boolean> = {
  push: (all) => all.includes('Pushed'),
  commit: (all) => all.includes('Committed'),
  merge: (all) => all.includes('Turn'),
};

const check = async (url: string, name: string, deed: Deed, acknowledged: boolean): Promise<void> => {
  const path = `/projects/root%2F${name}`;
  await untilEmpty('an operation', "select * from git_operations where process <> 'dropped'");
  const there = isThere[deed](await titles(url, path));
  if (acknowledged) assert.ok(there, 'what was acknowledged is gone');
  const request = await ok(url, `GET ${path}/merge_requests/1`);
  assert.equal(request.state, deed === 'merge' && there ? 'merged' : 'opened');
  assert.equal(
    (await ok(url, `GET ${path}/issues/1`)).state,
    request.state === 'merged' ? 'closed' : 'opened',
  );
  const branch = await ok(url, `GET ${path}/repository/branches/main`);
  const [project] = await place.query(`select id from projects where path = '${name}'`);
  const events = await place.query(
    `select data from events where project_id = ${project?.['id']} and kind like 'ref.%'`,
  );
  const told = events.map(({ data }) => (JSON.parse(String(data)) as { after: string }).after);
  assert.equal(
    told.filter((sha) => sha === branch.commit.id).length,
    1,
    'the last move of main is told once',
  );
  if (request.state === 'merged') assert.equal(request.merge_commit_sha, branch.commit.id);
  // It can be done again, or goes on: no lock is left.
  await ok(url, `POST ${path}/repository/commits`, {
    branch: 'main',
    commit_message: 'Afterwards',
    actions: [{ action: 'create', file_path: 'afterwards', content: '' }],
  });
};

before(async () => {
  place = newPlace();
  tree = await newWorkTree();
});
after(async () => {
  await place.remove();
  await tree.remove();
});

/** Starts it, and ends it after the work, whatever comes of that. */
const during = async <T>(node: string[], work: (running: Running) => Promise<T>): Promise<T> => {
  const running = await place.start({ node });
  try {
    return await work(running);
  } finally {
    running.signal('SIGKILL');
    await running.exit;
  }
};

const die = async (deed: Deed, program: keyof typeof effects, effect: string): Promise<void> => {
  const name = `${deed}-${program}-${effect.replace('.', '-')}`;
  const path = await during([], async ({ url }) => await newProject(url, name));
  const flag = `--import=${preload}?program=${program}&effect=${effect}`;
  const acknowledged = await during([flag], async ({ url, exit }) => {
    const done = await deeds[deed](url, name, path);
    if (program === 'service') assert.equal(await exit, null, 'it was not killed');
    return done;
  });
  await during([], async ({ url }) => await check(url, name, deed, acknowledged));
};

for (const deed of ['push', 'commit', 'merge'] as const) {
  describe(`a ${deed}`, () => {
    for (const [program, moments] of Object.entries(effects)) {
      for (const effect of moments.filter((moment) => !unknown[deed].includes(moment))) {
        test(`${program} is killed at ${effect}`, async () => {
          await die(deed, program as keyof typeof effects, effect);
        });
      }
    }
  });
}

test('every repository is whole', async () => {
  const last = await place.start();
  for (const name of names) {
    const folder = join(tree.path, `whole-${name}`);
    await git(
      tree.path,
      'clone',
      '--quiet',
      '--mirror',
      repositoryUrl(last.url, `root/${name}`, token),
      folder,
    );
    await git(folder, 'fsck', '--strict', '--full');
  }
});
