import { sql } from 'kysely';
import type { TSchema } from 'typebox';
import { type Call, endpoint } from '../access/call.ts';
import { decimalNumber, int, object, optional, timestamp } from '../http/schema.ts';
import { noSurroundings } from '../settings/checks.ts';
import { meaningInFull } from '../settings/controls.ts';
import { type SettingName, type Settings, fields, settingNames } from '../settings/fields.ts';
import type { Field } from '../settings/kinds.ts';
import { readSettings } from '../settings/store.ts';
import { formatTime } from '../time.ts';
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
  optional({ ...field.param, description: meaningInFull(field, noSurroundings) });

/** What older clients call some of them. */
const aliases = Object.fromEntries(
  settingNames.flatMap((name) => {
    const field = fields[name] as Field;
    const { alias } = field;
    return alias === undefined
      ? []
      : [[alias, optional({ ...field.param, description: `The same as ${name}.` })]];
  }),
);

/** The record began with the database. */
const begunAt = async ({ db }: Call): Promise<number> => {
  const { rows } = await sql<{ at: number }>`select min(applied_at) as at from migrations`.execute(db);
  return rows[0]?.at ?? 0;
};

/** A decimal as clients with fixed-point types read it: whole ones with one place, `1.0`. */
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
  summary: 'The settings of the instance',
  area: 'settings',
  audience: 'admin',
  params: object({}),
  reply: settingsShape,
  handle: settingsJson,
});

const putSettings = endpoint({
  method: 'PUT',
  path: '/application/settings',
  summary: 'Change settings of the instance',
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
