/** Random requests drawn from what endpoints declare: well-formed values, odd ones and junk. */
import fc from 'fast-check';
import type { AnyEndpoint } from '../../src/http/endpoint.ts';

type Keywords = { type?: string; format?: string; enum?: string[]; items?: Keywords; 'x-kind'?: string };

/** Ids that exist in the seeded world, and some that do not. */
const ids = fc.constantFrom(1, 2, 3, 4, 5, 6, 0, -1, 999_999, Number.MAX_SAFE_INTEGER);

const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    '',
    null,
    'None',
    'Any',
    'nil',
    '0x10',
    '1e3',
    '1.5',
    ' 7 ',
    '+5',
    '9223372036854775808',
    '１',
    '%',
    '_',
    '\\',
    '"',
    "'",
    ';--',
    '\u0000',
    '\ud800',
    '☃',
    '@root',
    '#1',
    '..',
    '../../etc/passwd',
    '__proto__',
    '-1',
    'true',
    '2024-02-30',
    '0000-01-01',
    '+275760-09-13',
    '99999999999999999mo',
    '1h'.repeat(40),
    ','.repeat(300),
    [],
    {},
    [[]],
    [null],
    { a: 1 },
    { 0: 'x' },
    { __proto__: { admin: true } },
    0,
    -0,
    1e308,
    true,
  ),
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.array(fc.oneof(fc.integer(), fc.string({ maxLength: 5 })), { maxLength: 5 }),
);

const word = fc.constantFrom('bug', 'ui', 'root', 'team', 'x', 'a b', 'Ünïcode', 'v1.0', 'bug,ui');

const wellFormed = (keywords: Keywords): fc.Arbitrary<unknown> => {
  if (keywords.enum !== undefined) return fc.constantFrom(...keywords.enum);
  if (keywords['x-kind'] === 'id_or_path')
    return fc.oneof(ids, fc.constantFrom('root/first', 'team', 'team/inner/deep', 'nope/nope'));
  if (keywords['x-kind'] === 'names') return fc.oneof(word, fc.array(word, { maxLength: 3 }));
  switch (keywords.type) {
    case 'integer':
      return ids;
    case 'number':
      return fc.double({ noNaN: true });
    case 'boolean':
      return fc.constantFrom(true, false, 'true', 'no', 1, 0);
    case 'array':
      return fc.array(wellFormed(keywords.items ?? {}), { maxLength: 4 });
    default:
      return text(keywords);
  }
};

const text = ({ format }: Keywords): fc.Arbitrary<unknown> => {
  if (format === 'date') return fc.constantFrom('2026-01-01', '2030-12-31');
  if (format === 'date-time')
    return fc.constantFrom('2026-01-01T00:00:00Z', '2020-02-29', '2017-01-05T10:00:00+01:00');
  return word;
};

const value = (keywords: Keywords): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: wellFormed(keywords) }, { weight: 1, arbitrary: junk });

export type DrawnRequest = {
  endpoint: number;
  path: Record<string, unknown>;
  rest: Record<string, unknown>;
  as: 'root' | 'member' | 'stranger' | 'nobody';
  how: 'query' | 'json' | 'form';
};

const pathNames = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');

const requestTo = (endpoint: AnyEndpoint<never>, index: number): fc.Arbitrary<DrawnRequest> => {
  const inPath = pathNames(endpoint.path);
  const properties = Object.entries(endpoint.params.properties) as [string, Keywords][];
  const values = (wanted: boolean) =>
    Object.fromEntries(
      properties.filter(([name]) => inPath.includes(name) === wanted).map(([n, k]) => [n, value(k)]),
    );
  return fc.record({
    endpoint: fc.constant(index),
    path: fc.record(values(true)),
    rest: fc.record(values(false), { requiredKeys: [] }),
    as: fc.constantFrom('root', 'root', 'member', 'member', 'stranger', 'nobody'),
    how: fc.constantFrom('query', 'json', 'form'),
  });
};

export const anyRequest = (endpoints: readonly AnyEndpoint<never>[]): fc.Arbitrary<DrawnRequest> =>
  fc.nat({ max: endpoints.length - 1 }).chain((index) => {
    const endpoint = endpoints[index];
    if (endpoint === undefined) throw new Error('no endpoint');
    return requestTo(endpoint, index);
  });

const asText = (part: unknown): string => (typeof part === 'string' ? part : (JSON.stringify(part) ?? ''));

const pairs = (name: string, part: unknown): string[] => {
  if (Array.isArray(part)) return part.flatMap((one) => pairs(`${name}[]`, one));
  if (typeof part === 'object' && part !== null) {
    return Object.entries(part).flatMap(([key, one]) => pairs(`${name}[${key}]`, one));
  }
  return [`${encodeURIComponent(name)}=${encodeURIComponent(asText(part).toWellFormed())}`];
};

const form = (values: Record<string, unknown>): string =>
  Object.entries(values)
    .flatMap(([name, part]) => pairs(name, part))
    .join('&');

export type Sendable = { method: string; url: string; body?: string; type?: string };

/** What goes over the wire. */
export const sendable = (endpoint: AnyEndpoint<never>, drawn: DrawnRequest): Sendable => {
  const path = endpoint.path.replace(
    /:(\w+)/g,
    (_all, name: string) =>
      encodeURIComponent(
        asText(drawn.path[name] ?? 'x')
          .toWellFormed()
          .slice(0, 200),
      ) || '%20',
  );
  const url = `/api/v4${path}`;
  if (drawn.how === 'query' || endpoint.method === 'GET') {
    return { method: endpoint.method, url: `${url}?${form(drawn.rest)}` };
  }
  const json = drawn.how === 'json';
  return {
    method: endpoint.method,
    url,
    body: json ? JSON.stringify(drawn.rest) : form(drawn.rest),
    type: json ? 'application/json' : 'application/x-www-form-urlencoded',
  };
};
