/** Parses the settings form with the rules of the API. */
import { hash } from 'node:crypto';
import type { Problems } from '../../../../../platform/errors.ts';
import { type ParamsReader, type RawParams, paramsReader } from '../../../../../platform/http/params.ts';
import { object, optional } from '../../../../../platform/http/schema.ts';
import { type RequestedSettings, toStoredValue } from '../../../../../core/settings/compute_changes.ts';
import type { SettingContext } from '../../../../../core/settings/value_checks.ts';
import { type Control, toControl } from '../../../../../core/settings/form_controls.ts';
import {
  type SettingName,
  type Settings,
  fields,
  settingNames,
} from '../../../../../core/settings/fields.ts';
import type { Field } from '../../../../../core/settings/field_kinds.ts';
import { problemsOf } from '../../../parts/form_problems.ts';

/** Content of a control: a text, or the values of ticked checkboxes. */
export type Filled = string | readonly string[];

/** Input to keep when the form is shown again. */
export type Typed = Partial<Record<SettingName, Filled>>;

export type Read = {
  /** Settings whose value differs from the value that the form showed. */
  requested: RequestedSettings;
  problems: Problems;
  typed: Typed;
};

export const fieldOf = (name: SettingName): Field => fields[name] as Field;

/** Formats a setting's value for its control. */
export const filledOf = (value: unknown, control: Control): Filled => {
  if (Array.isArray(value)) return control.kind === 'list' ? value.join('\n') : (value as string[]);
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'number' ? String(value) : ((value as string | null) ?? '');
};

/** Digest of a value, which shows whether a field was edited, independent of changes by others. */
export const digestOf = (value: unknown): string =>
  hash('sha256', JSON.stringify(value), 'base64url').slice(0, 12);

const textsOf = (raw: unknown): string[] =>
  Array.isArray(raw) ? raw.filter((one) => typeof one === 'string') : [];

const sentAs = (raw: unknown, control: Control): Filled | null => {
  // A ticked checkbox sends the hidden 0 first.
  const one = control.kind === 'flag' && Array.isArray(raw) ? (raw as unknown[]).at(-1) : raw;
  if (control.kind === 'choices')
    return Array.isArray(raw) ? textsOf(raw).filter((word) => word !== '') : null;
  return typeof one === 'string' ? one : null;
};

const readFilled = (filled: Filled, control: Control): unknown => {
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

const readOne = (name: SettingName, sent: unknown): One => {
  try {
    const value = readerOf(name)({ [name]: sent })[name];
    return value === undefined
      ? { problems: ["can't be blank"] }
      : { value: toStoredValue(fieldOf(name), value) };
  } catch (error) {
    const problems = problemsOf(error)?.fields[name];
    if (problems === undefined) throw error;
    return { problems };
  }
};

/**
 * Reads only fields that differ from what the form showed, so that changes by others are kept.
 * @param seen digests of the values that the form showed
 */
export const readForm = (sent: RawParams, seen: RawParams, around: SettingContext): Read => {
  const values: Partial<Record<SettingName, unknown>> = {};
  const changed = new Set<SettingName>();
  const [problems, typed]: [Problems, Typed] = [{}, {}];
  for (const name of settingNames) {
    const control = toControl(fieldOf(name), around);
    const filled = sentAs(sent[name], control);
    if (filled === null) continue;
    const read = readOne(name, readFilled(filled, control));
    if ('problems' in read) problems[name] = read.problems;
    else if (digestOf(read.value) === seen[name]) values[name] = read.value;
    else {
      values[name] = read.value;
      changed.add(name);
    }
    if ('problems' in read || changed.has(name)) typed[name] = filled;
  }
  // Validate an enabled setting together with the settings it needs.
  const needed = [...changed].map((name) => fieldOf(name).needs as SettingName | undefined);
  const names = [
    ...changed,
    ...needed.filter((name) => name !== undefined && name in values),
  ] as SettingName[];
  return { requested: Object.fromEntries(names.map((name) => [name, values[name]])), problems, typed };
};

/** Fills the form with these settings, overlaid with the user's input. */
export const filledForm = (
  settings: Settings,
  typed: Typed,
  around: SettingContext,
): Record<SettingName, Filled> =>
  Object.fromEntries(
    settingNames.map((name) => [
      name,
      typed[name] ?? filledOf(settings[name], toControl(fieldOf(name), around)),
    ]),
  ) as Record<SettingName, Filled>;
