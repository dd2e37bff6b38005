/**
 * The git processes of a gitd that goes on are killed at every moment at which a push, a commit or a merge has just
 * lasted somewhere, as one is that needs too much memory: nobody has to start anything again.
 */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, describe, test } from 'node:test';
import { type Deeds, deedNames, momentsOfGitd, newDeeds } from './deeds.ts';
import type { Running } from './process.ts';

const preload = pathToFileURL(join(import.meta.dirname, '../support/kill_git_at.ts')).href;

let deeds: Deeds;
let running: Running;
/** Names the next moment; goes when it has come. */
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
      test(`git is killed at ${moment}`, async () => {
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

test('every repository is whole', async () => await deeds.checkRepositories(running.url));
