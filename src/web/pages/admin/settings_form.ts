/** What the form of the settings sends, read as the API would read it. */
import { hash } from 'node:crypto';
import type { Problems } from '../../../errors.ts';
import { type ParamsReader, type RawParams, paramsReader } from '../../../http/params.ts';
import { object, optional } from '../../../http/schema.ts';
import { type Wanted, valueOf } from '../../../settings/change.ts';
import type { Surroundings } from '../../../settings/checks.ts';
import { type Control, controlOf } from '../../../settings/controls.ts';
import { type SettingName, type Settings, fields, settingNames } from '../../../settings/fields.ts';
import type { Field } from '../../../settings/kinds.ts';
import { problemsOf } from '../../form.ts';

/** What a field of the form holds: a text, or those of several boxes. */
export type Filled = string | readonly string[];

/** What a form held that is not to be lost when it is shown again. */
export type Typed = Partial<Record<SettingName, Filled>>;

export type Read = {
  /** The settings that are to be other than the form showed them. */
  wanted: Wanted;
  problems: Problems;
  typed: Typed;
};

export const fieldOf = (name: SettingName): Field => fields[name] as Field;

/** A setting's value as the form holds it. */
export const filledOf = (value: unknown, control: Control): Filled => {
  if (Array.isArray(value)) return control.kind === 'list' ? value.join('\n') : (value as string[]);
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'number' ? String(value) : ((value as string | null) ?? '');
};

/** The same for the same value: tells whether a field was changed, whatever was changed by others since. */
export const digestOf = (value: unknown): string =>
  hash('sha256', JSON.stringify(value), 'base64url').slice(0, 12);

const textsOf = (raw: unknown): string[] =>
  Array.isArray(raw) ? raw.filter((one) => typeof one === 'string') : [];

const sentAs = (raw: unknown, control: Control): Filled | null => {
  // A ticked box comes behind the 0 that an empty one sends.
  const one = control.kind === 'flag' && Array.isArray(raw) ? (raw as unknown[]).at(-1) : raw;
  if (control.kind === 'choices')
    return Array.isArray(raw) ? textsOf(raw).filter((word) => word !== '') : null;
  return typeof one === 'string' ? one.replaceAll('\r\n', '\n') : null;
};

const givenOf = (filled: Filled, control: Control): unknown => {
  if (typeof filled !== 'string') return filled;
  if (control.kind === 'list') return filled.split('\n');
  return control.kind === 'choice' && filled === '' ? null : filled;
};

const readers = new Map<SettingName, ParamsReader>();

const readerOf = (name: SettingName): ParamsReader => {
  const reader = readers.get(name) ?? paramsReader(object({ [name]: optional(fieldOf(name).param) }));
  readers.set(name, reader);
  return reader;
};

type One = { value: unknown } | { problems: string[] };

const readOne = (name: SettingName, given: unknown): One => {
  try {
    const value = readerOf(name)({ [name]: given })[name];
    return value === undefined ? { problems: ["can't be blank"] } : { value: valueOf(fieldOf(name), value) };
  } catch (error) {
    const problems = problemsOf(error)?.fields[name];
    if (problems === undefined) throw error;
    return { problems };
  }
};

/**
 * Only what differs from what the form showed is wanted: what somebody else changed meanwhile stays.
 * @param seen digests of the values that the form showed
 */
export const readForm = (sent: RawParams, seen: RawParams, around: Surroundings): Read => {
  const values: Partial<Record<SettingName, unknown>> = {};
  const changed = new Set<SettingName>();
  const [problems, typed]: [Problems, Typed] = [{}, {}];
  for (const name of settingNames) {
    const control = controlOf(fieldOf(name), around);
    const filled = sentAs(sent[name], control);
    if (filled === null) continue;
    const read = readOne(name, givenOf(filled, control));
    if ('problems' in read) problems[name] = read.problems;
    else if (digestOf(read.value) === seen[name]) values[name] = read.value;
    else {
      values[name] = read.value;
      changed.add(name);
    }
    if ('problems' in read || changed.has(name)) typed[name] = filled;
  }
  // What is turned on is judged together with what it needs.
  const needed = [...changed].map((name) => fieldOf(name).needs as SettingName | undefined);
  const names = [
    ...changed,
    ...needed.filter((name) => name !== undefined && name in values),
  ] as SettingName[];
  return { wanted: Object.fromEntries(names.map((name) => [name, values[name]])), problems, typed };
};

/** The form as it shows these settings, with what was typed over it. */
export const filledForm = (
  settings: Settings,
  typed: Typed,
  around: Surroundings,
): Record<SettingName, Filled> =>
  Object.fromEntries(
    settingNames.map((name) => [
      name,
      typed[name] ?? filledOf(settings[name], controlOf(fieldOf(name), around)),
    ]),
  ) as Record<SettingName, Filled>;
