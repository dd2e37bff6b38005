/** Every parameter of every page with a fragment n and 2n times, as `repetition.test.ts` asks endpoints. */
import { test } from 'node:test';
import { pagePaths } from '../../src/doors/web/routes.ts';
import { isDrawn, seed } from '../support/run/sample.ts';
import { fileDoorsOf, fileNameProbes } from './file_names.ts';
import { elementProbesOf, probesOf } from './fragments.ts';
import { openGrowthWorld } from './growth_world.ts';

const openWorld = openGrowthWorld();

const loadPages = async () => {
  const loaded = await Promise.all(pagePaths.map(async ({ load }) => await load()));
  return [...new Set(loaded.flat())].filter(
    ({ path }) => !/^\/users\/sign_out|profile\/(?:password|sessions)/.test(path),
  );
};

// The service and its records are made for these tests alone.
const skip = !isDrawn('parameters of pages', 4) && 'runs in one of four runs';
const timeout = 7_200_000;

test('files and arrays of pages', { timeout, skip }, async () => {
  const [{ browser, checkAll }, pages] = [await openWorld(), await loadPages()];
  const probes = [
    ...fileNameProbes(fileDoorsOf(pages as never, [], seed, '')),
    ...pages.flatMap((page) => elementProbesOf(page as never, [], seed, '')),
  ];
  await checkAll(probes, browser, 0.1);
});

test('parameters of pages', { timeout, skip }, async () => {
  const [{ browser, checkAll }, pages] = [await openWorld(), await loadPages()];
  await checkAll(
    pages.flatMap((page) => probesOf(page as never, [], seed, '')),
    browser,
    0.5,
  );
});
