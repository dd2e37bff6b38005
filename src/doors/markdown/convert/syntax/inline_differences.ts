/** Marks of GitLab for what was added, `{+ text +}` and `[+ text +]`, and what was deleted, `{- text -}` and `[- text -]`. */
import type { StateInline } from 'markdown-it';

const closingBrackets: Record<string, string> = { '{': '}', '[': ']' };
const elements: Record<string, 'ins' | 'del'> = { '+': 'ins', '-': 'del' };

/** The last search for each mark of a text: nothing between `from` and `at`. */
type Searches = Map<string, { from: number; at: number }>;

const searchesByState = new WeakMap<StateInline, Searches>();

/** Returns where a mark stands next; -1: nowhere. Many openings search the text once, so that they take linear time. */
const findMark = (state: StateInline, mark: string, from: number): number => {
  const searches: Searches = searchesByState.get(state) ?? new Map();
  searchesByState.set(state, searches);
  const last = searches.get(mark);
  if (last !== undefined && last.from <= from && (last.at === -1 || from <= last.at)) return last.at;
  const at = state.src.indexOf(mark, from);
  searches.set(mark, { from, at });
  return at;
};

/** Returns the range of the text between the marks; null: there is none. */
const findRange = (state: StateInline): [start: number, end: number, element: 'ins' | 'del'] | null => {
  const { src, pos } = state;
  const bracket = closingBrackets[src[pos] ?? ''];
  const element = elements[src[pos + 1] ?? ''];
  if (bracket === undefined || element === undefined) return null;
  const end = findMark(state, `${src[pos + 1]}${bracket}`, pos + 2);
  if (end === -1 || end + 2 > state.posMax) return null;
  // `[-a-](b)` is a link.
  if (bracket === ']' && /[([]/.test(src[end + 2] ?? '')) return null;
  const newline = findMark(state, '\n', pos + 2);
  if (newline !== -1 && newline < end) return null;
  return src.slice(pos + 2, end).trim() === '' ? null : [pos + 2, end, element];
};

/** Rule of the parser: what is between the marks may be formatted. */
export const parseInlineDifference = (state: StateInline, isSilent: boolean): boolean => {
  const range = findRange(state);
  if (range === null) return false;
  const [start, end, element] = range;
  const { posMax } = state;
  if (!isSilent) {
    state.pos = start;
    state.posMax = end;
    state.push(`${element}_open`, element, 1).attrSet('class', 'idiff');
    state.md.inline.tokenize(state);
    state.push(`${element}_close`, element, -1);
  }
  state.pos = end + 2;
  state.posMax = posMax;
  return true;
};
