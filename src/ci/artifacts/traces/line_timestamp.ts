/** Reads the prefix that runners write before each line of a trace where `FF_TIMESTAMPS` is on. */

/** Time, number of the stream, standard output or error; `+` continues the line before. */
const prefix = String.raw`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z) [0-9a-f]{2}[OE]([ +])`;
const atStart = new RegExp(prefix);
const atLineStart = new RegExp(prefix, 'm');

type TraceLine = {
  /** Time of the line, `2026-11-27T09:42:57.123456Z`; null if it has no prefix. */
  time: string | null;
  continuesLine: boolean;
  /** The line without its prefix. */
  text: string;
};

export const parseTraceLine = (raw: string): TraceLine => {
  const [whole = '', time = null, flag = ' '] = atStart.exec(raw) ?? [];
  return { time, continuesLine: flag === '+', text: raw.slice(whole.length) };
};

/** Returns whether any line of a text has a timestamp. */
export const hasTimestamps = (text: string): boolean => atLineStart.test(text);
