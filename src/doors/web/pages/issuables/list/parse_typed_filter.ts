/**
 * Parses the text typed into the filter of a list: `label:bug,ui -label:"help wanted" created:>2026-01-31 crash`. Each
 * term becomes the corresponding API filter, and words are searched for. Text that looks like a term but is invalid is
 * a problem, because searching for it would find nothing.
 */
import type { Chip } from './filter_chips.ts';
import type { Language, Typist } from './typed_terms.ts';

/** The longest text that is read. */
export const maxTyped = 1_000;

export type Typed<State extends string> = {
  chips: Chip[];
  /** The state that the text names. */
  state?: State;
  /** Problems of the text, as sentences; empty if it can be used. */
  problems: string[];
};

/** A term with its value, parts of which may be in quotes; a label `~bug`; or a word. */
const token = /(-?)(\w[\w-]*):((?:"[^"]*"|[^\s"])+|\S+)|(-?)~(?:"([^"]*)"|(\S+))|"([^"]*)"|(\S+)/g;

type Read<State> = { chips: Chip[] } | { state: State } | { word: string } | { problem: string };

type Reader<State extends string> = { language: Language<State>; typist: Typist };

/** Returns whether the text after a colon belongs to a URL or to code, not to a term: `https://`, `std::vector`. */
const isOfAddress = (value: string): boolean => /^(?:\/|:)/.test(value);

const unknownTerm = (name: string, names: readonly string[]): string =>
  `Unknown filter “${name}”. The filters are ${names.join(', ')}. To search for the text, put it in quotes.`;

const readIs = <State extends string>(
  all: string,
  { word, isExcluded }: { word: string; isExcluded: boolean },
  { states, flags }: Language<State>,
): Read<State> => {
  const state = Object.hasOwn(states, word) ? states[word] : undefined;
  if (!isExcluded && state !== undefined) return { state };
  const flag = Object.hasOwn(flags, word) ? flags[word] : undefined;
  if (flag !== undefined) return { chips: [{ name: flag, value: String(!isExcluded) }] };
  const words = [...Object.keys(states), ...Object.keys(flags)];
  return { problem: `“${all}” is not a filter. After “is:”, write ${words.join(', ')}.` };
};

const readTerm = <State extends string>(
  [all = '', minus, name = '', sent = '']: readonly string[],
  { language, typist }: Reader<State>,
): Read<State> => {
  const [term, value] = [name.toLowerCase(), sent.replaceAll('"', '')];
  const isExcluded = minus === '-';
  if (isOfAddress(sent)) return { word: all };
  if (term === 'is' || term === 'state')
    return readIs(all, { word: value.toLowerCase(), isExcluded }, language);
  const filter = Object.hasOwn(language.terms, term) ? language.terms[term] : undefined;
  if (filter === undefined) return { problem: unknownTerm(name, [...Object.keys(language.terms), 'is']) };
  if (isExcluded && !filter.isExcludable)
    return { problem: `“${all}” is not a filter: “${term}” cannot be excluded.` };
  const chips = value.trim() === '' ? null : filter.read({ value, isExcluded }, typist);
  return chips === null
    ? { problem: `“${all}” is not a filter. After “${term}:”, write ${filter.expects}.` }
    : { chips };
};

const readToken = <State extends string>(match: readonly string[], reader: Reader<State>): Read<State> => {
  const [, , term, , minus, quotedLabel, label, phrase, word] = match;
  if (term !== undefined) return readTerm(match, reader);
  const title = quotedLabel ?? label;
  if (title !== undefined)
    return { chips: [{ name: minus === '-' ? 'not[labels]' : 'labels', value: title }] };
  return { word: phrase ?? word ?? '' };
};

/** The API has one list of alternatives for each filter. */
const repeatedAlternatives = (chips: readonly Chip[]): string[] => {
  const names = chips.map(({ name }) => name).filter((name) => name.startsWith('or['));
  return names.length === new Set(names).size
    ? []
    : [
        'Alternatives with commas can be given once for labels, and once for authors, assignees and reviewers.',
      ];
};

export const readTyped = <State extends string>(
  text: string,
  typist: Typist,
  language: Language<State>,
): Typed<State> => {
  const read = [...text.slice(0, maxTyped).matchAll(token)].map((match) =>
    readToken(match, { language, typist }),
  );
  const chips = read.flatMap((one) => ('chips' in one ? one.chips : []));
  const words = read.flatMap((one) => ('word' in one && one.word !== '' ? [one.word] : []));
  const state = read.findLast((one) => 'state' in one);
  const problems = read.flatMap((one) => ('problem' in one ? [one.problem] : []));
  return {
    chips: words.length === 0 ? chips : [...chips, { name: 'search', value: words.join(' ') }],
    ...(state !== undefined && { state: state.state }),
    problems: [...problems, ...repeatedAlternatives(chips)],
  };
};

/** Parameters that have one value: a new one replaces the old. */
const isSingle = ({ name }: Chip): boolean =>
  ![
    'labels',
    'assignee_username',
    'approved_by_usernames',
    'search',
    'not[author_username]',
    'not[reviewer_username]',
  ].some((one) => one === name || `not[${one}]` === name);

/** A record has one author, so that one name and alternatives replace each other. */
const familyOf = ({ name }: Chip): string => (name === 'or[author_username]' ? 'author_username' : name);

/** Adds filters to the filters of a list. */
export const mergeChips = (before: readonly Chip[], added: readonly Chip[]): Chip[] => {
  const isReplaced = (chip: Chip): boolean =>
    added.some(
      (one) =>
        familyOf(one) === familyOf(chip) &&
        (isSingle(one) || (one.name !== 'search' && one.value.toLowerCase() === chip.value.toLowerCase())),
    );
  return [...before.filter((chip) => !isReplaced(chip)), ...added];
};
