import { sql } from 'kysely';
import type { TSchema } from 'typebox';
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { decimalNumber, int, object, optional, timestamp } from '../../platform/http/schema.ts';
import { emptySettingContext } from '../../core/settings/value_checks.ts';
import { describeMeaning } from '../../core/settings/form_controls.ts';
import { type SettingName, type Settings, fields, settingNames } from '../../core/settings/fields.ts';
import type { Field } from '../../core/settings/field_kinds.ts';
import { readSettings } from '../../core/settings/settings_store.ts';
import { formatTime } from '../../platform/time.ts';
import { changeSettings } from './change_settings.ts';

const perField = (make: (field: Field) => TSchema): Record<SettingName, TSchema> =>
  Object.fromEntries(settingNames.map((name) => [name, make(fields[name] as Field)])) as Record<
    SettingName,
    TSchema
  >;

const settingsShape = object({
  id: int,
  created_at: timestamp,
  updated_at: timestamp,
  ...perField(({ shape }) => shape),
});

const withMeaning = (field: Field): TSchema =>
  optional({ ...field.param, description: describeMeaning(field, emptySettingContext) });

/** Names that older clients use for some settings. */
const aliases = Object.fromEntries(
  settingNames.flatMap((name) => {
    const field = fields[name] as Field;
    const { alias } = field;
    return alias === undefined
      ? []
      : [[alias, optional({ ...field.param, description: `The same as ${name}.` })]];
  }),
);

/** The record was created with the database. */
const begunAt = async ({ db }: Call): Promise<number> => {
  const { rows } = await sql<{ at: number }>`select min(applied_at) as at from migrations`.execute(db);
  return rows[0]?.at ?? 0;
};

/** Formats a decimal for clients with fixed-point types: whole numbers with one place, `1.0`. */
const decimalText = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value));

const withDecimalTexts = (settings: Settings): object => {
  const entries = Object.entries(settings).map(([name, value]) => {
    const isDecimal = fields[name as SettingName].shape === decimalNumber && typeof value === 'number';
    return [name, isDecimal ? decimalText(value) : value];
  });
  return Object.fromEntries(entries) as object;
};

const settingsJson = async (call: Call) => {
  const { settings, updated_at } = await readSettings(call.db);
  const created_at = await begunAt(call);
  return {
    id: 1,
    created_at: formatTime(created_at),
    updated_at: formatTime(updated_at ?? created_at),
    ...(call.platform.config.compat.includes('decimal-strings') ? withDecimalTexts(settings) : settings),
  };
};

const getSettings = endpoint({
  method: 'GET',
  path: '/application/settings',
  summary: 'Get the settings of the instance',
  area: 'settings',
  audience: 'admin',
  params: object({}),
  reply: settingsShape,
  handle: settingsJson,
});

const putSettings = endpoint({
  method: 'PUT',
  path: '/application/settings',
  summary: 'Update the settings of the instance',
  area: 'settings',
  audience: 'admin',
  params: object({ ...perField(withMeaning), ...aliases }),
  reply: settingsShape,
  handle: async (call, params) => {
    await changeSettings(call, params);
    return await settingsJson(call);
  },
});

export const settingsRoutes = [getSettings, putSettings];
