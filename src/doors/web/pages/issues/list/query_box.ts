/**
 * Reads what is typed into the filter of a list: `label:bug -label:"help wanted" assignee:me due:overdue crash`. Each
 * term becomes the filter of the API that means it; what is no term is searched for.
 */
import { dueWords } from '../../../../../planning/issues/lists/due_filter.ts';
import type { Chip } from './chips.ts';

/** The longest text that is read. */
export const maxTyped = 1_000;

type State = 'opened' | 'closed' | 'all';

export type Typed = {
  chips: Chip[];
  /** The state that the text names. */
  state?: State;
};

type Term = (value: string, isExcluded: boolean, me: string | null) => Chip | null;

const namedBy =
  (param: string): Term =>
  (value, isExcluded) => ({ name: isExcluded ? `not[${param}]` : param, value });

const personBy =
  (param: 'assignee' | 'author'): Term =>
  (value, isExcluded, me) => {
    const username = value.replace(/^@/, '');
    const word = username.toLowerCase();
    if (param === 'assignee' && (word === 'none' || word === 'any')) {
      const isNone = (word === 'none') !== isExcluded;
      return { name: 'assignee_id', value: isNone ? 'None' : 'Any' };
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

const terms: Readonly<Record<string, Term>> = {
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
  due: (value, isExcluded) => {
    const word = dueAliases[value.toLowerCase()] ?? value.toLowerCase();
    return !isExcluded && dueWords.some((one) => one === word) ? { name: 'due_date', value: word } : null;
  },
  confidential: (value, isExcluded) => {
    if (!yes.test(value) && !no.test(value)) return null;
    return { name: 'confidential', value: String(yes.test(value) !== isExcluded) };
  },
};

const states: Readonly<Record<string, State>> = {
  open: 'opened',
  opened: 'opened',
  closed: 'closed',
  all: 'all',
};

/** A term with its value, plain or in quotes; a label `~bug`; or a word. */
const token = /(-?)(\w+):(?:"([^"]*)"|(\S+))|(-?)~(?:"([^"]*)"|(\S+))|"([^"]*)"|(\S+)/g;

type Read = { chip: Chip } | { state: State } | { word: string };

const readTerm = ([all, minus, name, quoted, plain]: readonly string[], me: string | null): Read => {
  const [term, value] = [name?.toLowerCase() ?? '', quoted ?? plain ?? ''];
  const state = states[value.toLowerCase()];
  if ((term === 'is' || term === 'state') && minus === '' && state !== undefined) return { state };
  const isExcluded = minus === '-';
  if (term === 'is' && value.toLowerCase() === 'confidential') {
    return { chip: { name: 'confidential', value: String(!isExcluded) } };
  }
  const read = Object.hasOwn(terms, term) ? terms[term] : undefined;
  const chip = value === '' ? null : (read?.(value, isExcluded, me) ?? null);
  return chip === null ? { word: all ?? '' } : { chip };
};

const readToken = (found: readonly string[], me: string | null): Read => {
  const [, , term, , , minus, quotedLabel, label, phrase, word] = found;
  if (term !== undefined) return readTerm(found, me);
  const title = quotedLabel ?? label;
  if (title !== undefined) {
    return { chip: { name: minus === '-' ? 'not[labels]' : 'labels', value: title } };
  }
  return { word: phrase ?? word ?? '' };
};

/** @param me name of the user, for `assignee:me`; null: nobody is signed in */
export const readTyped = (text: string, me: string | null): Typed => {
  const read = [...text.slice(0, maxTyped).matchAll(token)].map((found) => readToken(found, me));
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
