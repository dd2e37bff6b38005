/** Stores settings: one row for each setting that was ever changed. */
import { insertRows } from '../../platform/db/insert.ts';
import type { Reader, Store, Tx } from '../../platform/db/open.ts';
import type { Change } from './compute_changes.ts';
import { type SettingName, type Settings, defaults, fields } from './fields.ts';

export type StoredSettings = {
  settings: Settings;
  /** Milliseconds; null if no setting was ever changed. */
  updated_at: number | null;
};

/** Last change of a setting. */
export type LastChange = { name: SettingName; updated_at: number; updated_by_id: number | null };

const isKnown = (name: string): name is SettingName => name in fields;

export const readSettings = async (db: Reader): Promise<StoredSettings> => {
  const rows = await db.selectFrom('settings').select(['name', 'value', 'updated_at']).execute();
  const values = rows.filter(({ name }) => isKnown(name));
  const stored = Object.fromEntries(values.map(({ name, value }) => [name, JSON.parse(value) as unknown]));
  return {
    settings: Object.freeze({ ...defaults, ...stored }),
    updated_at: values.length === 0 ? null : Math.max(...values.map(({ updated_at }) => updated_at)),
  };
};

export const readLastChanges = async (db: Reader): Promise<LastChange[]> => {
  const rows = await db.selectFrom('settings').select(['name', 'updated_at', 'updated_by_id']).execute();
  return rows.filter((row): row is typeof row & { name: SettingName } => isKnown(row.name));
};

/** Stores changed settings. Other processes are notified on commit. */
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

/** The current settings of this process, refreshed whenever any process changes them. */
export type SettingsSource = {
  readonly current: Settings;
  /** Reads the settings from the store again. */
  reload: () => Promise<void>;
};

/**
 * Opens the settings and keeps them current.
 * @param onError called if reading fails; the settings then stay unchanged until the next change
 */
export const openSettings = async (
  store: Store,
  onError: (error: unknown) => void,
): Promise<SettingsSource> => {
  let current = (await readSettings(store.db)).settings;
  let startedReads = 0;
  let appliedRead = 0;
  const reload = async (): Promise<void> => {
    startedReads += 1;
    const thisRead = startedReads;
    const { settings } = await readSettings(store.db);
    // Reads may overlap: an older read that finishes late must not overwrite a newer one.
    if (thisRead < appliedRead) return;
    appliedRead = thisRead;
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
