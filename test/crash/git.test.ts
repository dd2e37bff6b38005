/**
 * Kills the service or its gitd at every durable step of a push, a commit and a merge. After a restart, acknowledged
 * writes exist, and git and the database agree.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, describe, test } from 'node:test';
import {
  type OperationName,
  type GitOperations,
  operationNames,
  momentsOfGitd,
  newGitOperations,
} from './git_operations.ts';
import type { Running } from './process.ts';
import { sample } from '../support/run/sample.ts';

const preload = pathToFileURL(join(import.meta.dirname, '../support/machine/kill_at_effect.ts')).href;

const momentsOfService = ['operation.begun', 'refs.moved', 'operation.completed'];

type Program = 'service' | 'gitd';
const allMoments: { operation: OperationName; program: Program; effect: string }[] = operationNames.flatMap(
  (operation) => [
    ...momentsOfService.map((effect) => ({ operation, program: 'service' as const, effect })),
    ...momentsOfGitd[operation].map((effect) => ({ operation, program: 'gitd' as const, effect })),
  ],
);
const moments = sample(
  allMoments,
  6,
  ({ operation, program, effect }) => `${operation} ${program} ${effect}`,
  ({ operation }) => operation,
);
const projectOf = ({ operation, program, effect }: (typeof moments)[number]): string =>
  `${operation}-${program}-${effect.replace('.', '-')}`;

let operations: GitOperations;
before(async () => {
  operations = await newGitOperations();
  await during([], async ({ url }) => {
    for (const moment of moments) await operations.newProject(url, projectOf(moment));
  });
});
after(async () => await operations.end());

/** Starts the service and stops it after the work, even if the work fails. */
const during = async <T>(node: string[], work: (running: Running) => Promise<T>): Promise<T> => {
  const running = await operations.place.start({ node });
  try {
    return await work(running);
  } finally {
    running.signal('SIGKILL');
    await running.exit;
  }
};

const die = async (moment: (typeof moments)[number]): Promise<void> => {
  const { operation, program, effect } = moment;
  const name = projectOf(moment);
  const flag = `--import=${preload}?program=${program}&effect=${effect}`;
  const acknowledged = await during([flag], async ({ url, exit }) => {
    const done = await operations.attempt(operation, url, name);
    if (program === 'service') assert.equal(await exit, null, 'it was not killed');
    return done;
  });
  await during([], async ({ url }) => await operations.check(operation, url, name, acknowledged));
};

for (const operation of operationNames) {
  describe(`a ${operation}`, () => {
    for (const moment of moments.filter((one) => one.operation === operation)) {
      test(`survives when ${moment.program} is killed at ${moment.effect}`, async () => await die(moment));
    }
  });
}

test('leaves every repository intact', async () => {
  await during([], async ({ url }) => await operations.checkRepositories(url));
});
