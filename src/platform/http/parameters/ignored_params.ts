/**
 * Names the parameters of a request that its endpoint does not declare, declares as unavailable, or received as a
 * file in place of a value.
 */
import type { TObject } from 'typebox';
import { credentialParams } from '../credential_params.ts';
import { getFileParams, getFileParts } from '../body/file_parts.ts';
import type { RawParams } from '../params.ts';

export const ignoredParamsHeader = 'gantry-ignored-parameters';

/** Maximum characters of one name and of the whole header. Proxies accept headers of at least 4 KiB. */
const maxNameLength = 100;
const maxHeaderLength = 2000;

/** Declared names; for a hash, the names of its parts (null: any name). */
type Declared = { readonly [name: string]: Declared | null };

type Property = { 'x-kind'?: string; properties?: Record<string, Property> };

const declare = (properties: Record<string, Property>): Declared => {
  const available = Object.entries(properties).filter(([, property]) => property['x-kind'] !== 'unavailable');
  const entries = available.map(([name, property]): [string, Declared | null] => {
    const parts = property['x-kind'] === 'any' ? (property.properties ?? {}) : {};
    return [name, Object.keys(parts).length === 0 ? null : declare(parts)];
  });
  return Object.assign(Object.create(null) as Declared, Object.fromEntries(entries));
};

/** Encodes a name as printable ASCII without commas, so that it can neither end the header nor look like two names. */
const encodeName = (name: string): string =>
  encodeURIComponent(name.slice(0, maxNameLength).toWellFormed())
    .replaceAll('%5B', '[')
    .replaceAll('%5D', ']');

const isHash = (value: unknown): value is RawParams =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Appends undeclared names to `ignored` until they no longer fit the header. */
const collect = (declared: Declared, sent: RawParams, parent: string | null, ignored: string[]): void => {
  for (const name of Object.keys(sent)) {
    const parts = declared[name];
    const path = parent === null ? name : `${parent}[${name}]`;
    if (parts === undefined) {
      if (parent === null && credentialParams.has(name)) continue;
      if (ignored.push(encodeName(path)) > maxHeaderLength / 2) return;
    } else if (parts !== null) {
      const value = sent[name];
      if (isHash(value)) collect(parts, value, path, ignored);
    }
  }
};

/** Joins names; replaces names that do not fit by `...`. */
const join = (names: string[]): string => {
  let header = '';
  for (const name of names) {
    if (header.length + name.length > maxHeaderLength) return `${header}, ...`;
    header += header === '' ? name : `, ${name}`;
  }
  return header;
};

/**
 * Returns the value of the header for raw parameters; null if every parameter is declared.
 * @param withoutEffect declared parameters without effect on this service
 */
export type IgnoredParams = (sent: RawParams, withoutEffect?: readonly string[]) => string | null;

export const ignoredParams = (schema: TObject): IgnoredParams => {
  const declared = declare(schema.properties);
  const fileParams = new Set(getFileParams(schema));
  return (sent, withoutEffect = []) => {
    const ignored: string[] = [];
    collect(declared, sent, null, ignored);
    ignored.push(...withoutEffect.filter((name) => Object.hasOwn(sent, name)));
    const files = getFileParts(sent).map(({ field }) => encodeName(field));
    if (files.length > 0) ignored.push(...new Set(files).difference(new Set(ignored)).difference(fileParams));
    return ignored.length === 0 ? null : join(ignored);
  };
};
