/** Parses the filters with alternatives: `or[labels]=bug,ui` lists what has any of these labels. */
import type { TSchema } from 'typebox';
import { invalid } from '../../../../platform/errors.ts';
import { hash, string } from '../../../../platform/http/schema.ts';
import type { Listed } from '../record_kinds.ts';
import { readNames, readParts } from './read_parts.ts';

const shared = { labels: string, author_username: string, assignee_username: string };

const withAlternatives = (properties: Record<string, TSchema>, more = '') =>
  hash(properties, `alternatives: any of these labels, authors, assignees${more}; names with commas`);

export const orParam = withAlternatives(shared);

/** The same for merge requests. */
export const orParamWithReviewers = withAlternatives({ ...shared, reviewer_username: string }, ', reviewers');

/** Names, keyed by property: a record must have one of them. Empty: no such filter. */
export type Alternatives = { labels: string[]; authors: string[]; assignees: string[]; reviewers: string[] };

const isSent = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** Returns the alternatives. @throws Failure 400 for a part that does not exist or is not a list of names */
export const readAlternatives = ({ type }: Pick<Listed, 'type'>, input: unknown): Alternatives => {
  const parts = readParts('or', input);
  const supported = [...Object.keys(shared), ...(type === 'MergeRequest' ? ['reviewer_username'] : [])];
  const unread = Object.keys(parts).find((name) => !supported.includes(name) && isSent(parts[name]));
  if (unread !== undefined) throw invalid({ [`or[${unread}]`]: ['is a filter that is not supported'] });
  const read = (name: string): string[] => [...new Set(readNames(parts, { of: 'or', name }))];
  return {
    labels: read('labels'),
    authors: read('author_username'),
    assignees: read('assignee_username'),
    reviewers: supported.includes('reviewer_username') ? read('reviewer_username') : [],
  };
};
