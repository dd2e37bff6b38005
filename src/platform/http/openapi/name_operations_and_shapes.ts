/** Names operations and shared response shapes in the OpenAPI document. */
import { capitalize } from '../../unicode.ts';
import type { AnyEndpoint, Method } from '../endpoint.ts';
import type { Schema } from './schemas.ts';

type Named = { method: Method; path: string };

const pascal = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map(capitalize)
    .join('');

const singular = (word: string): string => {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return /(?:us|ss|settings|stats)$/.test(word) || !word.endsWith('s') ? word : word.slice(0, -1);
};

const isParam = (segment: string | undefined): boolean =>
  segment?.startsWith(':') === true || segment === '*';

const splitPath = (path: string): string[] => path.split('/').filter((segment) => segment !== '');

/**
 * Names one segment. A record of a list gets the list's singular, `/projects/:id` -> `Project`; without a singular,
 * `ThingByName`.
 */
const word = (segment: string, next: string | undefined): string => {
  if (isParam(segment)) return '';
  if (!isParam(next)) return pascal(segment);
  const single = singular(segment);
  return single === segment ? `${pascal(segment)}By${pascal(next ?? '')}` : pascal(single);
};

/** Names a path: `/projects/:id/issues` -> `ProjectIssues`. `/user` is the current user. */
const pathName = (path: string): string => {
  const segments = splitPath(path.replace(/^\/user(?=\/|$)/, '/current_user'));
  return segments.map((segment, index) => word(segment, segments[index + 1])).join('');
};

/** Names a path with all of its parameters, which makes the name unique. */
const longName = (path: string): string =>
  splitPath(path)
    .map((segment) => (isParam(segment) ? `By${pascal(segment)}` : pascal(segment)))
    .join('');

/** Returns the first name that is free; numbered if all are taken. */
const firstFree = (candidates: string[], taken: { has: (name: string) => boolean }): string => {
  const free = candidates.find((name) => !taken.has(name));
  if (free !== undefined) return free;
  let number = 2;
  while (taken.has(`${candidates.at(-1)}${number}`)) number += 1;
  return `${candidates.at(-1)}${number}`;
};

/**
 * Names operations by method and path only, so that names are stable: `GET /projects/:id/issues` is
 * `getProjectIssues`. If two names are equal, the operation with parameters also gets their names.
 */
export const nameOperations = (endpoints: readonly Named[]): ((endpoint: Named) => string) => {
  const key = ({ method, path }: Named): string => `${method} ${path}`;
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const { plain = [], other = [] } = Object.groupBy(endpoints, ({ path }) =>
    /[:*]/.test(path) ? 'other' : 'plain',
  );
  for (const { method, path } of [...plain, ...other]) {
    const verb = method.toLowerCase();
    const name = firstFree([verb + pathName(path), verb + longName(path)], taken);
    taken.add(name);
    names.set(key({ method, path }), name);
  }
  return (endpoint) => names.get(key(endpoint)) ?? '';
};

/* ---- shapes ---- */

/** Returns the identity of a shape. Schemas that share their properties are one shape, such as a nullable copy. */
const getIdentity = (schema: Schema): object | undefined => {
  const { properties } = schema;
  const isShape = schema['type'] === 'object' && typeof properties === 'object' && properties !== null;
  return isShape && Object.keys(properties).length > 0 ? properties : undefined;
};

type SeenShape = { schema: Schema; uses: number; isReply: boolean; names: string[] };

const replyName = ({ method, path, list }: AnyEndpoint<never>): string => {
  const segments = splitPath(path);
  const last = segments.findLastIndex((segment) => !isParam(segment));
  const isOne = list === true || method === 'POST' || isParam(segments[last + 1]);
  return pascal(isOne ? singular(segments[last] ?? '') : (segments[last] ?? ''));
};

const collectShapes = (
  shapes: Map<object, SeenShape>,
  schema: Schema,
  name: string,
  isReply: boolean,
): void => {
  const identity = getIdentity(schema);
  if (identity !== undefined) {
    const seen = shapes.get(identity) ?? { schema, uses: 0, isReply: false, names: [] };
    seen.uses += 1;
    seen.isReply ||= isReply;
    seen.names.push(name);
    const isNew = !shapes.has(identity);
    shapes.set(identity, seen);
    if (!isNew) return;
    for (const [key, child] of Object.entries(identity as { [name: string]: Schema })) {
      collectShapes(shapes, child, pascal(key), false);
    }
  }
  const { items, anyOf } = schema as { items?: Schema; anyOf?: Schema[] };
  if (items !== undefined) collectShapes(shapes, items, singular(name), isReply);
  for (const alternative of anyOf ?? []) collectShapes(shapes, alternative, name, isReply);
};

export type Components = {
  /** Sorted by name. */
  shapes: Map<string, Schema>;
  nameOf: (schema: Schema) => string | undefined;
};

/**
 * Names every shape that an endpoint returns or that is used twice. The name is the shape's `title`, else derived
 * from the path of the first endpoint that returns it, else from the property that contains it.
 */
export const nameShapes = (endpoints: readonly AnyEndpoint<never>[]): Components => {
  const seen = new Map<object, SeenShape>();
  for (const endpoint of endpoints) {
    if (endpoint.reply !== null) collectShapes(seen, endpoint.reply as Schema, replyName(endpoint), true);
  }
  const shared = [...seen].filter(([, one]) => one.isReply || one.uses > 1 || 'title' in one.schema);
  const shapes = new Map<string, Schema>();
  const names = new Map<object, string>();
  const name = ([identity, { schema, names: candidates }]: [object, SeenShape]): void => {
    const { title } = schema as { title?: string };
    const first = title ?? candidates[0] ?? 'Shape';
    const chosen = firstFree([first, `${first}Detail`], shapes);
    names.set(identity, chosen);
    shapes.set(chosen, schema);
  };
  const titled = ([, { schema }]: [object, SeenShape]): number => ('title' in schema ? 0 : 1);
  const rank = (entry: [object, SeenShape]): number => 2 * titled(entry) + (entry[1].isReply ? 0 : 1);
  for (const entry of shared.toSorted((a, b) => rank(a) - rank(b))) name(entry);
  return {
    shapes: new Map([...shapes].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    nameOf: (schema) => names.get(getIdentity(schema) ?? names),
  };
};
