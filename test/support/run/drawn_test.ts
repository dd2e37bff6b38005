/** Declares tests of files that `npm test` runs in each run, but not with each of their tests. */
import { type TestFn, test } from 'node:test';
import { isDrawn } from './sample.ts';

/** Returns a function that declares tests of which one in `share` runs in `npm test`, others after each commit. */
export const oneTestIn =
  (share: number) =>
  (name: string, work: TestFn): void => {
    if (isDrawn(name, share)) void test(name, work);
  };
