/**
 * Parses the text typed into the filter of a list: `label:bug -label:"help wanted" assignee:me due:overdue crash`. Each
 * term becomes the filter of the API that means it; what is no term is searched for.
 */
import { dueWords } from '../../../../../planning/issues/lists/due_filter.ts';
import type { Chip } from './filter_chips.ts';

/** The longest text that is read. */
export const maxTyped = 1_000;

export type Typed<State extends string> = {
  chips: Chip[];
  /** The state that the text names. */
  state?: State;
};

/** The terms that a list supports. */
export type Language<State extends string> = {
  /** Terms by name: `label`. */
  terms: Readonly<Record<string, Term>>;
  /** Words of `is:` that are filters: `confidential`. */
  flags: Readonly<Record<string, string>>;
  /** Words of `is:` that are states: `open`. */
  states: Readonly<Record<string, State>>;
};

type Term = (value: string, isExcluded: boolean, me: string | null) => Chip | null;

const namedBy =
  (param: string): Term =>
  (value, isExcluded) => ({ name: isExcluded ? `not[${param}]` : param, value });

const personBy =
  (param: 'assignee' | 'author' | 'reviewer'): Term =>
  (value, isExcluded, me) => {
    const username = value.replace(/^@/, '');
    const word = username.toLowerCase();
    if (param !== 'author' && (word === 'none' || word === 'any')) {
      const isNone = (word === 'none') !== isExcluded;
      return { name: `${param}_id`, value: isNone ? 'None' : 'Any' };
    }
    const name = `${param}_username`;
    return {
      name: isExcluded ? `not[${name}]` : name,
      value: word === 'me' && me !== null ? me : username,
    };
  };

const milestoneWords: Readonly<Record<string, string>> = {
  none: 'None',
  any: 'Any',
  upcoming: '#upcoming',
  started: '#started',
};

const dueAliases: Readonly<Record<string, string>> = { none: '0', late: 'overdue' };

const yes = /^(?:yes|true|1)$/i;
const no = /^(?:no|false|0)$/i;

/** Reads a filter of yes and no. */
const flagBy =
  (name: string): Term =>
  (value, isExcluded) =>
    yes.test(value) || no.test(value) ? { name, value: String(yes.test(value) !== isExcluded) } : null;

/** Filters that cannot be excluded. */
const onlyBy =
  (name: string): Term =>
  (value, isExcluded) =>
    isExcluded ? null : { name, value };

/** The term of lists of several projects. */
export const byProject = onlyBy('project_path');

const sharedTerms: Readonly<Record<string, Term>> = {
  label: namedBy('labels'),
  assignee: personBy('assignee'),
  author: personBy('author'),
  milestone: (value, isExcluded) =>
    namedBy('milestone')(
      isExcluded ? value : (milestoneWords[value.toLowerCase()] ?? value),
      isExcluded,
      null,
    ),
  reaction: namedBy('my_reaction_emoji'),
};

export const issueLanguage: Language<'opened' | 'closed' | 'all'> = {
  terms: {
    ...sharedTerms,
    due: (value, isExcluded) => {
      const word = dueAliases[value.toLowerCase()] ?? value.toLowerCase();
      return !isExcluded && dueWords.some((one) => one === word) ? { name: 'due_date', value: word } : null;
    },
    confidential: flagBy('confidential'),
  },
  flags: { confidential: 'confidential' },
  states: { open: 'opened', opened: 'opened', closed: 'closed', all: 'all' },
};

export const requestLanguage: Language<'opened' | 'merged' | 'closed' | 'all'> = {
  terms: {
    ...sharedTerms,
    reviewer: personBy('reviewer'),
    draft: flagBy('draft'),
    approved: (value, isExcluded) => {
      const chip = flagBy('approved')(value, isExcluded, null);
      return chip === null ? null : { ...chip, value: chip.value === 'true' ? 'yes' : 'no' };
    },
    source: onlyBy('source_branch'),
    target: onlyBy('target_branch'),
  },
  flags: { draft: 'draft' },
  states: { open: 'opened', opened: 'opened', merged: 'merged', closed: 'closed', all: 'all' },
};

/** A term with its value, plain or in quotes; a label `~bug`; or a word. */
const token = /(-?)(\w+):(?:"([^"]*)"|(\S+))|(-?)~(?:"([^"]*)"|(\S+))|"([^"]*)"|(\S+)/g;

type Read<State> = { chip: Chip } | { state: State } | { word: string };

type Reader<State extends string> = { language: Language<State>; me: string | null };

const readTerm = <State extends string>(
  [all, minus, name, quoted, plain]: readonly string[],
  { language, me }: Reader<State>,
): Read<State> => {
  const [term, value] = [name?.toLowerCase() ?? '', quoted ?? plain ?? ''];
  const word = value.toLowerCase();
  const isExcluded = minus === '-';
  const state = Object.hasOwn(language.states, word) ? language.states[word] : undefined;
  if ((term === 'is' || term === 'state') && !isExcluded && state !== undefined) return { state };
  const flag = Object.hasOwn(language.flags, word) ? language.flags[word] : undefined;
  if (term === 'is' && flag !== undefined) return { chip: { name: flag, value: String(!isExcluded) } };
  const read = Object.hasOwn(language.terms, term) ? language.terms[term] : undefined;
  const chip = value === '' ? null : (read?.(value, isExcluded, me) ?? null);
  return chip === null ? { word: all ?? '' } : { chip };
};

const readToken = <State extends string>(found: readonly string[], reader: Reader<State>): Read<State> => {
  const [, , term, , , minus, quotedLabel, label, phrase, word] = found;
  if (term !== undefined) return readTerm(found, reader);
  const title = quotedLabel ?? label;
  if (title !== undefined) {
    return { chip: { name: minus === '-' ? 'not[labels]' : 'labels', value: title } };
  }
  return { word: phrase ?? word ?? '' };
};

/** @param me name of the user, for `assignee:me`; null: nobody is signed in */
export const readTyped = <State extends string>(
  text: string,
  me: string | null,
  language: Language<State>,
): Typed<State> => {
  const read = [...text.slice(0, maxTyped).matchAll(token)].map((found) =>
    readToken(found, { language, me }),
  );
  const chips = read.flatMap((one) => ('chip' in one ? [one.chip] : []));
  const words = read.flatMap((one) => ('word' in one && one.word !== '' ? [one.word] : []));
  const state = read.findLast((one) => 'state' in one);
  return {
    chips: words.length === 0 ? chips : [...chips, { name: 'search', value: words.join(' ') }],
    ...(state !== undefined && { state: state.state }),
  };
};

/** Parameters that have one value: a new one replaces the old. */
const isSingle = ({ name }: Chip): boolean =>
  !['labels', 'assignee_username', 'search'].includes(name.replace(/^not\[(\w+)\]$/, '$1'));

/** Adds filters to those of a list. */
export const mergeChips = (before: readonly Chip[], added: readonly Chip[]): Chip[] => {
  const isReplaced = (chip: Chip): boolean =>
    added.some(
      (one) =>
        one.name === chip.name &&
        (isSingle(one) || (one.name !== 'search' && one.value.toLowerCase() === chip.value.toLowerCase())),
    );
  return [...before.filter((chip) => !isReplaced(chip)), ...added];
};
