/** Which calls of API clients the endpoints answer: derived from the route table. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyEndpoint } from '../../src/platform/http/endpoint.ts';

type Endpoint = Pick<AnyEndpoint<never>, 'method' | 'path' | 'params'>;

export type ClientCall = {
  method: string;
  /** Path parameters are written as `:`. */
  path: string;
  isAnswered: boolean;
};

export type ClientCalls = { name: string; kind: string; calls: ClientCall[] };

/** A segment of a declared path, with the words that its parameter enumerates. */
type Segment = { text: string; words: readonly string[] };

type Route = { method: string; segments: Segment[] };

type Called = { method: string; segments: string[] };

const toSegments = (path: string): string[] => path.split('/').slice(1);

const toRoute = ({ method, path, params }: Endpoint): Route => ({
  method,
  segments: toSegments(path).map((text) => {
    const schema: { enum?: readonly string[] } | undefined = params.properties[text.split(':')[1] ?? ''];
    return { text, words: schema?.enum ?? [] };
  }),
});

/**
 * Whether a segment of a call is one of a route. A word is a value of a parameter only if the parameter enumerates it,
 * or if the segment starts with a fixed text: `archive.tar.gz`. Other parameters are ids and names, not words.
 */
const isSegment = (called: string, { text, words }: Segment): boolean => {
  const [before = '', param] = text.split(':');
  if (param === undefined) return called === text;
  if (!called.startsWith(before)) return false;
  const value = called.slice(before.length);
  return (
    value.startsWith(':') || words.includes(value) || (before !== '' && value !== '' && words.length === 0)
  );
};

const isRoute = ({ method, segments }: Route, called: Called): boolean =>
  method === called.method &&
  segments.length === called.segments.length &&
  segments.every((segment, at) => isSegment(called.segments[at] ?? '', segment));

const readClients = (): { name: string; kind: string; lines: string[] }[] => {
  const text = readFileSync(join(import.meta.dirname, 'client_calls.txt'), 'utf8');
  const blocks = text.split('\n\n').slice(1);
  return blocks.map((block) => {
    const [title = '', ...lines] = block.trimEnd().split('\n');
    const [name = '', kind = ''] = title.split(': ');
    return { name, kind, lines };
  });
};

/** Every call of each client. A GET also answers HEAD. */
export const clientCalls = (endpoints: readonly Endpoint[]): ClientCalls[] => {
  const routes = endpoints.map(toRoute);
  const isAnswered = (method: string, path: string): boolean => {
    const called = { method: method === 'HEAD' ? 'GET' : method, segments: toSegments(path) };
    return routes.some((route) => isRoute(route, called));
  };
  return readClients().map(({ name, kind, lines }) => ({
    name,
    kind,
    calls: lines.flatMap((line) => {
      const [methods = '', path = ''] = line.trim().split(' ');
      return methods.split(',').map((method) => ({ method, path, isAnswered: isAnswered(method, path) }));
    }),
  }));
};

/** Whether a client finds every call. */
export const isComplete = ({ calls }: ClientCalls): boolean => calls.every((call) => call.isAnswered);

const heading = `Which calls of API clients Gantry answers, by client.

A path parameter is written as ":". A word in a path, such as "slack", is answered only by an endpoint that takes this
word; ":" is answered by one that takes some words, since users of the client choose the word. What a call that is
answered can send is in client_parameters.txt.
`;

const missingText = ({ calls }: ClientCalls): string => {
  const missing = calls.filter((call) => !call.isAnswered).length;
  return missing === 0 ? 'all' : `all but ${missing}`;
};

export const clientCallsText = (endpoints: readonly Endpoint[]): string => {
  const clients = clientCalls(endpoints);
  const complete = clients.filter(isComplete).length;
  const summary = clients.map(
    (client) =>
      `  ${client.name.padEnd(28)} ${client.kind.padEnd(27)} ${String(client.calls.length).padStart(4)}  ${missingText(client)}`,
  );
  const sections = clients
    .filter(({ calls }) => calls.length > 0)
    .map(({ name, calls }) =>
      [
        name,
        ...calls.map(
          ({ method, path, isAnswered }) =>
            `  ${isAnswered ? 'answered' : 'missing '}  ${method.padEnd(6)} ${path}`,
        ),
      ].join('\n'),
    );
  const title = `  ${'client'.padEnd(28)} ${'what it is'.padEnd(27)} calls  answered`;
  return `${heading}\n${complete} of ${clients.length} clients find every call.\n\n${[title, ...summary].join('\n')}\n\n${sections.join('\n\n')}\n`;
};
