/** Completions of the filter box of a list: the names of terms, and their values. */
import { dueWords } from '../../../../../planning/issues/lists/due_filter.ts';
import type { Scope } from '../../../../../planning/issuables/lists/list_kind.ts';
import { type SuggestedKind, suggestionsFor } from '../../../parts/fields/suggestions.ts';
import type { Language } from './typed_terms.ts';

/** Values of a term: fixed values, and values of an API list, from a field of its records. */
export type TermValues = { values: readonly string[]; url?: string; field?: string; search?: string };

const people = ['me', 'none', 'any'];
const flag = ['yes', 'no'];
const periods = ['today', 'yesterday', '7d', '30d'];

/** Terms of all lists by name. A term without values is completed to its colon. */
const suggestionSources: Readonly<Record<string, { values?: readonly string[]; from?: SuggestedKind }>> = {
  label: { from: 'labels' },
  project: { from: 'projects' },
  assignee: { values: people, from: 'members' },
  reviewer: { values: people, from: 'members' },
  review: { values: ['waiting', 'returned'] },
  author: { values: ['me'], from: 'members' },
  milestone: { values: ['none', 'any', 'upcoming', 'started'], from: 'milestones' },
  source: { from: 'branches' },
  target: { from: 'branches' },
  due: { values: ['none', 'late', ...dueWords.filter((word) => word !== '0')] },
  confidential: { values: flag },
  draft: { values: flag },
  approved: { values: flag },
  'approved-by': { values: people, from: 'members' },
  created: { values: periods },
  updated: { values: periods },
  closed: { values: periods },
  merged: { values: periods },
};

/** Returns the values of each term of a list by its name. */
export const termValues = (
  scope: Scope,
  { terms, flags, states }: Language<string>,
): Record<string, TermValues> => {
  const ofTerm = (name: string): TermValues => {
    const { values = [], from } = suggestionSources[name] ?? {};
    return { values, ...(from === undefined ? {} : suggestionsFor(scope, from).suggestions) };
  };
  const is = { values: [...Object.keys(states), ...Object.keys(flags)] };
  return { ...Object.fromEntries(Object.keys(terms).map((name) => [name, ofTerm(name)])), is };
};
