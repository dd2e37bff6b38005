import { invalid } from '../errors.ts';
import { credentialParams } from './credential_params.ts';
import { integer } from './schema.ts';

const defaultPerPage = 20;
const mostPerPage = 100;
/** Far past any list that fits the store, and an exact integer. */
const largestOffset = 1_000_000_000_000;

/** The two parameters of every list. */
export const pageParams = {
  page: { ...integer({ description: 'page number, from 1' }), default: 1 },
  per_page: { ...integer({ description: 'items a page, 100 at most' }), default: defaultPerPage },
};

export type PageRequest = { page: number; per_page: number; limit: number; offset: number };

/** A page of a list: its items and the exact number of all that match. */
export type Page<T> = { items: T[]; total: number };

/** Zero or less is page 1; a negative size is the default, zero is refused, more than 100 is 100. */
export const pageRequest = (params: { page?: unknown; per_page?: unknown }): PageRequest => {
  const page = Math.max(Number(params.page ?? 1), 1);
  const asked = Number(params.per_page ?? defaultPerPage);
  if (asked === 0) throw invalid({ per_page: ['has a value not allowed'] });
  const per_page = asked < 0 ? defaultPerPage : Math.min(asked, mostPerPage);
  return { page, per_page, limit: per_page, offset: Math.min((page - 1) * per_page, largestOffset) };
};

const scalarText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

const pairsOf = (name: string, value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap((part) => pairsOf(`${name}[]`, part));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, part]) => pairsOf(`${name}[${key}]`, part));
  }
  return [`${encodeURIComponent(name)}=${encodeURIComponent(scalarText(value))}`];
};

/** The links' query but for the number of the page: what stands before it and after it. */
const aroundPage = (sent: Record<string, unknown>, perPage: number): [string, string] => {
  const shown = { ...sent, page: '', per_page: perPage };
  // A `Link` is stored and forwarded: it carries no credentials.
  const names = Object.keys(shown)
    .filter((name) => !credentialParams.has(name))
    .toSorted();
  const at = names.indexOf('page');
  const pairs = (some: string[]): string[] =>
    some.flatMap((name) => pairsOf(name, shown[name as keyof typeof shown]));
  return [[...pairs(names.slice(0, at)), 'page='].join('&'), ['', ...pairs(names.slice(at + 1))].join('&')];
};

/**
 * All pagination headers. `url` is the list's absolute URL without query, `sent` every parameter that belongs
 * into the links (path parameters, defaults and what the client sent).
 */
export const pageHeaders = (
  url: string,
  sent: Record<string, unknown>,
  { page, per_page }: PageRequest,
  total: number,
): Record<string, string> => {
  const pages = Math.max(Math.ceil(total / per_page), 1);
  const next = page < pages ? page + 1 : null;
  const previous = page > 1 && page <= pages ? page - 1 : null;
  const [before, after] = aroundPage(sent, per_page);
  const link = (rel: string, number: number): string => `<${url}?${before}${number}${after}>; rel="${rel}"`;
  const links = [
    ...(previous === null ? [] : [link('prev', previous)]),
    ...(next === null ? [] : [link('next', next)]),
    link('first', 1),
    link('last', pages),
  ];
  return {
    'x-total': String(total),
    'x-total-pages': String(pages),
    'x-per-page': String(per_page),
    'x-page': String(page),
    'x-next-page': next === null ? '' : String(next),
    'x-prev-page': previous === null ? '' : String(previous),
    link: links.join(', '),
  };
};
