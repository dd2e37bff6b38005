/** What is wrong with a setting's value: the texts are the API's. */

/** null: nothing. */
export type Problem = string | null;

/** What the process was configured with, which some settings name. */
export type Surroundings = { repository_storages: readonly string[]; sign_in_sources: readonly string[] };

/** Where nothing is configured, as in the documentation. */
export const noSurroundings: Surroundings = { repository_storages: [], sign_in_sources: [] };

export const visibilities = ['private', 'internal', 'public'] as const;

const isWebUrl = (value: string): boolean => {
  const url = URL.parse(value);
  return (
    url !== null &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    // What parsers leave out in silence, such as a line end, is no part of an address.
    /^https?:\/\/[^\s\p{Cc}]+$/iu.test(value)
  );
};

const inWords = (sizes: readonly number[]): string => {
  const [last = '', ...others] = sizes.map(String).toReversed();
  if (others.length === 0) return last;
  return `${others.toReversed().join(', ')}${others.length > 1 ? ',' : ''} or ${last}`;
};

const firstUnknown = (values: readonly string[], known: readonly string[]): string | undefined =>
  values.find((value) => !known.includes(value));

export const checks = {
  url: (value: string | null): Problem => (value === null || isWebUrl(value) ? null : 'must be a valid URL'),
  positive: (value: number): Problem => (value > 0 ? null : 'must be greater than 0'),
  oneOf:
    (known: readonly number[]) =>
    (value: number): Problem =>
      known.includes(value) ? null : 'does not have a valid value',
  keySizes:
    (sizes: readonly number[]) =>
    (value: number): Problem =>
      [-1, 0, ...sizes].includes(value)
        ? null
        : `must be forbidden, allowed, or one of these sizes: ${inWords(sizes)}`,
  visibilityLevels: (values: readonly string[]): Problem => {
    const unknown = firstUnknown(values, visibilities);
    return unknown === undefined ? null : `'${unknown}' is not a valid visibility level`;
  },
  /** As any list of texts, once they are apart. */
  fewAndShort: (values: readonly string[]): Problem => {
    if (values.length > 1_000) return 'is too long (maximum is 1000 values)';
    return values.some((value) => value.length > 255) ? 'is too long (maximum is 255 characters)' : null;
  },
  storages: (values: readonly string[], { repository_storages }: Surroundings): Problem => {
    if (values.length === 0) return "can't be blank";
    const unknown = values.filter((value) => !repository_storages.includes(value));
    return unknown.length === 0 ? null : `can't include: ${unknown.join(', ')}`;
  },
  signInSources: (values: readonly string[], { sign_in_sources }: Surroundings): Problem => {
    const unknown = firstUnknown(values, sign_in_sources);
    return unknown === undefined ? null : `'${unknown}' is not an OAuth sign-in source`;
  },
};
