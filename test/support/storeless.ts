/** Folders and files of tests that know no store: they are asked once, not on each engine. */
export const storeless = ['gitd/', 'runner/', 'zip/', 'src/ci_file/', 'test/house.test.ts'];

export const isIn = (places: string[], file: string): boolean =>
  places.some((place) => file.startsWith(place));
