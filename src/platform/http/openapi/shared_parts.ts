/** Parts of the OpenAPI document that all endpoints share: credentials, errors, pagination headers. */

export const securitySchemes = {
  privateToken: {
    type: 'apiKey',
    in: 'header',
    name: 'PRIVATE-TOKEN',
    description: 'A private, personal or impersonation token.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'An OAuth 2 token, or any of the others.' },
  privateTokenQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'private_token',
    description: 'Deprecated: a token in a URL ends up in logs. Send the header.',
  },
};

/** Error schemas. Their names begin with `Error`, which response shapes never do. */
export const errorSchemas = {
  Error: {
    type: 'object',
    properties: { message: { type: 'string' } },
    required: ['message'],
  },
  ErrorOfParameters: {
    type: 'object',
    properties: {
      message: {
        description: 'A reason, or the problems of each parameter.',
        anyOf: [
          { type: 'string' },
          { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
        ],
      },
    },
    required: ['message'],
  },
  ErrorOfScope: {
    type: 'object',
    properties: {
      error: { type: 'string', enum: ['insufficient_scope'] },
      error_description: { type: 'string' },
      scope: {
        type: 'string',
        description: 'Sufficient scopes, separated by spaces; any one of them is enough.',
      },
    },
    required: ['error', 'error_description', 'scope'],
  },
};

const refusal = (description: string, schema: object, examples: { [name: string]: object }) => ({
  description,
  content: {
    'application/json': {
      schema,
      examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])),
    },
  },
});

const ref = (schema: keyof typeof errorSchemas) => ({ $ref: `#/components/schemas/${schema}` });

export const errorResponses = {
  BadRequest: refusal('A parameter is missing or has an invalid value.', ref('ErrorOfParameters'), {
    missing: { message: '400 (Bad request) "title" not given' },
    invalid: { message: { title: ["can't be blank"] } },
  }),
  Unauthorized: refusal('The credential is missing or invalid.', ref('Error'), {
    any: { message: '401 Unauthorized' },
  }),
  Forbidden: refusal(
    'The caller or the token is not allowed to do this.',
    { anyOf: [ref('Error'), ref('ErrorOfScope')] },
    {
      role: { message: '403 Forbidden' },
    },
  ),
  NotFound: refusal('The record does not exist, or the caller cannot see it.', ref('Error'), {
    project: { message: '404 Project Not Found' },
    record: { message: '404 Not found' },
  }),
  UriTooLong: refusal(
    'The query is longer than 8 KiB, or a path segment is longer than 2,000 characters.',
    ref('Error'),
    {
      any: { message: '414 Request-URI Too Long' },
    },
  ),
  HeadersTooLarge: refusal('The headers are longer than 16 KiB.', ref('Error'), {
    any: { message: '431 Request Header Fields Too Large' },
  }),
};

/** Component name of each error response, by status. */
export const refusalNames = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  414: 'UriTooLong',
  431: 'HeadersTooLarge',
} as const satisfies { [status: number]: keyof typeof errorResponses };

const header = (type: string | string[], description: string) => ({ description, schema: { type } });

/** Keyed by name. */
export const pageHeaderComponents = {
  'X-Total': header('integer', 'Number of items'),
  'X-Total-Pages': header('integer', 'Number of pages'),
  'X-Per-Page': header('integer', 'Items a page'),
  'X-Page': header('integer', 'This page, from 1'),
  'X-Next-Page': header('string', 'Next page; empty on the last one'),
  'X-Prev-Page': header('string', 'Previous page; empty on the first one'),
  Link: header('string', 'URLs with `rel` of `prev`, `next`, `first` and `last`'),
};

/** Introduction, before the list of operations: in the document and on the page. */
export const guide = [
  'Send a token in the header `PRIVATE-TOKEN`, or as `Authorization: Bearer <token>`. ' +
    'An administrator acts as another user with the header `SUDO: <id or user name>`.',
  'Where a path says `{id}` of a project or group, it takes a number or the full path with `/` written as `%2F`.',
  'Parameters of POST and PUT go in a JSON body, in a form or in the query string; unknown parameters are ignored and listed in the header `Gantry-Ignored-Parameters`.',
  'Lists come in pages: `page` and `per_page` (20, at most 100); the headers `X-Total` and `Link` describe the other pages.',
  'Times are UTC, as in `2026-01-31T12:00:00.000Z`; dates are `YYYY-MM-DD`.',
  'Records that the caller cannot see answer 404, like missing records.',
].join('\n\n');
