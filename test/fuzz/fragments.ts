/** What is repeated: fragments that a parser may read again from each of their starts, and what carries them. */
import fc from 'fast-check';
import type { AnyEndpoint } from '../../src/platform/http/endpoint.ts';
import { type Place, placesOf } from './path_params.ts';
import { type Sendable, asText } from './requests.ts';
import type { Sent } from './send.ts';
import { type Keywords, validValue } from './valid_values.ts';

export type Probe = {
  /** Names the input in a failure. */
  name: string;
  /** Bytes or characters at most: more are refused before they are read. */
  longest: number;
  /** The request with so many characters of the fragment. */
  of: (length: number) => Sent;
};

export const short = ['1', ' ', '%41', '\u0301\u0323', '-'];
export const texts = [
  ...short,
  'a\u0301',
  'a/',
  '/',
  '[',
  '](',
  '(',
  '..',
  '\n',
  '\r\n',
  '*',
  '`',
  '<!--',
  '{{',
  '@a ',
  '#1 ',
  '/label ~a\n',
  '- [ ] ',
  '"a ',
  '\\',
  ',',
  'a: [',
  '&a *a ',
  '1h ',
  'İ',
];

/** Fragments that are also sent with another end: a pattern at the end of a text goes back from it. */
const withOtherEnd = new Set(['/', ' ', '.', '-', '\n', '\r\n', ',', 'a/']);

export const repeated = (fragment: string, length: number): string =>
  fragment.repeat(Math.ceil(length / fragment.length)).slice(0, length);

/** Of a value in a path, and of a query. */
const longestPart = 7 * 1024;
export const longestQuery = 7 * 1024;
const longestText = 64 * 1024;
/** Of a text that fills a body of two MiB. */
const longestBodyText = 2 * 1024 * 1024 - 4 * 1024;
export const inTokens = ['a', ' ', 'a.', '-', 'é', '\0', 'İ', '@', '\\'];

type Declared = [name: string, keywords: Keywords & { maxLength?: number }];

const drawn = (path: string, [name, keywords]: Declared, seed: number): unknown =>
  fc.sample(validValue(path, name, keywords), { numRuns: 1, seed })[0];

const isText = ({ type, format, enum: words }: Keywords): boolean =>
  (type === 'string' || type === undefined || type === 'array') &&
  format === undefined &&
  words === undefined;

type Values = { inPath: Record<string, unknown>; rest: Record<string, unknown> };

const pathNames = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');

export const fillPath = (path: string, values: Record<string, unknown>): string =>
  path.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(asText(values[name] ?? 'x')));

/** The pairs of a query or form. Elements of an array are pairs of their own. */
const pairsOf = (values: Record<string, unknown>): string[][] =>
  Object.entries(values).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((one) => [`${name}[]`, asText(one)]) : [[name, asText(value)]],
  );

const wire = (endpoint: AnyEndpoint<never>, { inPath, rest }: Values, prefix: string): Sendable => {
  const { method } = endpoint;
  const url = `${prefix}${fillPath(endpoint.path, inPath)}`;
  if (method === 'GET' || method === 'DELETE') {
    return { method, url: `${url}?${new URLSearchParams(pairsOf(rest)).toString()}` };
  }
  if (prefix === '') {
    const form = new URLSearchParams(pairsOf(rest));
    return { method, url, body: form.toString(), type: 'application/x-www-form-urlencoded' };
  }
  return { method, url, body: JSON.stringify(rest), type: 'application/json' };
};

/** Characters as a URL carries them. */
const encodedLength = (fragment: string): number => encodeURIComponent(fragment).length / fragment.length;

const longestOf = (endpoint: AnyEndpoint<never>, [name, keywords]: Declared, fragment: string): number => {
  if (pathNames(endpoint.path).includes(name)) return Math.floor(longestPart / encodedLength(fragment));
  const isQuery = endpoint.method === 'GET' || endpoint.method === 'DELETE';
  const most = isQuery ? Math.floor(longestQuery / encodedLength(fragment)) : longestText;
  const taken = keywords.maxLength ?? (keywords.type === 'array' ? most : 255);
  // A text that is too long is refused for its length, whatever is in it.
  return isText(keywords) ? Math.min(most, taken) : most;
};

/** Path and required parameters of an endpoint, as somebody sends them who knows what there is. */
export const knownValues = (endpoint: AnyEndpoint<never>, places: readonly Place[], seed: number): Values => {
  const all = Object.entries(endpoint.params.properties) as Declared[];
  const names = pathNames(endpoint.path);
  const required = endpoint.params.required ?? [];
  const place = placesOf(endpoint.path, places)[0] ?? {};
  const known = (one: Declared): unknown => place[one[0]] ?? drawn(endpoint.path, one, seed);
  const inPath = Object.fromEntries(
    all.filter(([name]) => names.includes(name)).map((one) => [one[0], known(one)]),
  );
  const rest = Object.fromEntries(
    all
      .filter(([name]) => required.includes(name) && !names.includes(name))
      .map((one) => [one[0], known(one)]),
  );
  return { inPath, rest };
};

type ElementOf = (at: number, items: Keywords) => string | number;

const elementKinds: Record<string, ElementOf> = {
  'elements that differ': (at, { type, enum: words = [] }) =>
    type === 'integer' ? at + 1 : (words[at % words.length] ?? `n${at}`),
  'one element': (_at, { type, enum: words = [] }) => (type === 'integer' ? 1 : (words[0] ?? 'a')),
};

const isMany = (keywords: Keywords): boolean => keywords.type === 'array' || keywords['x-kind'] === 'names';

/** Elements of which twice as many are still read: of a JSON body and of a form. */
const mostElements = { json: 20_000, form: 450 };

/** For each parameter that is an array, n elements instead of one long text. */
export const elementProbesOf = (
  endpoint: AnyEndpoint<never>,
  places: readonly Place[],
  seed: number,
  prefix = '/api/v4',
): Probe[] => {
  const { inPath, rest } = knownValues(endpoint, places, seed);
  const isQuery = endpoint.method === 'GET' || endpoint.method === 'DELETE';
  const isForm = isQuery || prefix === '';
  const arrays = (Object.entries(endpoint.params.properties) as Declared[]).filter(([, one]) => isMany(one));
  return arrays.flatMap(([name, { items = {} }]) =>
    Object.entries(elementKinds).map(([kind, elementOf]) => {
      // A form names the parameter with each element, in encoded brackets.
      const each = String(elementOf(10_000, items)).length + (isForm ? name.length + 8 : 3);
      const most = isForm ? mostElements.form : mostElements.json;
      return {
        name: `${endpoint.method} ${endpoint.path}: ${name}: ${kind}`,
        longest: isQuery ? longestQuery : most * each,
        of: (length: number) => {
          const count = Math.max(1, Math.floor(length / each));
          const all = Array.from({ length: count }, (_none, at) => elementOf(at, items));
          return wire(endpoint, { inPath, rest: { ...rest, [name]: all } }, prefix);
        },
      };
    }),
  );
};

/** For each parameter of an endpoint, each fragment; all others as somebody sends them who knows what there is. */
export const probesOf = (
  endpoint: AnyEndpoint<never>,
  places: readonly Place[],
  seed: number,
  prefix = '/api/v4',
): Probe[] => {
  const all = Object.entries(endpoint.params.properties) as Declared[];
  const names = pathNames(endpoint.path);
  const { inPath, rest } = knownValues(endpoint, places, seed);
  return all.flatMap((one) => {
    const [name, keywords] = one;
    const fragments = isText(keywords) ? texts : short;
    const pairs = fragments.flatMap((fragment) =>
      (withOtherEnd.has(fragment) ? ['', 'x'] : ['']).map((end) => ({ fragment, end })),
    );
    return pairs.map(({ fragment, end }) => ({
      name: `${endpoint.method} ${endpoint.path}: ${name}: ${JSON.stringify(fragment)}${end}`,
      longest: longestOf(endpoint, one, fragment),
      of: (length: number) => {
        const value = (repeated(fragment, length - end.length) + end).toWellFormed();
        return names.includes(name)
          ? wire(endpoint, { inPath: { ...inPath, [name]: value }, rest }, prefix)
          : wire(endpoint, { inPath, rest: { ...rest, [name]: value } }, prefix);
      },
    }));
  });
};

/** Texts in the body of an endpoint that anybody may call, as long as a body may be. */
export const unauthenticatedProbesOf = (endpoint: AnyEndpoint<never>, prefix = '/api/v4'): Probe[] => {
  const all = Object.keys(endpoint.params.properties);
  const names = pathNames(endpoint.path);
  return all
    .filter((name) => !names.includes(name))
    .flatMap((name) =>
      inTokens.map((fragment) => ({
        name: `${endpoint.method} ${endpoint.path}: ${name}: ${JSON.stringify(fragment)}`,
        longest: longestBodyText,
        of: (length: number) =>
          wire(
            endpoint,
            {
              inPath: Object.fromEntries(names.map((one) => [one, 1])),
              rest: {
                ...Object.fromEntries(all.map((one) => [one, 'x'])),
                [name]: repeated(
                  fragment,
                  Math.floor(length / Buffer.byteLength(JSON.stringify(fragment).slice(1, -1))) *
                    fragment.length,
                ),
              },
            },
            prefix,
          ),
      })),
    );
};
