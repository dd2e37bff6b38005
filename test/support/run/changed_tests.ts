/** Selects the test files that a change affects: `npm test -- --changed`. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

const importPattern = /\bfrom\s*['"](\.[^'"]+)['"]|\bimport\s*\(?\s*['"](\.[^'"]+)['"]/g;

/**
 * These files import every module, and so does each test that starts the service. Imports are not followed past them;
 * a test of the service is selected by its folder and its name instead.
 */
const roots =
  /^(?:src\/app\/(?:cli\/)?(?:main|routes|background_work)\.ts|test\/support\/(?:service|visitor)\.ts)$/;

/** These tests read the sources or the routes and run after any change. */
const always =
  /^test\/(?:house|golden|conventions)\.test\.ts$|^test\/spec\/requests\/(?:errors|conventions)\.test\.ts$/;

/** Files that the branch changed since it left main, and uncommitted ones; on main only uncommitted ones. */
export const changedFiles = (): string[] => {
  const git = (...args: string[]): string[] =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n')
      .filter((line) => line !== '');
  const base = [...['main', 'origin/main'].flatMap((name) => mergeBase(git, name)), 'HEAD'][0] ?? 'HEAD';
  return [
    ...git('diff', '--name-only', '--diff-filter=d', base),
    ...git('ls-files', '--others', '--exclude-standard'),
  ];
};

const mergeBase = (git: (...args: string[]) => string[], name: string): string[] => {
  try {
    return git('merge-base', 'HEAD', name);
  } catch {
    return []; // no such branch in this clone
  }
};

const readImports = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(importPattern)].map(([, one, other]) =>
    posix.join(posix.dirname(file), one ?? other ?? ''),
  );

/** Returns every file that imports one of these, directly or indirectly, without following imports past the roots. */
const findImporters = (changed: readonly string[]): Set<string> => {
  const importers = new Map<string, string[]>();
  for (const file of globSync('{src,gitd,runner,zip,test}/**/*.ts'))
    for (const target of readImports(file)) importers.getOrInsertComputed(target, () => []).push(file);
  const reached = new Set(changed);
  for (const file of reached) {
    if (roots.test(file) && !changed.includes(file)) continue;
    for (const importer of importers.get(file) ?? []) reached.add(importer);
  }
  return reached;
};

/** `src/review/merge_requests/merging/merge.ts` belongs to `src/review/merge_requests`. */
const getNounFolder = (file: string): string => /^src\/\w+\/\w+(?=\/)/.exec(file)?.[0] ?? posix.dirname(file);

/** `src/review/merge_requests/update.ts` is also tested in `test/spec/merge_requests/update.test.ts`. */
const namesNoun = (test: string, changed: readonly string[]): boolean =>
  changed.some((file) => {
    const noun = /^src\/\w+\/(\w+?)s?\//.exec(file)?.[1];
    return noun !== undefined && noun.length > 2 && test.split('/').some((part) => part.startsWith(noun));
  });

/** Selects the tests that the change reaches by imports, those in its folder, and those named like its folder. */
export const testsReachedBy = (changed: readonly string[], tests: readonly string[]): string[] => {
  const reached = findImporters(changed);
  const folders = new Set(
    changed.filter((file) => /^(?:src|gitd|runner|zip)\//.test(file)).map(getNounFolder),
  );
  return tests.filter(
    (test) =>
      always.test(test) ||
      reached.has(test) ||
      folders.has(getNounFolder(test)) ||
      (test.startsWith('test/') && namesNoun(test, changed)),
  );
};
