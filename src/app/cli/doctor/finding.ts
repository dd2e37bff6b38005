export type Finding = {
  state: 'ok' | 'warn' | 'fail';
  check: string;
  detail: string;
  /** The remedy, for the operator. */
  advice?: string;
};

export const ok = (check: string, detail: string): Finding => ({ state: 'ok', check, detail });

export const warn = (check: string, detail: string, advice: string): Finding => ({
  state: 'warn',
  check,
  detail,
  advice,
});

export const fail = (check: string, detail: string, advice: string): Finding => ({
  state: 'fail',
  check,
  detail,
  advice,
});

/** Compares versions: `1.10.0` is at least `1.9`. */
export const isAtLeast = (version: string, least: string): boolean =>
  version.localeCompare(least, undefined, { numeric: true }) >= 0;
