/** The OpenAPI 3.1 document of the declared endpoints. */
import { capitalize } from '../../unicode.ts';
import { STATUS_CODES } from '../node_http.ts';
import type { TSchema } from 'typebox';
import { type AnyEndpoint, statusOfEndpoint } from '../endpoint.ts';
import { getFileParams } from '../body/file_parts.ts';
import { apiPrefix } from '../mount.ts';
import { nameOperations, nameShapes } from './name_operations_and_shapes.ts';
import {
  errorResponses,
  errorSchemas,
  guide,
  pageHeaderComponents,
  refusalNames,
  securitySchemes,
} from './shared_parts.ts';
import { type Refer, type Schema, paramSchema, plainSchema, toShape } from './schemas.ts';

export type Parameter = {
  name: string;
  in: 'path' | 'query';
  description?: string;
  required?: boolean;
  style?: string;
  explode?: boolean;
  schema: Schema;
};

type Content = { [type: string]: { schema: Schema } };
type Response = { description: string; headers?: object; content?: Content } | { $ref: string };

export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: { [status: string]: Response };
};

export type OpenApi = {
  openapi: '3.1.1';
  info: { title: string; version: string; summary: string; description: string };
  servers: { url: string }[];
  security: object[];
  tags: { name: string }[];
  paths: { [path: string]: { [method: string]: Operation } };
  components: { schemas: { [name: string]: Schema } } & { [kind: string]: object };
};

type Endpoint = AnyEndpoint<never>;
type Field = { name: string; schema: Schema; required: boolean };
type ParameterLocation = 'path' | 'query' | 'body';

const paramPattern = /:([A-Za-z0-9_]+)(?:\([^)]*\))?/g;

const paramNames = (path: string): string[] => [
  ...[...path.matchAll(paramPattern)].map(([, name]) => name ?? ''),
  ...(path.endsWith('*') ? ['*'] : []),
];

/** Converts `/projects/:id` into `/projects/{id}`. */
const template = (path: string): string => path.replaceAll(paramPattern, '{$1}').replace(/\*$/, '{path}');

const getPlace = (name: string, { method, path }: Endpoint): ParameterLocation => {
  if (paramNames(path).includes(name)) return 'path';
  return method === 'GET' || method === 'DELETE' ? 'query' : 'body';
};

const fieldsIn = (endpoint: Endpoint, location: ParameterLocation): Field[] => {
  const required = new Set(endpoint.params.required ?? []);
  const fields = Object.entries(endpoint.params.properties as { [name: string]: TSchema & Schema });
  return fields
    .filter(([name]) => getPlace(name, endpoint) === location)
    .map(([name, schema]) => ({
      name,
      schema: paramSchema(schema, location),
      required: location === 'path' || (required.has(name) && schema['default'] === undefined),
    }));
};

const parameter = ({ name, schema, required }: Field, location: 'path' | 'query'): Parameter => {
  const { description, ...rest } = schema as Schema & { description?: string };
  const isList = location === 'query' && schema['type'] === 'array';
  return {
    name: name === '*' ? 'path' : isList ? `${name}[]` : name,
    in: location,
    ...(description !== undefined && { description }),
    ...(required && { required }),
    ...(isList && { style: 'form', explode: true }),
    schema: rest,
  };
};

const buildParameters = (endpoint: Endpoint): Parameter[] => {
  const declared = fieldsIn(endpoint, 'path');
  const ofPath = paramNames(endpoint.path).map(
    (name) =>
      declared.find((field) => field.name === name) ?? { name, schema: { type: 'string' }, required: true },
  );
  return [
    ...ofPath.map((field) => parameter(field, 'path')),
    ...fieldsIn(endpoint, 'query').map((field) => parameter(field, 'query')),
  ];
};

/** Names of endpoints and shapes in this document. */
type Names = { operation: (endpoint: Endpoint) => string; refer: Refer; shapes: Map<string, Schema> };

const nameAll = (endpoints: readonly Endpoint[]): Names => {
  const { shapes, nameOf } = nameShapes(endpoints);
  const refer: Refer = (schema) => {
    const name = nameOf(schema);
    return name === undefined ? undefined : `#/components/schemas/${name}`;
  };
  return { operation: nameOperations(endpoints), refer, shapes };
};

/** Registers a body's schema as a component, so that both of its content types share it. */
const bodyName = (endpoint: Endpoint, { operation }: Names): string => {
  return `${capitalize(operation(endpoint))}Body`;
};

const bodySchema = (endpoint: Endpoint): Schema | null => {
  const fields = fieldsIn(endpoint, 'body');
  if (fields.length === 0) return null;
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, field.schema])),
    ...(required.length > 0 && { required }),
  };
};

const fileForm = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        properties: { file: { type: 'string', contentMediaType: 'application/octet-stream' } },
        required: ['file'],
      },
    },
  },
};

const buildBody = (endpoint: Endpoint, names: Names): Operation['requestBody'] => {
  if (endpoint.body === 'stream') return fileForm;
  const body = bodySchema(endpoint);
  if (body === null) return undefined;
  const schema = { $ref: `#/components/schemas/${bodyName(endpoint, names)}` };
  return {
    required: 'required' in body,
    content: {
      'application/json': { schema },
      'application/x-www-form-urlencoded': { schema },
      ...(getFileParams(endpoint.params).length > 0 && { 'multipart/form-data': { schema } }),
    },
  };
};

const buildSuccess = (endpoint: Endpoint, refer: Refer): Response => {
  const { reply, list, content: type } = endpoint;
  const description = STATUS_CODES[statusOfEndpoint(endpoint)] ?? 'Success';
  if (type !== undefined) return { description, content: { [type]: { schema: { type: 'string' } } } };
  if (reply === null) return { description };
  const shape = plainSchema(reply as Schema, refer);
  const content = { 'application/json': { schema: list === true ? { type: 'array', items: shape } : shape } };
  if (list !== true) return { description, content };
  const headers = Object.keys(pageHeaderComponents).map((name) => [
    name,
    { $ref: `#/components/headers/${name}` },
  ]);
  return { description, headers: Object.fromEntries(headers), content };
};

const buildFailures = (endpoint: Endpoint): { [status: string]: Response } => {
  const hasPath = paramNames(endpoint.path).length > 0;
  const isOpen = endpoint.audience === 'anyone';
  const statuses = new Set<keyof typeof refusalNames>([
    ...(Object.keys(endpoint.params.properties).length > 0 ? [400 as const] : []),
    ...(isOpen ? [] : [401 as const, 403 as const]),
    ...(hasPath ? [404 as const] : []),
    ...(endpoint.refusals ?? []),
    414,
    431,
  ]);
  return Object.fromEntries(
    [...statuses].map((status) => [status, { $ref: `#/components/responses/${refusalNames[status]}` }]),
  );
};

/** Returns the security of an endpoint by its audience. Without an entry, the document's security applies. */
const buildAccess = ({ audience }: Endpoint): Pick<Operation, 'security' | 'description'> => {
  switch (audience) {
    case 'anyone':
      return { security: [] };
    case 'optional':
      return { security: [{}, ...anyCredential] };
    case 'admin':
      return { description: 'Administrators only.' };
    default:
      return {};
  }
};

const anyCredential = Object.keys(securitySchemes).map((name) => ({ [name]: [] }));

const buildOperation = (endpoint: Endpoint, names: Names): Operation => {
  const parameters = buildParameters(endpoint);
  const requestBody = buildBody(endpoint, names);
  const success = buildSuccess(endpoint, names.refer);
  return {
    operationId: names.operation(endpoint),
    tags: [endpoint.area],
    summary: endpoint.summary,
    ...buildAccess(endpoint),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: { [String(statusOfEndpoint(endpoint))]: success, ...buildFailures(endpoint) },
  };
};

const buildPaths = (endpoints: readonly Endpoint[], names: Names): OpenApi['paths'] => {
  const paths: OpenApi['paths'] = {};
  for (const endpoint of endpoints) {
    const path = template(endpoint.path);
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: buildOperation(endpoint, names) };
  }
  return paths;
};

const buildSchemas = (endpoints: readonly Endpoint[], names: Names): OpenApi['components']['schemas'] => {
  const bodies = endpoints.map((endpoint) => [bodyName(endpoint, names), bodySchema(endpoint)] as const);
  const schemas = [
    ...Object.entries(errorSchemas),
    ...[...names.shapes].map(([name, schema]) => [name, toShape(schema, names.refer)] as const),
    ...bodies.filter((entry): entry is readonly [string, Schema] => entry[1] !== null),
  ];
  return Object.fromEntries(schemas.toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

/** Builds the document. Paths are in declaration order, schemas in name order. */
export const openApiDocument = (endpoints: readonly AnyEndpoint<never>[], version: string): OpenApi => {
  const names = nameAll(endpoints);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Gantry API',
      version,
      summary: 'Code hosting over HTTP and JSON, version 4',
      description: guide,
    },
    servers: [{ url: apiPrefix }],
    security: anyCredential,
    tags: [...new Set(endpoints.map(({ area }) => area))].map((name) => ({ name })),
    paths: buildPaths(endpoints, names),
    components: {
      schemas: buildSchemas(endpoints, names),
      responses: errorResponses,
      headers: pageHeaderComponents,
      securitySchemes,
    },
  };
};
