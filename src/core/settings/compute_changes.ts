/** Computes new settings from a requested change: pure, all or nothing. */
import { type Problems, invalid, missingAttribute } from '../../platform/errors.ts';
import type { Problem, SettingContext } from './value_checks.ts';
import { type SettingName, type Settings, fields, settingNames } from './fields.ts';
import type { Field } from './field_kinds.ts';

/** Settings as the API parsed them; null clears a setting. */
export type RequestedSettings = { readonly [name: string]: unknown };

export type Change = { name: SettingName; before: unknown; after: unknown };

/** Returns the value to store for a requested value; null clears the setting, and empties a list. */
export const toStoredValue = (field: Field, requested: unknown): unknown => {
  const value = requested === null ? (Array.isArray(field.default) ? [] : null) : requested;
  return field.normalize === undefined ? value : field.normalize(value);
};

/** Returns a requested value by the setting's own name, else by its alias. */
const getRequestedValue = (name: SettingName, input: RequestedSettings): unknown => {
  const { alias } = fields[name];
  return input[name] ?? (input[name] === undefined && alias !== undefined ? input[alias] : input[name]);
};

const isBlank = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

const blankTexts: Partial<Record<SettingName, string>> = {
  domain_blacklist: 'Domain blacklist cannot be empty if Blacklist is enabled.',
};

/**
 * Requires the address or list that a setting needs: named in each request that turns the setting on, and never
 * removed while it is on.
 */
const checkNeeds = (requested: Map<SettingName, unknown>, after: Settings, problems: Problems): void => {
  for (const name of settingNames) {
    const needs = fields[name].needs as SettingName | undefined;
    if (needs === undefined) continue;
    if (requested.get(name) === true && !requested.has(needs)) throw missingAttribute(needs);
    const isRemoved = after[name] === true && requested.has(needs) && isBlank(after[needs]);
    if (isRemoved) problems[needs] ??= [blankTexts[needs] ?? "can't be blank"];
  }
};

const keyNames = ['rsa', 'dsa', 'ecdsa', 'ed25519'].map((type) => `${type}_key_restriction` as SettingName);

/**
 * Computes the settings after a change, and the list of differences.
 * @throws Failure 400 if any requested value is invalid
 */
export const computeChanges = (
  before: Settings,
  input: RequestedSettings,
  around: SettingContext,
): { after: Settings; changes: Change[] } => {
  const problems: Problems = {};
  const requested = new Map<SettingName, unknown>();
  for (const name of settingNames) {
    const sent = getRequestedValue(name, input);
    if (sent === undefined) continue;
    const field = fields[name] as Field;
    const value = toStoredValue(field, sent);
    const problem: Problem = field.check?.(value, around) ?? null;
    if (problem !== null) problems[name] = [problem];
    requested.set(name, value);
  }
  const after: Settings = { ...before, ...Object.fromEntries(requested) };
  checkNeeds(requested, after, problems);
  if (keyNames.every((name) => after[name] === -1)) problems['allowed_key_types'] = ["can't be blank"];
  if (Object.keys(problems).length > 0) throw invalid(problems);
  const differs = [...requested].filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  return { after, changes: differs.map(([name, value]) => ({ name, before: before[name], after: value })) };
};
