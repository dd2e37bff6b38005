/**
 * Kills the service or its gitd at every durable step of a push, a commit and a merge. After a restart, acknowledged
 * writes exist, and git and the database agree.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, describe, test } from 'node:test';
import { type Deed, type Deeds, deedNames, momentsOfGitd, newDeeds } from './deeds.ts';
import type { Running } from './process.ts';
import { sample } from '../support/run/sample.ts';

const preload = pathToFileURL(join(import.meta.dirname, '../support/machine/kill_at_effect.ts')).href;

const momentsOfService = ['operation.begun', 'refs.moved', 'operation.completed'];

type Program = 'service' | 'gitd';
const allMoments: { deed: Deed; program: Program; effect: string }[] = deedNames.flatMap((deed) => [
  ...momentsOfService.map((effect) => ({ deed, program: 'service' as const, effect })),
  ...momentsOfGitd[deed].map((effect) => ({ deed, program: 'gitd' as const, effect })),
]);
const moments = sample(
  allMoments,
  6,
  ({ deed, program, effect }) => `${deed} ${program} ${effect}`,
  ({ deed }) => deed,
);
const projectOf = ({ deed, program, effect }: (typeof moments)[number]): string =>
  `${deed}-${program}-${effect.replace('.', '-')}`;

let deeds: Deeds;
before(async () => {
  deeds = await newDeeds();
  await during([], async ({ url }) => {
    for (const moment of moments) await deeds.newProject(url, projectOf(moment));
  });
});
after(async () => await deeds.end());

/** Starts the service and stops it after the work, even if the work fails. */
const during = async <T>(node: string[], work: (running: Running) => Promise<T>): Promise<T> => {
  const running = await deeds.place.start({ node });
  try {
    return await work(running);
  } finally {
    running.signal('SIGKILL');
    await running.exit;
  }
};

const die = async (moment: (typeof moments)[number]): Promise<void> => {
  const { deed, program, effect } = moment;
  const name = projectOf(moment);
  const flag = `--import=${preload}?program=${program}&effect=${effect}`;
  const acknowledged = await during([flag], async ({ url, exit }) => {
    const done = await deeds.attempt(deed, url, name);
    if (program === 'service') assert.equal(await exit, null, 'it was not killed');
    return done;
  });
  await during([], async ({ url }) => await deeds.check(deed, url, name, acknowledged));
};

for (const deed of deedNames) {
  describe(`a ${deed}`, () => {
    for (const moment of moments.filter((one) => one.deed === deed)) {
      test(`survives when ${moment.program} is killed at ${moment.effect}`, async () => await die(moment));
    }
  });
}

test('leaves every repository intact', async () => {
  await during([], async ({ url }) => await deeds.checkRepositories(url));
});
