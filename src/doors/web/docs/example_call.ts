/** Builds an example call of an operation. */
import type { OpenApi, Operation } from '../../../platform/http/openapi/document.ts';
import type { Schema } from '../../../platform/http/openapi/schemas.ts';
import { fieldText } from '../parts/fields/field_text.ts';

export type Field = {
  name: string;
  in: 'path' | 'query' | 'body';
  required: boolean;
  schema: Schema;
  meaning: string;
};

/** Lists the parameters of an operation, from path, query and body, path first. */
export const fieldsOf = ({ components }: OpenApi, { parameters = [], requestBody }: Operation): Field[] => {
  const declared = parameters.map(({ name, in: place, required = false, description = '', schema }) => {
    return { name, in: place, required, schema, meaning: description };
  });
  const reference = fieldText(requestBody?.content['application/json']?.schema['$ref']);
  const body = components.schemas[reference.replace('#/components/schemas/', '')] ?? {};
  const required = new Set((body['required'] as string[] | undefined) ?? []);
  const sent = Object.entries((body['properties'] as { [name: string]: Schema } | undefined) ?? {});
  return [
    ...declared,
    ...sent.map(([name, schema]): Field => {
      return {
        name,
        in: 'body',
        required: required.has(name),
        schema,
        meaning: fieldText(schema['description']),
      };
    }),
  ];
};

const byFormat: Record<string, string> = { 'date-time': '2026-01-31T12:00:00Z', date: '2026-01-31' };
const byType: Record<string, string> = {
  integer: '1',
  number: '1.5',
  boolean: 'true',
  array: '1',
  object: '{}',
};

const sample = ({ name, schema }: Field): string => {
  const { enum: words, format, items } = schema as { enum?: string[]; format?: string; items?: Schema };
  const type = String([schema['type']].flat()[0]);
  if (words?.[0] !== undefined) return words[0];
  if (format !== undefined) return byFormat[format] ?? name;
  if (items !== undefined) return sample({ name, schema: items } as Field);
  return byType[type] ?? (name.endsWith('_id') ? '1' : name.replace('[]', ''));
};

const pairs = (fields: Field[]): string[] =>
  fields.map((field) => `${field.name}=${encodeURIComponent(sample(field))}`);

const pathOf = (path: string, fields: Field[]): string =>
  path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const field = fields.find((one) => one.in === 'path' && one.name === name);
    return field === undefined ? name : encodeURIComponent(sample(field));
  });

/** Selects the required fields; an update sends at least one. */
const worthSending = (method: string, fields: Field[]): Field[] => {
  const required = fields.filter((field) => field.required && field.in !== 'path');
  const body = fields.filter((field) => field.in === 'body');
  return required.length === 0 && method === 'PUT' ? body.slice(0, 1) : required;
};

export type Call = { method: string; path: string; fields: Field[]; signsIn: boolean };

const longestLine = 80;

/** Formats one `curl` command; `base` is the URL of the API. */
export const exampleCall = (base: string, { method, path, fields, signsIn }: Call): string => {
  const sent = worthSending(method, fields);
  const query = pairs(sent.filter((field) => field.in === 'query')).join('&');
  const url = `${base}${pathOf(path, fields)}${query === '' ? '' : `?${query}`}`;
  const parts = [
    'curl',
    ...(method === 'GET' ? [] : [`--request ${method}`]),
    ...(signsIn ? ['--header "PRIVATE-TOKEN: $TOKEN"'] : []),
    ...pairs(sent.filter((field) => field.in === 'body')).map((pair) => `--data "${pair}"`),
    `"${url}"`,
  ];
  const line = parts.join(' ');
  return line.length <= longestLine ? line : parts.join(' \\\n  ');
};
