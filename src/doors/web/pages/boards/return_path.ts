/** Parses the column of a form, and makes the address to return to. */
import { notFound } from '../../../../platform/errors.ts';
import type { ColumnKey } from '../../../../planning/boards/columns/columns.ts';
import { optional, text } from '../../../../platform/http/schema.ts';

/** Parameters of forms on a board: the filters of the page, to return to them. */
export const returnParams = { query: optional(text({ maxLength: 4_000 })) };

/** @throws Failure 404 for a text that names no column */
export const readKey = (sent: string): ColumnKey => {
  if (sent === 'open' || sent === 'closed') return sent;
  if (!/^\d{1,15}$/.test(sent)) throw notFound();
  return Number(sent);
};

/** Returns the address of a board with the filters that the form was sent from. */
export const backTo = (path: string, query: string | null = '', anchor = ''): string => {
  const text = new URLSearchParams(query ?? '').toString();
  return `${path}${text === '' ? '' : `?${text}`}${anchor === '' ? '' : `#${anchor}`}`;
};
