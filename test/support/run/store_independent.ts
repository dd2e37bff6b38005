/** Folders and files of tests that use no store: they run once, not on each engine. */
export const storeless = [
  'gitd/',
  'runner/',
  'zip/',
  'src/ci/ci_file/',
  'test/house.test.ts',
  'test/documents.test.ts',
  'test/cli/documented_register.test.ts',
  'test/cli/installation.test.ts',
  'test/deploy/bundle.test.ts',
  'test/deploy/documented_compose.test.ts',
  'test/support/',
];

export const isIn = (places: string[], file: string): boolean =>
  places.some((place) => file.startsWith(place));
