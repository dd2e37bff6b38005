/**
 * Kills the git processes of a running gitd at every durable step of a push, a commit and a merge, as the kernel does
 * when memory is short. Nothing has to be restarted.
 */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, describe, test } from 'node:test';
import { type GitOperations, operationNames, momentsOfGitd, newGitOperations } from './git_operations.ts';
import type { Running } from './process.ts';

const preload = pathToFileURL(join(import.meta.dirname, '../support/machine/kill_gitd_children.ts')).href;

let operations: GitOperations;
let running: Running;
/** The file that names the next step; it is deleted when the step is reached. */
let order: string;
before(async () => {
  operations = await newGitOperations();
  order = `${operations.place.data}-kill`;
  running = await operations.place.start({ node: [`--import=${preload}?order=${order}`] });
});
after(async () => {
  running.signal('SIGKILL');
  await running.exit;
  await operations.end();
});

for (const operation of operationNames) {
  describe(`a ${operation}`, () => {
    for (const moment of momentsOfGitd[operation]) {
      test(`survives when git is killed at ${moment}`, async () => {
        const name = `${operation}-${moment.replace('.', '-')}`;
        await operations.newProject(running.url, name);
        writeFileSync(order, moment);
        const acknowledged = await operations.attempt(operation, running.url, name);
        assert.equal(existsSync(order), false, 'nothing was killed');
        await operations.check(operation, running.url, name, acknowledged);
      });
    }
  });
}

test('leaves every repository intact', async () => await operations.checkRepositories(running.url));
