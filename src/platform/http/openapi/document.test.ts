import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { AnyEndpoint } from '../endpoint.ts';
import { type OpenApi, openApiDocument } from './document.ts';
import { pageParams } from '../page.ts';
import {
  array,
  boolean,
  clearable,
  date,
  id,
  idOrPath,
  idOrWord,
  int,
  integers,
  names,
  nullable,
  object,
  oneOf,
  optional,
  string,
  text,
} from '../schema.ts';

const person = object({ id: int, name: string });
const book = object({
  id: int,
  title: string,
  subtitle: nullable(string),
  kind: nullable(oneOf(['novel', 'poem'])),
  author: person,
  editor: nullable(person),
});

const declare = (endpoint: Partial<AnyEndpoint<never>>): AnyEndpoint<never> => ({
  method: 'GET',
  path: '/books',
  summary: 'Books',
  area: 'books',
  audience: 'user',
  params: object({}),
  reply: book,
  handle: async () => ({}),
  ...endpoint,
});

const filters = {
  state: optional(oneOf(['lent', 'free'], { aliases: { gone: 'lent' } })),
  ids: optional(integers()),
  labels: optional(names({ description: 'labels' })),
  author_id: optional(idOrWord(['None', 'Any'], 'who wrote it')),
};

const fields = {
  rack_id: idOrPath('id or path of the rack'),
  title: text(),
  due: optional(clearable(date())),
  is_new: optional(boolean()),
};

const endpoints = [
  declare({ params: object({ ...filters, ...pageParams }), list: true, audience: 'optional' }),
  declare({ path: '/racks/:rack_id/books/:id', params: object({ rack_id: idOrPath('rack'), id: id() }) }),
  declare({ method: 'POST', path: '/racks/:rack_id/books', params: object(fields) }),
  declare({
    method: 'DELETE',
    path: '/racks/:rack_id',
    params: object({ rack_id: idOrPath('rack'), why: optional(text()) }),
    reply: null,
    audience: 'admin',
  }),
  declare({ path: '/words', reply: array(string), audience: 'anyone', refusals: [403] }),
  declare({ path: '/emoji' }),
  declare({ path: '/emoji/:emoji_id', params: object({ emoji_id: id() }) }),
];

const make = (): OpenApi => openApiDocument(endpoints, '1.2.3');
const operation = (path: string, method: string) => make().paths[path]?.[method] ?? assert.fail('not there');

test('the document is valid OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(make()));
  assert.deepEqual({ valid, errors }, { valid: true, errors: undefined });
});

test('an operation is named by its method and path alone', () => {
  const operations = Object.values(make().paths).flatMap((methods) => Object.values(methods));
  const ids = operations.map(({ operationId }) => operationId);
  assert.deepEqual(ids, [
    'getBooks',
    'getRackBook',
    'postRackBooks',
    'deleteRack',
    'getWords',
    'getEmoji',
    'getEmojiByEmojiId',
  ]);
});

test('puts parameters of GET and DELETE into path and query', () => {
  const { parameters = [] } = operation('/books', 'get');
  assert.deepEqual(parameters.slice(0, 4), [
    { name: 'state', in: 'query', schema: { type: 'string', enum: ['lent', 'free'] } },
    {
      name: 'ids[]',
      in: 'query',
      style: 'form',
      explode: true,
      schema: { type: 'array', items: { type: 'integer' }, maxItems: 100 },
    },
    {
      name: 'labels',
      in: 'query',
      description: 'labels, separated by commas',
      schema: { type: 'string' },
    },
    {
      name: 'author_id',
      in: 'query',
      description: 'who wrote it',
      schema: { anyOf: [{ type: 'integer' }, { type: 'string', enum: ['None', 'Any'] }] },
    },
  ]);
  assert.deepEqual(parameters.at(-1)?.schema, { type: 'integer', default: 20 });
  const removed = operation('/racks/{rack_id}', 'delete');
  assert.deepEqual(
    removed.parameters?.map((one) => [one.name, one.in, one.required]),
    [
      ['rack_id', 'path', true],
      ['why', 'query', undefined],
    ],
  );
  assert.equal(removed.requestBody, undefined);
});

test('puts parameters of POST into a body, as JSON and as a form', () => {
  const { parameters, requestBody } = operation('/racks/{rack_id}/books', 'post');
  assert.deepEqual(
    parameters?.map(({ name }) => name),
    ['rack_id'],
  );
  const schema = { $ref: '#/components/schemas/PostRackBooksBody' };
  assert.deepEqual(requestBody, {
    required: true,
    content: { 'application/json': { schema }, 'application/x-www-form-urlencoded': { schema } },
  });
  assert.deepEqual(make().components.schemas['PostRackBooksBody'], {
    type: 'object',
    properties: {
      title: { type: 'string', maxLength: 255 },
      due: { type: ['string', 'null'], format: 'date' },
      is_new: { type: 'boolean' },
    },
    required: ['title'],
  });
});

test('makes a shared shape one component, even if it is nullable', () => {
  const { schemas } = make().components;
  assert.deepEqual(schemas['Book'], {
    type: 'object',
    properties: {
      id: { type: 'integer' },
      title: { type: 'string' },
      subtitle: { type: ['string', 'null'] },
      kind: { type: ['string', 'null'], enum: ['novel', 'poem', null] },
      author: { $ref: '#/components/schemas/Author' },
      editor: { anyOf: [{ $ref: '#/components/schemas/Author' }, { type: 'null' }] },
    },
    required: ['id', 'title', 'subtitle', 'kind', 'author', 'editor'],
  });
});

test('names a shape by its title', () => {
  const named = object({ id: int }, { title: 'Volume' });
  const { components } = openApiDocument([declare({ reply: named })], '1');
  assert.ok('Volume' in components.schemas);
});

test('documents the headers of lists and the failures of records', () => {
  const list = operation('/books', 'get').responses['200'] as { headers: object; content: object };
  assert.ok('X-Total' in list.headers && 'Link' in list.headers);
  assert.deepEqual(list.content, {
    'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Book' } } },
  });
  assert.deepEqual(Object.keys(operation('/racks/{rack_id}/books/{id}', 'get').responses), [
    '200',
    '400',
    '401',
    '403',
    '404',
    '414',
    '431',
  ]);
  assert.deepEqual(Object.keys(operation('/words', 'get').responses), ['200', '403', '414', '431']);
  assert.deepEqual(operation('/racks/{rack_id}', 'delete').responses['204'], { description: 'No Content' });
});

test('documents who may call: anyone, anyone with more for users, users', () => {
  assert.deepEqual(operation('/words', 'get').security, []);
  assert.deepEqual(operation('/books', 'get').security?.[0], {});
  assert.equal(operation('/emoji', 'get').security, undefined);
  assert.equal(make().security.length, 3);
});

test('contains nothing internal', () => {
  assert.doesNotMatch(JSON.stringify(make()), /"x-|nullable|9007199254740991|"~/);
});

test('adds parameters to a name that is taken; /user is the current user', () => {
  const paths = ['/user', '/users/:id', '/things', '/things/:id', '/thing', '/thing/:id'];
  const document = openApiDocument(
    paths.map((path) => declare({ path })),
    '1',
  );
  const ids = Object.values(document.paths).map(({ get }) => get?.operationId);
  assert.deepEqual(ids, [
    'getCurrentUser',
    'getUser',
    'getThings',
    'getThingsById',
    'getThing',
    'getThingById',
  ]);
});
