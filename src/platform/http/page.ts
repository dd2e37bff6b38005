import { invalid } from '../errors.ts';
import { credentialParams } from './credential_params.ts';
import { integer } from './schema.ts';

const defaultPerPage = 20;
const maxPerPage = 100;
/** Far past any list that a store can hold, and still an exact integer. */
const maxOffset = 1_000_000_000_000;

/** Parameters of every list. */
export const pageParams = {
  page: { ...integer({ description: 'page number, from 1' }), default: 1 },
  per_page: { ...integer({ description: 'items per page, at most 100' }), default: defaultPerPage },
};

export type PageRequest = { page: number; per_page: number; limit: number; offset: number };

/** A page of a list: its items, and the exact total of matching records. */
export type Page<T> = { items: T[]; total: number };

/**
 * Computes offset and limit. A page of zero or less is 1. A negative size is the default, zero is refused, and 100 is
 * the maximum.
 */
export const pageRequest = (params: { page?: unknown; per_page?: unknown }): PageRequest => {
  const page = Math.max(Number(params.page ?? 1), 1);
  const requested = Number(params.per_page ?? defaultPerPage);
  if (requested === 0) throw invalid({ per_page: ['has a value not allowed'] });
  const per_page = requested < 0 ? defaultPerPage : Math.min(requested, maxPerPage);
  return { page, per_page, limit: per_page, offset: Math.min((page - 1) * per_page, maxOffset) };
};

/** Returns a page with the exact total. A first page that is not full holds all there is, so nothing is counted. */
export const withTotal = async <T>(
  { offset, limit }: PageRequest,
  items: T[],
  count: () => Promise<{ total: number }>,
): Promise<Page<T>> => {
  const isWhole = offset === 0 && items.length < limit;
  return { items, total: isWhole ? items.length : (await count()).total };
};

const scalarText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

const encodePairs = (name: string, value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap((part) => encodePairs(`${name}[]`, part));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, part]) => encodePairs(`${name}[${key}]`, part));
  }
  return [`${encodeURIComponent(name)}=${encodeURIComponent(scalarText(value))}`];
};

/** Maximum bytes of the header of links: clients and proxies accept 8 to 16 KiB of headers in all. */
const maxLinkBytes = 6 * 1024;

/** Joins as many links as fit, most important first. The other headers contain the rest of the information. */
const joinLinks = (links: readonly string[]): string => {
  let joined = '';
  for (const link of links) {
    const longer = joined === '' ? link : `${joined}, ${link}`;
    if (longer.length > maxLinkBytes) break;
    joined = longer;
  }
  return joined;
};

/** Returns the query of page links, split around the page number. */
const aroundPage = (sent: Record<string, unknown>, perPage: number): [string, string] => {
  const shown = { ...sent, page: '', per_page: perPage };
  // Links are stored and forwarded, so they must not contain credentials.
  const names = Object.keys(shown)
    .filter((name) => !credentialParams.has(name))
    .toSorted();
  const at = names.indexOf('page');
  const pairs = (some: string[]): string[] =>
    some.flatMap((name) => encodePairs(name, shown[name as keyof typeof shown]));
  return [[...pairs(names.slice(0, at)), 'page='].join('&'), ['', ...pairs(names.slice(at + 1))].join('&')];
};

/**
 * Returns all pagination headers. `url` is the list's absolute URL without query. `sent` contains every parameter for
 * the links: path parameters, defaults, and what the client sent.
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
  const joined = joinLinks(links);
  return {
    'x-total': String(total),
    'x-total-pages': String(pages),
    'x-per-page': String(per_page),
    'x-page': String(page),
    'x-next-page': next === null ? '' : String(next),
    'x-prev-page': previous === null ? '' : String(previous),
    ...(joined !== '' && { link: joined }),
  };
};
