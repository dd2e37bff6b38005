/**
 * Random requests drawn from what endpoints declare. Two of three are such as somebody sends who knows what there is:
 * these get through. The rest are well-formed values in any mixture, odd ones and junk.
 */
import fc from 'fast-check';
import type { AnyEndpoint } from '../../src/platform/http/endpoint.ts';
import { type Place, placesOf } from './path_params.ts';
import { type Keywords, validValue, wellFormed } from './valid_values.ts';

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

const anyValue = (keywords: Keywords): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: wellFormed(keywords) }, { weight: 1, arbitrary: junk });

export type DrawnRequest = {
  endpoint: number;
  path: Record<string, unknown>;
  rest: Record<string, unknown>;
  as: 'root' | 'member' | 'stranger' | 'nobody';
  how: 'query' | 'json' | 'form';
  /** Whether its values are junk, or meet by chance. */
  wild: boolean;
};

const pathNames = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');

type Declared = [name: string, keywords: Keywords & { default?: unknown }];

const declaredOf = (endpoint: AnyEndpoint<never>): { inPath: Declared[]; rest: Declared[] } => {
  const names = pathNames(endpoint.path);
  const all = Object.entries(endpoint.params.properties) as Declared[];
  const { inPath = [], rest = [] } = Object.groupBy(all, ([name]) =>
    names.includes(name) ? 'inPath' : 'rest',
  );
  return { inPath, rest };
};

const recordOf = (all: Declared[], value: (one: Declared) => fc.Arbitrary<unknown>) =>
  Object.fromEntries(all.map((one) => [one[0], value(one)]));

const how = fc.constantFrom<DrawnRequest['how'][]>('query', 'json', 'form');

const wildRequest = (endpoint: AnyEndpoint<never>, index: number): fc.Arbitrary<DrawnRequest> => {
  const { inPath, rest } = declaredOf(endpoint);
  const value = ([, keywords]: Declared) => anyValue(keywords);
  return fc.record({
    endpoint: fc.constant(index),
    path: fc.record(recordOf(inPath, value)),
    rest: fc.record(recordOf(rest, value), { requiredKeys: [] }),
    as: fc.constantFrom('root', 'root', 'member', 'member', 'stranger', 'nobody'),
    how,
    wild: fc.constant(true),
  });
};

/** What must be given, a few of the others, and a record that is there. */
const validRequest = (
  endpoint: AnyEndpoint<never>,
  index: number,
  places: readonly Place[],
): fc.Arbitrary<DrawnRequest> => {
  const { inPath, rest } = declaredOf(endpoint);
  const required = endpoint.params.required ?? [];
  const value = ([name, keywords]: Declared) => validValue(endpoint.path, name, keywords);
  const isNeeded = ([name, keywords]: Declared): boolean =>
    required.includes(name) && keywords.default === undefined;
  const optional = rest.filter((one) => !isNeeded(one));
  const found = placesOf(endpoint.path, places);
  const inPlace = (names: Declared[], place: Place['params']) =>
    Object.fromEntries(names.filter(([name]) => name in place).map(([name]) => [name, place[name]]));
  return fc.constantFrom(...(found.length > 0 ? found : [{}])).chain((place) =>
    fc.subarray(optional, { maxLength: Math.min(3, optional.length) }).chain((some) =>
      fc
        .record({
          path: fc.record(recordOf(inPath, value)),
          rest: fc.record(recordOf([...rest.filter(isNeeded), ...some], value)),
          as: fc.constantFrom<DrawnRequest['as'][]>('root', 'root', 'root', 'member', 'member', 'stranger'),
          how,
        })
        .map((drawn) => ({
          ...drawn,
          endpoint: index,
          path: { ...drawn.path, ...inPlace(inPath, place) },
          rest: { ...drawn.rest, ...inPlace(rest, place) },
          wild: false,
        })),
    ),
  );
};

export const anyRequest = (
  endpoints: readonly AnyEndpoint<never>[],
  places: readonly Place[],
): fc.Arbitrary<DrawnRequest> =>
  fc.nat({ max: endpoints.length - 1 }).chain((index) => {
    const endpoint = endpoints[index];
    if (endpoint === undefined) throw new Error('no endpoint');
    return fc.oneof(
      { weight: 2, arbitrary: validRequest(endpoint, index, places) },
      { weight: 1, arbitrary: wildRequest(endpoint, index) },
    );
  });

/** Requests to one endpoint, none of them wild. */
export const validRequests = (
  endpoint: AnyEndpoint<never>,
  index: number,
  places: readonly Place[],
  runs: { numRuns: number; seed: number },
): DrawnRequest[] => fc.sample(validRequest(endpoint, index, places), runs);

export const asText = (part: unknown): string =>
  typeof part === 'string' ? part : (JSON.stringify(part) ?? '');

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
