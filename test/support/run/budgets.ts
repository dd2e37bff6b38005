/** Time budgets of tests, in seconds. A slow test does not fail; the end of a run names it. */
const usual = 5;

/** Folders and files whose tests start processes, wait for intervals or run whole tables. */
const declared: Record<string, number> = {
  'test/crash/': 30,
  'test/ci/': 20,
  'test/cli/': 20,
  'test/clients/': 40,
  'test/deploy/': 20,
  'test/git/': 20,
  'test/web/': 20,
  'test/fuzz/': 30,
  'test/access/': 20,
  'test/gates/recorded_writes.test.ts': 20,
  'runner/': 20,
  'src/platform/db/large_upgrade.test.ts': 90,
};

export const getBudget = (file: string): number => {
  const folder = Object.keys(declared).find((place) => file.startsWith(place));
  return folder === undefined ? usual : (declared[folder] ?? usual);
};
