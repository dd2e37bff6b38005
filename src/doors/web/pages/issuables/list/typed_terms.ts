/** The terms that can be typed into the filter of a list, and the filters of the API that they mean. */
import { dueWords } from '../../../../../planning/issues/lists/due_filter.ts';
import type { Chip } from './filter_chips.ts';
import { parsePeriod, periodHint } from './periods.ts';

/** User who types a term, and the current time. */
export type Typist = {
  /** Name of the user, for `assignee:me`; null if nobody is signed in. */
  me: string | null;
  now: number;
};

type TypedValue = { value: string; isExcluded: boolean };

export type Term = {
  /** Returns the filters of a value; null if it is not a value of the term. */
  read: (typed: TypedValue, typist: Typist) => Chip[] | null;
  /** Expected values, shown in a problem: `yes or no`. */
  expects: string;
  /** True if `-` can exclude what the term selects. */
  isExcludable: boolean;
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

const splitNames = (value: string): string[] =>
  value
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

/** Returns the filter of names: all that are excluded, the only one, or one of several. */
const namesFilter = (param: string, names: readonly string[], isExcluded: boolean): Chip[] => {
  if (isExcluded) return names.map((value) => ({ name: `not[${param}]`, value }));
  const [only] = names;
  if (only === undefined) return [];
  return [
    names.length === 1 ? { name: param, value: only } : { name: `or[${param}]`, value: names.join(',') },
  ];
};

const labels: Term = {
  read: ({ value, isExcluded }) => {
    const names = splitNames(value);
    return names.length === 0 ? null : namesFilter('labels', names, isExcluded);
  },
  expects: 'a label, or several with commas',
  isExcludable: true,
};

const personBy = (param: 'assignee' | 'author' | 'reviewer'): Term => {
  const hasWords = param !== 'author';
  const isWord = (name: string): boolean => hasWords && ['none', 'any'].includes(name.toLowerCase());
  return {
    read: ({ value, isExcluded }, { me }) => {
      const names = splitNames(value).map((one) => one.replace(/^@/, ''));
      const [only = ''] = names;
      if (names.length === 1 && isWord(only)) {
        const isNone = (only.toLowerCase() === 'none') !== isExcluded;
        return [{ name: `${param}_id`, value: isNone ? 'None' : 'Any' }];
      }
      if (names.length === 0 || names.some((name) => name === '' || isWord(name))) return null;
      const users = names.map((name) => (name.toLowerCase() === 'me' && me !== null ? me : name));
      return namesFilter(`${param}_username`, users, isExcluded);
    },
    expects: hasWords
      ? 'a user name, several with commas, none or any'
      : 'a user name, or several with commas',
    isExcludable: true,
  };
};

const milestoneWords: Readonly<Record<string, string>> = {
  none: 'None',
  any: 'Any',
  upcoming: '#upcoming',
  started: '#started',
};

const milestone: Term = {
  read: ({ value, isExcluded }) => [
    isExcluded
      ? { name: 'not[milestone]', value }
      : { name: 'milestone', value: milestoneWords[value.toLowerCase()] ?? value },
  ],
  expects: 'a title, none, any, upcoming or started',
  isExcludable: true,
};

const reaction: Term = {
  read: ({ value, isExcluded }) => [
    { name: isExcluded ? 'not[my_reaction_emoji]' : 'my_reaction_emoji', value },
  ],
  expects: 'the name of an emoji',
  isExcludable: true,
};

const dueAliases: Readonly<Record<string, string>> = { none: '0', late: 'overdue' };

const due: Term = {
  read: ({ value }) => {
    const word = dueAliases[value.toLowerCase()] ?? value.toLowerCase();
    return dueWords.some((one) => one === word) ? [{ name: 'due_date', value: word }] : null;
  },
  expects: `none, late, ${dueWords.filter((word) => word !== '0').join(', ')}`,
  isExcludable: false,
};

const yes = /^(?:yes|true|1)$/i;
const no = /^(?:no|false|0)$/i;

/** Reads a filter of yes and no. */
const flagBy = (name: string, [on, off]: readonly [string, string] = ['true', 'false']): Term => ({
  read: ({ value, isExcluded }) =>
    yes.test(value) || no.test(value) ? [{ name, value: yes.test(value) !== isExcluded ? on : off }] : null,
  expects: 'yes or no',
  isExcludable: true,
});

/** Filters that cannot be excluded. */
const onlyBy = (name: string, expects: string): Term => ({
  read: ({ value }) => [{ name, value }],
  expects,
  isExcludable: false,
});

const approvedBy: Term = {
  read: ({ value }, { me }) => {
    const name = value.replace(/^@/, '');
    const isMe = name.toLowerCase() === 'me' && me !== null;
    return name === '' || name.includes(',')
      ? null
      : [{ name: 'approved_by_usernames', value: isMe ? me : name }];
  },
  expects: 'one user name, none or any; repeat it for several who all approved',
  isExcludable: false,
};

const ownReview: Term = {
  read: ({ value }) => {
    const state = value.toLowerCase();
    return ['waiting', 'returned'].includes(state) ? [{ name: 'my_review', value: state }] : null;
  },
  expects: 'waiting or returned',
  isExcludable: false,
};

const periodBy = (name: string): Term => ({
  read: ({ value }, { now }) => (parsePeriod(value, now) === null ? null : [{ name, value }]),
  expects: periodHint,
  isExcludable: false,
});

/** The term of lists of several projects. */
export const byProject = onlyBy('project_path', 'the path of a project');

const sharedTerms: Readonly<Record<string, Term>> = {
  label: labels,
  assignee: personBy('assignee'),
  author: personBy('author'),
  milestone,
  reaction,
  created: periodBy('created'),
  updated: periodBy('updated'),
  closed: periodBy('closed'),
};

export const issueLanguage: Language<'opened' | 'closed' | 'all'> = {
  terms: { ...sharedTerms, due, confidential: flagBy('confidential') },
  flags: { confidential: 'confidential' },
  states: { open: 'opened', opened: 'opened', closed: 'closed', all: 'all' },
};

export const requestLanguage: Language<'opened' | 'merged' | 'closed' | 'all'> = {
  terms: {
    ...sharedTerms,
    merged: periodBy('merged'),
    reviewer: personBy('reviewer'),
    review: ownReview,
    draft: flagBy('draft'),
    approved: flagBy('approved', ['yes', 'no']),
    'approved-by': approvedBy,
    environment: onlyBy('environment', 'the name of an environment'),
    source: onlyBy('source_branch', 'a branch'),
    target: onlyBy('target_branch', 'a branch'),
  },
  flags: { draft: 'draft' },
  states: { open: 'opened', opened: 'opened', merged: 'merged', closed: 'closed', all: 'all' },
};
