/** What a wanted change makes of the settings: pure, all or nothing. */
import { type Problems, invalid, notGiven } from '../errors.ts';
import type { Problem, Surroundings } from './checks.ts';
import { type SettingName, type Settings, fields, settingNames } from './fields.ts';
import type { Field } from './kinds.ts';

/** As the API read them; null clears. */
export type Wanted = { readonly [name: string]: unknown };

export type Change = { name: SettingName; before: unknown; after: unknown };

/** What is kept of a value that was read; null clears. */
export const valueOf = (field: Field, given: unknown): unknown => {
  const value = given === null ? (Array.isArray(field.default) ? [] : null) : given;
  return field.normalise === undefined ? value : field.normalise(value);
};

/** By its own name, else by its other one. */
const givenOf = (name: SettingName, wanted: Wanted): unknown => {
  const { alias } = fields[name];
  return wanted[name] ?? (wanted[name] === undefined && alias !== undefined ? wanted[alias] : wanted[name]);
};

const isBlank = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

const blankTexts: Partial<Record<SettingName, string>> = {
  domain_blacklist: 'Domain blacklist cannot be empty if Blacklist is enabled.',
};

/** What is turned on needs its address or its list: in the request, or kept from before. */
const checkNeeds = (given: Map<SettingName, unknown>, after: Settings, problems: Problems): void => {
  for (const name of settingNames) {
    const needs = fields[name].needs as SettingName | undefined;
    if (needs === undefined || after[name] !== true || !isBlank(after[needs])) continue;
    if (!given.has(needs) && given.has(name)) throw notGiven(needs);
    if (given.has(needs)) problems[needs] ??= [blankTexts[needs] ?? "can't be blank"];
  }
};

const keyNames = ['rsa', 'dsa', 'ecdsa', 'ed25519'].map((type) => `${type}_key_restriction` as SettingName);

/**
 * The settings as they would be, and what of them differs.
 * @throws Failure 400 where anything is wrong with any of them
 */
export const changed = (
  before: Settings,
  wanted: Wanted,
  around: Surroundings,
): { after: Settings; changes: Change[] } => {
  const problems: Problems = {};
  const given = new Map<SettingName, unknown>();
  for (const name of settingNames) {
    const sent = givenOf(name, wanted);
    if (sent === undefined) continue;
    const field = fields[name] as Field;
    const value = valueOf(field, sent);
    const problem: Problem = field.check?.(value, around) ?? null;
    if (problem !== null) problems[name] = [problem];
    given.set(name, value);
  }
  const after: Settings = { ...before, ...Object.fromEntries(given) };
  checkNeeds(given, after, problems);
  if (keyNames.every((name) => after[name] === -1)) problems['allowed_key_types'] = ["can't be blank"];
  if (Object.keys(problems).length > 0) throw invalid(problems);
  const differs = [...given].filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  return { after, changes: differs.map(([name, value]) => ({ name, before: before[name], after: value })) };
};
