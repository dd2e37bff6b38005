/** Resolves the variables of a job as its scripts see them. */
import type { Variable } from './coordinator/protocol.ts';

export type Values = ReadonlyMap<string, string>;

const reference = /\$(?:\$|\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*)|[*#@!?0-9-])/g;
const isName = (text: string): boolean => /^[A-Za-z_]\w*$/.test(text);
/** Limits of nested references, and of characters in an expanded value. */
const maxDepth = 100;
const maxValueLength = 2 ** 20;

/** Expands `$name` and `${name}`; `$$` becomes a dollar; unknown names become empty. */
export const expandVariables = (text: string, values: Values): string =>
  text.replaceAll(reference, (whole: string, braced?: string, plain?: string) => {
    if (whole === '$$') return '$';
    return values.get(braced ?? plain ?? '') ?? '';
  });

type RawValue = { text: string; raw: boolean };

/**
 * Resolves all variables: later variables override earlier variables of the same name, and each is expanded with the
 * final values.
 * @param pathOf returns the path of a file variable
 */
export const resolveVariables = (
  variables: readonly Variable[],
  pathOf: (key: string) => string,
): Map<string, string> => {
  const raws = new Map<string, RawValue>();
  for (const { key, value, file, raw } of variables) {
    if (!isName(key)) continue;
    raws.delete(key); // so that the overriding variables determine the order
    const text = (value ?? '').replaceAll('\0', '');
    raws.set(key, file === true ? { text: pathOf(key), raw: true } : { text, raw: raw === true });
  }
  const ready = new Map<string, string>();
  const resolveValue = (key: string, open: readonly string[]): string => {
    const resolved = ready.get(key);
    const unresolved = raws.get(key);
    if (resolved !== undefined || unresolved === undefined) return resolved ?? '';
    if (unresolved.raw || !unresolved.text.includes('$')) return unresolved.text;
    // A cyclic reference, or a chain that is too long.
    if (open.includes(key) || open.length > maxDepth) return '';
    const path = [...open, key];
    let size = 0;
    const value = unresolved.text.replaceAll(reference, (whole: string, braced?: string, plain?: string) => {
      const part = whole === '$$' ? '$' : resolveValue(braced ?? plain ?? '', path);
      size += part.length;
      return size > maxValueLength ? '' : part;
    });
    ready.set(key, value);
    return value;
  };
  for (const key of raws.keys()) ready.set(key, resolveValue(key, []));
  return ready;
};

/** Returns the file variables, the last of each name. */
export const fileVariables = (variables: readonly Variable[]): Map<string, string> => {
  const last = new Map(variables.filter(({ key }) => isName(key)).map((one) => [one.key, one]));
  const files = [...last.values()].filter(({ file }) => file === true);
  return new Map(files.map(({ key, value }) => [key, value]));
};

/** Lists values that are masked in the log. */
export const listSecrets = (variables: readonly Variable[], token: string): string[] => {
  const masked = variables.filter(({ masked }) => masked === true).map(({ value }) => value);
  return [token, ...masked].filter((value) => value !== undefined && value.length > 0);
};

const units: Record<string, number> = { h: 3600, m: 60, s: 1 };

/** Parses `1h30m`, or a number of seconds; null if it is neither. */
export const parseSeconds = (text: string | undefined): number | null => {
  if (text === undefined || !/^(?:\d{1,8}|(?:\d{1,6}[hms])+)$/.test(text)) return null;
  if (/^\d+$/.test(text)) return Number(text);
  const parts = [...text.matchAll(/(\d+)([hms])/g)];
  return parts.reduce((sum, [, count, unit = 's']) => sum + Number(count) * (units[unit] ?? 1), 0);
};
