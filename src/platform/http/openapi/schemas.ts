/** Converts the schemas of `schema.ts` to OpenAPI 3.1 (JSON Schema 2020-12). */
import { maxId } from '../schema.ts';

export type Schema = { [keyword: string]: unknown };

/** Returns the name of the component to which a schema becomes a reference; undefined if the schema is inlined. */
export type Refer = (schema: Schema) => string | undefined;

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

/** Adds null to the allowed types. */
const orNull = (schema: Schema): Schema => {
  const { type, enum: words } = schema;
  if (type === undefined)
    return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: 'null' }] };
  const types = [...new Set([type, 'null'].flat())];
  return { ...schema, type: types, ...(Array.isArray(words) && { enum: [...(words as unknown[]), null] }) };
};

const isBound = ([keyword, value]: [string, unknown]): boolean =>
  !((keyword === 'minimum' || keyword === 'maximum') && Math.abs(Number(value)) === maxId);

const isInternal = (keyword: string): boolean =>
  keyword.startsWith('x-') || keyword.startsWith('~') || keyword === 'nullable';

const convertChildren = (schema: Schema, convert: (child: Schema) => Schema): Schema => {
  const converted: Schema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (!isSchema(value)) continue;
    if (keyword === 'properties') {
      const entries = Object.entries(value) as [string, Schema][];
      converted[keyword] = Object.fromEntries(entries.map(([name, child]) => [name, convert(child)]));
    } else if (keyword === 'anyOf' || keyword === 'oneOf' || keyword === 'allOf') {
      converted[keyword] = (value as unknown as Schema[]).map(convert);
    } else if (keyword === 'items' || keyword === 'additionalProperties') {
      converted[keyword] = convert(value);
    }
  }
  return converted;
};

/** Removes our own keywords, turns `nullable` into a type, and replaces shared shapes by references. */
export const plainSchema = (schema: Schema, refer: Refer): Schema => {
  const reference = refer(schema);
  const bare = reference === undefined ? toShape(schema, refer) : { $ref: reference };
  return schema['nullable'] === true ? orNull(bare) : bare;
};

/** Like `plainSchema`, for the definition of a shared shape. */
export const toShape = (schema: Schema, refer: Refer): Schema => {
  const kept = Object.entries(schema).filter((entry) => !isInternal(entry[0]) && isBound(entry));
  return { ...Object.fromEntries(kept), ...convertChildren(schema, (child) => plainSchema(child, refer)) };
};

/** Adds a description of how name lists are written, if the declaration has none. */
const describedNames = ({ description }: Schema): Schema => {
  const how = 'separated by commas';
  if (typeof description !== 'string') return { description: `names ${how}` };
  return { description: description.includes('comma') ? description : `${description}, ${how}` };
};

const byKind = (schema: Schema): Schema => {
  switch (schema['x-kind']) {
    case 'names':
      return { type: 'string', ...describedNames(schema) };
    case 'id_or_path':
      return { ...toShape(schema, () => undefined), type: ['integer', 'string'] };
    case 'id_or_word': {
      const { description } = schema;
      const anyOf = [{ type: 'integer' }, { type: 'string', enum: schema['x-words'] }];
      return { anyOf, ...(description !== undefined && { description }) };
    }
    case 'file':
      return { ...toShape(schema, () => undefined), contentMediaType: 'application/octet-stream' };
    default:
      return toShape(schema, () => undefined);
  }
};

/** Converts a parameter's schema. Clearable parameters are nullable in a body; a query has no null. */
export const paramSchema = (schema: Schema, location: 'path' | 'query' | 'body'): Schema => {
  const plain = byKind(schema);
  return schema['x-clearable'] === true && location === 'body' ? orNull(plain) : plain;
};
