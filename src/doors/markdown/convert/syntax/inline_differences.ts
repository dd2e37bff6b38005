/** Marks of GitLab for what was added, `{+ text +}` and `[+ text +]`, and what was deleted, `{- text -}` and `[- text -]`. */
import type { StateInline } from 'markdown-it';

const closingBrackets: Record<string, string> = { '{': '}', '[': ']' };
const elements: Record<string, 'ins' | 'del'> = { '+': 'ins', '-': 'del' };

/** The last search for each mark of a text: nothing between `from` and `at`. */
type Searches = Map<string, { from: number; at: number }>;

const searchesByState = new WeakMap<StateInline, Searches>();

/**
 * Returns the position of the next mark; -1 if there is none. Many openings search the text only once, so that they
 * take linear time.
 */
const findMark = (state: StateInline, mark: string, from: number): number => {
  const searches: Searches = searchesByState.get(state) ?? new Map();
  searchesByState.set(state, searches);
  const last = searches.get(mark);
  if (last !== undefined && last.from <= from && (last.at === -1 || from <= last.at)) return last.at;
  const at = state.src.indexOf(mark, from);
  searches.set(mark, { from, at });
  return at;
};

type Difference = {
  /** Range of the text, without white space next to the marks. */
  start: number;
  end: number;
  /** Position behind the closing mark. */
  next: number;
  element: 'ins' | 'del';
};

/** Returns null if no text is between marks. */
const findDifference = (state: StateInline): Difference | null => {
  const { src, pos } = state;
  const bracket = closingBrackets[src[pos] ?? ''];
  const element = elements[src[pos + 1] ?? ''];
  if (bracket === undefined || element === undefined) return null;
  const close = findMark(state, `${src[pos + 1]}${bracket}`, pos + 2);
  if (close === -1 || close + 2 > state.posMax) return null;
  // `[-a-](b)` is a link.
  if (bracket === ']' && /[([]/.test(src[close + 2] ?? '')) return null;
  const newline = findMark(state, '\n', pos + 2);
  if (newline !== -1 && newline < close) return null;
  const text = src.slice(pos + 2, close);
  if (text.trim() === '') return null;
  const start = close - text.trimStart().length;
  return { start, end: start + text.trim().length, next: close + 2, element };
};

/** Rule of the parser: what is between the marks may be formatted. */
export const parseInlineDifference = (state: StateInline, isSilent: boolean): boolean => {
  const difference = findDifference(state);
  if (difference === null) return false;
  const { start, end, next, element } = difference;
  const { posMax } = state;
  if (!isSilent) {
    state.pos = start;
    state.posMax = end;
    state.push(`${element}_open`, element, 1).attrSet('class', 'idiff');
    state.md.inline.tokenize(state);
    state.push(`${element}_close`, element, -1);
  }
  state.pos = next;
  state.posMax = posMax;
  return true;
};
