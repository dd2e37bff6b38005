/** Where settings are kept: a row each, of those that were ever changed. */
import { insertRows } from '../db/insert.ts';
import type { Reader, Store, Tx } from '../db/open.ts';
import type { Change } from './change.ts';
import { type SettingName, type Settings, defaults, fields } from './fields.ts';

export type Kept = {
  settings: Settings;
  /** Milliseconds; null: none was ever changed. */
  updated_at: number | null;
};

/** Who changed a setting last, and when. */
export type LastChange = { name: SettingName; updated_at: number; updated_by_id: number | null };

const isKnown = (name: string): name is SettingName => name in fields;

export const readSettings = async (db: Reader): Promise<Kept> => {
  const rows = await db.selectFrom('settings').select(['name', 'value', 'updated_at']).execute();
  const values = rows.filter(({ name }) => isKnown(name));
  const kept = Object.fromEntries(values.map(({ name, value }) => [name, JSON.parse(value) as unknown]));
  return {
    settings: Object.freeze({ ...defaults, ...kept }),
    updated_at: values.length === 0 ? null : Math.max(...values.map(({ updated_at }) => updated_at)),
  };
};

export const readLastChanges = async (db: Reader): Promise<LastChange[]> => {
  const rows = await db.selectFrom('settings').select(['name', 'updated_at', 'updated_by_id']).execute();
  return rows.filter((row): row is typeof row & { name: SettingName } => isKnown(row.name));
};

/** Other processes hear of it with the commit. */
export const writeSettings = async (tx: Tx, changes: readonly Change[], userId: number): Promise<void> => {
  if (changes.length === 0) return;
  const names = changes.map(({ name }) => name);
  await tx.db.deleteFrom('settings').where('name', 'in', names).execute();
  const rows = changes.map(({ name, after }) => ({
    name: name as string,
    value: JSON.stringify(after),
    updated_at: tx.now,
    updated_by_id: userId,
  }));
  await insertRows(tx.db, 'settings', rows);
  tx.broadcast(topic);
};

const topic = 'settings';

/** The settings of this process: always at hand, and never older than a moment. */
export type SettingsSource = {
  readonly current: Settings;
  /** Reads them anew. */
  reload: () => Promise<void>;
};

/** @param onError told of a reading that failed: the settings stay as they were until the next one */
export const openSettings = async (
  store: Store,
  onError: (error: unknown) => void,
): Promise<SettingsSource> => {
  let current = (await readSettings(store.db)).settings;
  let latest = 0;
  let known = 0;
  const reload = async (): Promise<void> => {
    latest += 1;
    const turn = latest;
    const { settings } = await readSettings(store.db);
    // Of two readings the one that began later knows more; the earlier one counts until that has ended.
    if (turn < known) return;
    known = turn;
    current = settings;
  };
  store.listen(topic, () => void reload().catch(onError));
  return {
    get current() {
      return current;
    },
    reload,
  };
};
