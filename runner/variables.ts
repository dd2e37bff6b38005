/** The variables of a job, as its script gets them. */
import type { Variable } from './protocol.ts';

export type Values = ReadonlyMap<string, string>;

const reference = /\$(?:\$|\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*)|[*#@!?0-9-])/g;
const isName = (text: string): boolean => /^[A-Za-z_]\w*$/.test(text);
/** Of variables that ask for one another, and of characters that come of it. */
const deepest = 100;
const longest = 2 ** 20;

/** `$name` and `${name}` become values, `$$` a dollar; what nobody knows is empty. */
export const expand = (text: string, values: Values): string =>
  text.replaceAll(reference, (whole: string, braced?: string, plain?: string) => {
    if (whole === '$$') return '$';
    return values.get(braced ?? plain ?? '') ?? '';
  });

type Found = { text: string; raw: boolean };

/**
 * Later ones win over earlier ones of the same name; each is expanded by what all of them are in the end.
 * @param pathOf where the content of a variable that is a file lies
 */
export const resolveVariables = (
  variables: readonly Variable[],
  pathOf: (key: string) => string,
): Map<string, string> => {
  const found = new Map<string, Found>();
  for (const { key, value, file, raw } of variables) {
    if (!isName(key)) continue;
    found.delete(key); // so that the order is that of what counts
    const text = (value ?? '').replaceAll('\0', '');
    found.set(key, file === true ? { text: pathOf(key), raw: true } : { text, raw: raw === true });
  }
  const ready = new Map<string, string>();
  const valueOf = (key: string, open: readonly string[]): string => {
    const known = ready.get(key);
    const one = found.get(key);
    if (known !== undefined || one === undefined) return known ?? '';
    if (one.raw || !one.text.includes('$')) return one.text;
    // One that asks for itself, and a chain without an end.
    if (open.includes(key) || open.length > deepest) return '';
    const path = [...open, key];
    let size = 0;
    const value = one.text.replaceAll(reference, (whole: string, braced?: string, plain?: string) => {
      const part = whole === '$$' ? '$' : valueOf(braced ?? plain ?? '', path);
      size += part.length;
      return size > longest ? '' : part;
    });
    ready.set(key, value);
    return value;
  };
  for (const key of found.keys()) ready.set(key, valueOf(key, []));
  return ready;
};

/** Those whose value is the content of a file, the last of each name. */
export const fileVariables = (variables: readonly Variable[]): Map<string, string> => {
  const last = new Map(variables.filter(({ key }) => isName(key)).map((one) => [one.key, one]));
  const files = [...last.values()].filter(({ file }) => file === true);
  return new Map(files.map(({ key, value }) => [key, value]));
};

/** What must not be read in the log. */
export const secretsOf = (variables: readonly Variable[], token: string): string[] => {
  const masked = variables.filter(({ masked }) => masked === true).map(({ value }) => value);
  return [token, ...masked].filter((value) => value !== undefined && value.length > 0);
};

const units: Record<string, number> = { h: 3600, m: 60, s: 1 };

/** Of `1h30m`, or of a number of seconds; null: it is neither. */
export const secondsOf = (text: string | undefined): number | null => {
  if (text === undefined || !/^(?:\d{1,8}|(?:\d{1,6}[hms])+)$/.test(text)) return null;
  if (/^\d+$/.test(text)) return Number(text);
  const parts = [...text.matchAll(/(\d+)([hms])/g)];
  return parts.reduce((sum, [, count, unit = 's']) => sum + Number(count) * (units[unit] ?? 1), 0);
};
