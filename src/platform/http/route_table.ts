/**
 * Finds the route of a request. Fastify's own router generates code for each of several thousand pairs of method and
 * path, which took most of the time of a start.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { maxQueryBytes } from './body/parse_body.ts';
import { tooLong } from './failure.ts';

export type RouteHandler = (request: FastifyRequest, reply: FastifyReply) => unknown;

export type Route = {
  /** `*`: any method that the path has no other route for. */
  method: string;
  /** `/projects/:id/repository/archive.:format`: a parameter is the end of a segment, or all of it. */
  url: string;
  handler: RouteHandler;
  /** The handler reads the body itself, which may be long as long as data keeps arriving. */
  streams?: boolean;
  /** Failures are answered in HTML, whatever the client accepts. */
  isPage?: boolean;
};

export type FoundRoute = { route: Route; params: Record<string, string> };

export type RouteTable = {
  add: (route: Route) => void;
  /**
   * Finds the route of a path with valid escapes; undefined if there is none. In each segment, words come before
   * parameters.
   * @throws Failure 414 if no route matches and a parameter is too long
   */
  find: (method: string, path: string) => FoundRoute | undefined;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined if the path has no route, or is malformed. */
    route: Route | undefined;
  }
}

type Leaf = { route: Route; names: string[] };

type Node = {
  words: Map<string, Node>;
  /** `before`: the text before the parameter, as in `archive.:format`; longer texts are tried first. */
  params: { before: string; node: Node }[];
  /** Keyed by method. */
  leaves: Map<string, Leaf>;
};

const makeNode = (): Node => ({ words: new Map(), params: [], leaves: new Map() });

const takeWord = ({ words }: Node, word: string): Node => {
  const node = words.get(word) ?? makeNode();
  words.set(word, node);
  return node;
};

const takeParam = ({ params }: Node, before: string): Node => {
  const existing = params.find((param) => param.before === before);
  if (existing !== undefined) return existing.node;
  const node = makeNode();
  params.push({ before, node });
  params.sort((one, other) => other.before.length - one.before.length);
  return node;
};

const addRoute = (root: Node, route: Route): void => {
  let node = root;
  const names: string[] = [];
  for (const segment of route.url.slice(1).split('/')) {
    const [before = '', name] = segment.split(':');
    node = name === undefined ? takeWord(node, before) : takeParam(node, before);
    if (name !== undefined) names.push(name);
  }
  if (node.leaves.has(route.method)) throw new Error(`${route.method} ${route.url} has two routes`);
  node.leaves.set(route.method, { route, names });
};

const findLeaf = ({ leaves }: Node, method: string): Leaf | undefined =>
  leaves.get(method) ?? (method === 'HEAD' ? leaves.get('GET') : undefined) ?? leaves.get('*');

type Walk = {
  method: string;
  segments: readonly string[];
  /** Values of the parameters so far. */
  values: string[];
  isTooLong: boolean;
};

/** Follows the segments from `at`, and backtracks if they match no route. */
const follow = (walk: Walk, node: Node, at = 0): Leaf | undefined => {
  const segment = walk.segments[at];
  if (segment === undefined) return findLeaf(node, walk.method);
  const next = node.words.get(segment);
  const match = next && follow(walk, next, at + 1);
  if (match !== undefined) return match;
  const { length } = walk.values;
  for (const { before, node: after } of node.params) {
    if (!segment.startsWith(before)) continue;
    const value = segment.slice(before.length);
    if (value.length > maxQueryBytes) {
      walk.isTooLong = true;
      continue;
    }
    walk.values.push(value);
    const leaf = follow(walk, after, at + 1);
    if (leaf !== undefined) return leaf;
    walk.values.length = length;
  }
  return undefined;
};

const decode = (segment: string): string => (segment.includes('%') ? decodeURIComponent(segment) : segment);

/** Returns a path without its query and fragment. */
const dropQuery = (path: string): string => {
  const mark = path.indexOf('?');
  const hash = path.indexOf('#');
  const end = mark === -1 || (hash !== -1 && hash < mark) ? hash : mark;
  return end === -1 ? path : path.slice(0, end);
};

const splitPath = (path: string): string[] => {
  const segments = dropQuery(path).slice(1).split('/');
  return path.includes('%') ? segments.map(decode) : segments;
};

export const makeRouteTable = (): RouteTable => {
  const root = makeNode();
  return {
    add: (route) => addRoute(root, route),
    find: (method, path) => {
      const walk: Walk = { method, segments: splitPath(path), values: [], isTooLong: false };
      const leaf = follow(walk, root);
      if (leaf === undefined && walk.isTooLong) throw tooLong();
      if (leaf === undefined) return undefined;
      const params: Record<string, string> = {};
      for (let at = 0; at < leaf.names.length; at += 1) params[leaf.names[at] ?? ''] = walk.values[at] ?? '';
      return { route: leaf.route, params };
    },
  };
};
