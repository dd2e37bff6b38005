/**
 * Operations that tests interrupt by killing a process: a push, a commit and a merge, each in a project of its own,
 * and the checks afterwards.
 */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type WorkTree, git, newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { findFaults } from './invariants.ts';
import { type Place, call, engine, newPlace, token } from './process.ts';

export const operationNames = ['push', 'commit', 'merge'] as const;
export type OperationName = (typeof operationNames)[number];

/** Effects of gitd during an operation: a push uploads its objects itself, and git moves its refs. */
export const momentsOfGitd: Record<OperationName, readonly string[]> = {
  push: ['push.received', 'refs.committed', 'refs.durable'],
  commit: ['objects.written', 'refs.prepared', 'refs.committed', 'refs.durable'],
  merge: ['objects.written', 'refs.prepared', 'refs.committed', 'refs.durable'],
};

export type GitOperations = {
  place: Place;
  /** Creates a project with what the operation needs. @returns its path in the API */
  newProject: (url: string, name: string) => Promise<string>;
  /** Runs the operation; returns whether it was acknowledged. */
  attempt: (operation: OperationName, url: string, name: string) => Promise<boolean>;
  /** Checks that acknowledged writes exist, git and the database agree, and the project is usable. */
  check: (operation: OperationName, url: string, name: string, acknowledged: boolean) => Promise<void>;
  /** Checks that every repository is intact, both cloned and on disk. */
  checkRepositories: (url: string) => Promise<void>;
  end: () => Promise<void>;
};

const pathOf = (name: string): string => `/projects/root%2F${name}`;

const ok = async (url: string, line: string, json?: object) => {
  const { status, body } = await call(url, line, json);
  assert.ok(status < 300, `${line}: ${status} ${JSON.stringify(body)}`);
  return body;
};

const create = (file_path: string) => ({ action: 'create', file_path, content: file_path });

const commit = (branch: string, commit_message: string, file_path: string) => ({
  branch,
  commit_message,
  actions: [create(file_path)],
});

/** A project with an issue, and a merge request that closes it. */
const fill = async (url: string, name: string): Promise<number> => {
  const { id } = await ok(url, 'POST /projects', { name });
  const path = pathOf(name);
  const commits = `POST ${path}/repository/commits`;
  await ok(url, commits, commit('main', 'First', 'one'));
  await ok(url, commits, { ...commit('turn', 'Turn', 'two'), start_branch: 'main' });
  await ok(url, `POST ${path}/issues`, { title: 'It does not turn' });
  await ok(url, `POST ${path}/merge_requests`, {
    source_branch: 'turn',
    target_branch: 'main',
    title: 'Turn',
    description: 'Closes #1',
  });
  return id;
};

const attempts: Record<OperationName, (url: string, name: string, folder: string) => Promise<boolean>> = {
  push: async (url, name, folder) => {
    const to = repositoryUrl(url, `root/${name}`, token);
    return (await tryGit(folder, ['push', '--quiet', to, 'main'])).code === 0;
  },
  commit: async (url, name) => {
    const line = `POST ${pathOf(name)}/repository/commits`;
    const answer = await call(url, line, commit('main', 'Committed', 'three')).catch(() => null);
    return answer?.status === 201;
  },
  merge: async (url, name) => {
    const answer = await call(url, `PUT ${pathOf(name)}/merge_requests/1/merge`).catch(() => null);
    return answer?.status === 200;
  },
};

/** Title of the commit that brings the operation's change to main. */
const brought: Record<OperationName, string> = { push: 'Pushed', commit: 'Committed', merge: 'Turn' };

/** Waits until a query returns no rows: for minutes, since work of a killed process is taken over late. */
export const untilEmpty = async ({ query }: Place, what: string, text: string): Promise<void> => {
  for (let tries = 0; tries < 1_800; tries += 1) {
    if ((await query(text)).length === 0) return;
    await wait(100);
  }
  assert.fail(`there is still ${what}: ${JSON.stringify(await query(text))}`);
};

const isOnMain = async (url: string, name: string, title: string): Promise<boolean> => {
  const commits = await ok(url, `GET ${pathOf(name)}/repository/commits?ref_name=main`);
  return (commits as { title: string }[]).some((one) => one.title === title);
};

/** The request is merged and its issue closed if, and only if, main has its commits. */
const checkRequest = async (url: string, name: string, isMerged: boolean): Promise<void> => {
  const request = await ok(url, `GET ${pathOf(name)}/merge_requests/1`);
  const issue = await ok(url, `GET ${pathOf(name)}/issues/1`);
  assert.deepEqual([request.state, issue.state], isMerged ? ['merged', 'closed'] : ['opened', 'opened']);
  const main = await ok(url, `GET ${pathOf(name)}/repository/branches/main`);
  if (isMerged) assert.equal(request.merge_commit_sha, main.commit.id);
};

const checkEvents = async (place: Place, url: string, name: string): Promise<void> => {
  const main = await ok(url, `GET ${pathOf(name)}/repository/branches/main`);
  const [project] = await place.query(`select id from projects where path = '${name}'`);
  const events = await place.query(
    `select data from events where project_id = ${project?.['id']} and kind like 'ref.%'`,
  );
  const told = events.map(({ data }) => (JSON.parse(String(data)) as { after: string }).after);
  assert.equal(told.filter((sha) => sha === main.commit.id).length, 1, 'the last move of main is told once');
};

const fsck = async (tree: WorkTree, place: Place, url: string, names: readonly string[]): Promise<void> => {
  for (const name of names) {
    const folder = join(tree.path, `whole-${name}`);
    const from = repositoryUrl(url, `root/${name}`, token);
    await git(tree.path, 'clone', '--quiet', '--mirror', from, folder);
    await git(folder, 'fsck', '--strict', '--full');
  }
  const stored = globSync(join(place.data, '**/@hashed/**/*.git/config')).map((config) => join(config, '..'));
  assert.equal(stored.length, names.length);
  for (const folder of stored) await git(folder, 'fsck', '--full', '--no-dangling');
};

export const newGitOperations = async (): Promise<GitOperations> => {
  const [place, tree] = [newPlace(), await newWorkTree()];
  const names: string[] = [];
  return {
    place,
    newProject: async (url, name) => {
      names.push(name);
      const id = await fill(url, name);
      const folder = join(tree.path, name);
      await git(tree.path, 'clone', '--quiet', repositoryUrl(url, `root/${name}`, token), folder);
      await git(folder, 'commit', '--quiet', '--allow-empty', '--message', 'Pushed');
      // Work that was killed repeatedly waits for its lease to expire.
      const ours = `payload like '%"project_id":${id},%'`;
      await untilEmpty(place, 'work', `select name, last_error from work where ${ours}`);
      return pathOf(name);
    },
    attempt: async (operation, url, name) => await attempts[operation](url, name, join(tree.path, name)),
    check: async (operation, url, name, acknowledged) => {
      const open = "select * from git_operations where process <> 'dropped'";
      await untilEmpty(place, 'an operation', open);
      const isThere = await isOnMain(url, name, brought[operation]);
      if (acknowledged) assert.ok(isThere, 'what was acknowledged is gone');
      await checkRequest(url, name, operation === 'merge' && isThere);
      await checkEvents(place, url, name);
      assert.deepEqual(await findFaults(place, engine), []);
      // The project is usable: no lock remains.
      await ok(url, `POST ${pathOf(name)}/repository/commits`, commit('main', 'Afterwards', 'afterwards'));
    },
    checkRepositories: async (url) => await fsck(tree, place, url, names),
    end: async () => {
      await place.remove();
      await tree.remove();
    },
  };
};
