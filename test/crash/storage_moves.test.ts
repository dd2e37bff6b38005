/**
 * Kills the service at each step of a repository's move between storages, while branches move. After a restart the
 * move ends by itself, and every acknowledged commit is in the one copy that is left.
 */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { git } from '../support/repositories/git.ts';
import { type Place, type Running, call, newPlace } from './process.ts';

const preload = pathToFileURL(join(import.meta.dirname, '../support/machine/kill_at_effect.ts')).href;
const effects = ['repository.copied', 'repository.read_only', 'repository.verified', 'repository.switched'];

let place: Place;
before(() => {
  place = newPlace();
  place.env['GANTRY_REPOSITORY_STORAGES'] = 'default,other';
});
after(async () => await place.remove());

const commit = async ({ url }: Running, project: string, file: string): Promise<string | null> => {
  const { status, body } = await call(url, `POST /projects/root%2F${project}/repository/commits`, {
    branch: 'main',
    commit_message: file,
    actions: [{ action: 'create', file_path: file, content: file }],
  });
  if (status === 503) return null;
  assert.equal(status, 201, JSON.stringify(body));
  return String(body.id);
};

const repositories = (): string[] => globSync(join(place.data, 'repositories/*/@hashed/*/*/*.git'));

/** Commits until the service dies. @returns the acknowledged commits */
const commitUntilDead = async (running: Running, project: string): Promise<string[]> => {
  const acknowledged: string[] = [];
  for (let number = 0; ; number += 1) {
    const id = await commit(running, project, `n${number}`).catch((error: unknown) => {
      if (error instanceof assert.AssertionError) throw error;
      return undefined;
    });
    if (id === undefined) return acknowledged;
    if (id !== null) acknowledged.push(id);
  }
};

/** Ends the move, and waits until the copy that is left alone is there. */
const endMove = async ({ url }: Running, project: string): Promise<void> => {
  const isOver = async (): Promise<boolean> => {
    const { body } = await call(url, `GET /projects/root%2F${project}/repository_storage_moves`);
    assert.notEqual(body[0].state, 'failed', body[0].error_message);
    return body[0].state === 'finished';
  };
  while (!(await isOver())) await wait(50);
};

for (const effect of effects)
  test(`a move survives when the service is killed at ${effect}`, async () => {
    const project = effect.replace('.', '-');
    const flag = `--import=${preload}?program=service&effect=${effect}`;
    const first = await place.start({ node: [flag] });
    assert.equal((await call(first.url, 'POST /projects', { name: project })).status, 201);
    const begun = await commit(first, project, 'begun');
    const before = repositories().length;
    const line = `POST /projects/root%2F${project}/repository_storage_moves`;
    const moving = call(first.url, line, { destination_storage_name: 'other' });
    const acknowledged = [begun, ...(await commitUntilDead(first, project))];
    assert.equal((await moving).status, 201);
    assert.equal(await first.exit, null, 'it was not killed');

    const second = await place.start();
    await endMove(second, project);
    const last = await commit(second, project, 'last');
    second.signal('SIGKILL');
    await second.exit;
    await place.change("update work set run_at = 0 where name = 'repository.remove_copy'");
    const third = await place.start();
    while (repositories().length > before) await wait(50);
    const all = await Promise.all(
      repositories().map(async (path) => (await git(path, 'rev-list', '--all')).split('\n')),
    );
    const own = all.filter((ids) => ids.includes(begun ?? ''));
    assert.equal(own.length, 1);
    assert.deepEqual(
      [...acknowledged, last].filter((id) => own[0]?.includes(id ?? '') !== true),
      [],
    );
    for (const path of repositories()) await git(path, 'fsck', '--full', '--no-dangling');
    third.signal('SIGKILL');
    await third.exit;
  });
