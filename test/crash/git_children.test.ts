/**
 * Kills the git processes of a running gitd at every durable step of a push, a commit and a merge, as the kernel does
 * when memory is short. Nothing has to be restarted.
 */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, describe, test } from 'node:test';
import { type Deeds, deedNames, momentsOfGitd, newDeeds } from './deeds.ts';
import type { Running } from './process.ts';

const preload = pathToFileURL(join(import.meta.dirname, '../support/machine/kill_gitd_children.ts')).href;

let deeds: Deeds;
let running: Running;
/** The file that names the next step; it is deleted when the step is reached. */
let order: string;
before(async () => {
  deeds = await newDeeds();
  order = `${deeds.place.data}-kill`;
  running = await deeds.place.start({ node: [`--import=${preload}?order=${order}`] });
});
after(async () => {
  running.signal('SIGKILL');
  await running.exit;
  await deeds.end();
});

for (const deed of deedNames) {
  describe(`a ${deed}`, () => {
    for (const moment of momentsOfGitd[deed]) {
      test(`survives when git is killed at ${moment}`, async () => {
        const name = `${deed}-${moment.replace('.', '-')}`;
        await deeds.newProject(running.url, name);
        writeFileSync(order, moment);
        const acknowledged = await deeds.attempt(deed, running.url, name);
        assert.equal(existsSync(order), false, 'nothing was killed');
        await deeds.check(deed, running.url, name, acknowledged);
      });
    }
  });
}

test('leaves every repository intact', async () => await deeds.checkRepositories(running.url));
