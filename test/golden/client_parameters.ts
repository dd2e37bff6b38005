/** What becomes of each parameter that API clients can send: derived from the endpoints, with the reasons of the rest. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyEndpoint } from '../../src/platform/http/endpoint.ts';
import { credentialParams } from '../../src/platform/http/credential_params.ts';
import { refusalReason, treatmentReason } from './parameter_treatments.ts';

type Endpoint = Pick<AnyEndpoint<never>, 'method' | 'path' | 'params' | 'body' | 'withoutEffect'>;
type Property = { 'x-kind'?: string; properties?: { [name: string]: Property } };

export type ClientParameter = {
  endpoint: Endpoint;
  /** As `GET /projects/:id`. */
  request: string;
  name: string;
  /** Initials of the clients. */
  clients: string;
  treatment: 'acts' | 'kept' | 'refused' | 'ignored';
  /** Why it is ignored or refused; null: no reason is recorded. */
  reason: string | null;
};

const dataFile = join(import.meta.dirname, 'client_parameters.txt');

/** `GET /projects/:` -> the names that clients can send and by which of them. */
export const readFacts = (): Map<string, [name: string, clients: string][]> => {
  const lines = readFileSync(dataFile, 'utf8').split('\n');
  return new Map(
    lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const [method, path, ...names] = line.split(' ');
        const pairs = names.map((pair): [string, string] => {
          const [name = '', clients = ''] = pair.split('=');
          return [name, clients];
        });
        return [`${method} ${path}`, pairs];
      }),
  );
};

/** The declaration of `name`, or of `part` in `name[part]`. */
const findDeclaration = ({ params }: Endpoint, name: string): Property | undefined => {
  const [, top = name, part] = /^([^[]+)\[([^\]]+)\]$/.exec(name) ?? [];
  const property: Property | undefined = params.properties[top];
  const parts = property?.properties ?? {};
  return part === undefined || Object.keys(parts).length === 0 ? property : parts[part];
};

/** A call to a service that has every part that can be configured. */
export const configured = { platform: { config: { registry: {} } } } as never;

const isWithoutEffect = ({ withoutEffect }: Endpoint, name: string): boolean =>
  withoutEffect?.(configured).includes(name) === true;

const treat = (
  endpoint: Endpoint,
  request: string,
  name: string,
): Pick<ClientParameter, 'treatment' | 'reason'> => {
  const declaration = findDeclaration(endpoint, name);
  if (declaration?.['x-kind'] === 'unsupported') {
    return { treatment: 'refused', reason: refusalReason(name) };
  }
  if (declaration?.['x-kind'] === 'unavailable') {
    return { treatment: 'ignored', reason: treatmentReason(request, name) ?? 'not available' };
  }
  if (isWithoutEffect(endpoint, name)) return { treatment: 'kept', reason: null };
  const isFile = endpoint.body === 'stream' && name === 'file';
  if (declaration !== undefined || isFile || credentialParams.has(name))
    return { treatment: 'acts', reason: null };
  return { treatment: 'ignored', reason: treatmentReason(request, name) };
};

/** Every parameter of a served route that a client can send. */
export const clientParameters = (endpoints: readonly Endpoint[]): ClientParameter[] => {
  const facts = readFacts();
  return endpoints.flatMap((endpoint) => {
    const request = `${endpoint.method} ${endpoint.path}`;
    const sent = facts.get(request.replaceAll(/:\w+/g, ':')) ?? [];
    return sent.map(([name, clients]) => ({
      endpoint,
      request,
      name,
      clients,
      ...treat(endpoint, request, name),
    }));
  });
};

const heading = `What becomes of the parameters that API clients can send, by route.

  clients   g  client-go 2.64.0    p  python-gitlab 8.6.0    b  @gitbeaker/core 43.8.0
  acts      the parameter has its documented effect
  kept      the value is answered as it was sent, has no other effect, and is named as ignored
  refused   a value that would narrow the list is answered with 400
  ignored   the parameter has no effect and is named in the header Gantry-Ignored-Parameters
`;

/** @throws where a parameter is neither declared nor has a reason to be ignored */
export const clientParametersText = (endpoints: readonly Endpoint[]): string => {
  const all = clientParameters(endpoints);
  const silent = all.filter(
    ({ treatment, reason }) => (treatment === 'refused' || treatment === 'ignored') && reason === null,
  );
  if (silent.length > 0) {
    const lines = silent.map(({ request, name, clients }) => `  ${request}  ${name} (${clients})`);
    throw new Error(
      `clients send parameters that would be dropped silently: declare them (a filter as unsupportedFilter() at ` +
        `least), or give attributes of writes a reason in test/golden/parameter_treatments.ts\n${lines.join('\n')}`,
    );
  }
  const order = all.toSorted((a, b) => (`${a.request} ${a.name}` < `${b.request} ${b.name}` ? -1 : 1));
  const rows = Map.groupBy(order, ({ request }) => request);
  const sections = [...rows].map(([request, parameters]) => {
    const lines = parameters.map(
      ({ name, clients, treatment, reason }) =>
        `  ${name.padEnd(44)} ${clients.padEnd(4)} ${treatment}${reason === null ? '' : `: ${reason}`}`,
    );
    return [request, ...lines].join('\n');
  });
  return `${heading}\n${sections.join('\n\n')}\n`;
};
