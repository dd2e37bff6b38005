/**
 * Every parameter, header, file name and body shape with a fragment n and 2n times, and arrays of n and 2n elements: the CPU that the service takes may
 * grow at most 2.5 times. What costs less than a floor at its full length is bounded by that. A seeded sample runs
 * each time, all of it on SQLite in `npm run test:all`. Pages are asked in `repetition_pages.test.ts`.
 */
import { test } from 'node:test';
import { endpoints } from '../../src/app/routes.ts';
import { isWhole, seed } from '../support/run/sample.ts';
import { compositeProbes } from './composite_probes.ts';
import { fileDoorsOf, fileNameProbes } from './file_names.ts';
import { type Probe, elementProbesOf, probesOf } from './fragments.ts';
import { openGrowthWorld, token } from './growth_world.ts';
import { headerProbes, targetProbes } from './header_probes.ts';
import { bodyProbes } from './repeated_bodies.ts';

const openWorld = openGrowthWorld();

/** Requests that break the following ones; they run last. */
const last =
  /^(?:DELETE|POST \/(?:users\/:id\/block|projects\/:id\/(?:archive|transfer))|PUT \/application\/settings)/;
const lineOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;

/** Long runs: milliseconds. */
const timeout = 7_200_000;

test('headers', { timeout }, async () => {
  const { checkAll } = await openWorld();
  await checkAll(headerProbes, {}, 0.2);
  if (isWhole) await checkAll(headerProbes, token);
});

const testShare = (name: string, probes: Probe[], share: number): void =>
  void test(name, { timeout }, async () => {
    const { checkAll } = await openWorld();
    await checkAll(probes, token, share);
  });

testShare('paths and queries', targetProbes, 0.1);
testShare('parameters that hold records', compositeProbes, 0.1);
testShare('shapes of bodies', bodyProbes, 0.1);

test('names of files', { timeout }, async () => {
  const { checkAll, places } = await openWorld();
  await checkAll(fileNameProbes(fileDoorsOf(endpoints, places, seed)), token, 0.1);
});

test('elements of arrays', { timeout }, async () => {
  const { checkAll, places } = await openWorld();
  const all = (endpoints as never[]).flatMap((one) => elementProbesOf(one, places, seed));
  await checkAll(
    all.filter(({ name }) => !last.test(name)),
    token,
    0.2,
  );
});

test('parameters of endpoints', { timeout }, async () => {
  const { checkAll, places } = await openWorld();
  const { first = [], later = [] } = Object.groupBy(endpoints as never[], (one) =>
    last.test(lineOf(one)) ? 'later' : 'first',
  );
  const probes = [...first, ...later].flatMap((one) => probesOf(one, places, seed));
  await checkAll(probes, token);
});
