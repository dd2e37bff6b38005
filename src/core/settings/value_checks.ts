/** Checks the value of a setting. The API fixes the error texts. */

/** Error text; null: valid. */
export type Problem = string | null;

/** Parts of the process configuration that settings refer to. */
export type SettingContext = { repository_storages: readonly string[]; sign_in_sources: readonly string[] };

/** A context without configuration, as in the documentation. */
export const emptySettingContext: SettingContext = { repository_storages: [], sign_in_sources: [] };

export const visibilities = ['private', 'internal', 'public'] as const;

const isWebUrl = (value: string): boolean => {
  const url = URL.parse(value);
  return (
    url !== null &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    // URL parsers silently drop characters such as line ends, so the address must not contain them.
    /^https?:\/\/[^\s\p{Cc}]+$/iu.test(value)
  );
};

/**
 * Whether the text is a path of this service, wherever a browser resolves it: `//host` names another one, `\\` counts
 * as `/`, and `/.//host` becomes `//host`.
 */
const isOwnPath = (value: string): boolean => {
  if (!/^\/[^\s\p{Cc}\\]*$/u.test(value)) return false;
  const own = 'http://own.invalid';
  const url = URL.parse(value, own);
  return url !== null && url.origin === own && !url.pathname.startsWith('//');
};

const inWords = (sizes: readonly number[]): string => {
  const [last = '', ...others] = sizes.map(String).toReversed();
  if (others.length === 0) return last;
  return `${others.toReversed().join(', ')}${others.length > 1 ? ',' : ''} or ${last}`;
};

const findInvalid = (values: readonly string[], allowed: readonly string[]): string | undefined =>
  values.find((value) => !allowed.includes(value));

export const checks = {
  url: (value: string | null): Problem => (value === null || isWebUrl(value) ? null : 'must be a valid URL'),
  urlOrPath: (value: string | null): Problem =>
    value === null || isWebUrl(value) || isOwnPath(value) ? null : 'must be a valid URL',
  positive: (value: number): Problem => (value > 0 ? null : 'must be greater than 0'),
  oneOf:
    (allowed: readonly number[]) =>
    (value: number): Problem =>
      allowed.includes(value) ? null : 'does not have a valid value',
  keySizes:
    (sizes: readonly number[]) =>
    (value: number): Problem =>
      [-1, 0, ...sizes].includes(value)
        ? null
        : `must be forbidden, allowed, or one of these sizes: ${inWords(sizes)}`,
  visibilityLevels: (values: readonly string[]): Problem => {
    const invalidValue = findInvalid(values, visibilities);
    return invalidValue === undefined ? null : `'${invalidValue}' is not a valid visibility level`;
  },
  /** Limits number and length of entries, after one text was split into a list. */
  fewAndShort: (values: readonly string[]): Problem => {
    if (values.length > 1_000) return 'is too long (maximum is 1000 values)';
    return values.some((value) => value.length > 255) ? 'is too long (maximum is 255 characters)' : null;
  },
  storages: (values: readonly string[], { repository_storages }: SettingContext): Problem => {
    if (values.length === 0) return "can't be blank";
    const invalidValue = values.filter((value) => !repository_storages.includes(value));
    return invalidValue.length === 0 ? null : `can't include: ${invalidValue.join(', ')}`;
  },
};
