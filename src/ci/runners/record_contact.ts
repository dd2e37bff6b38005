/** Records what runners report of themselves with their calls, at most once a minute. */
import type { Platform } from '../../core/platform.ts';
import type { Tx } from '../../platform/db/open.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import type { RunnerRow } from './rules.ts';

type Contact = {
  /** Name of the machine; old runners send none. */
  system_id: string | null | undefined;
  /** As received, not validated. */
  info: unknown;
  ip: string;
};

const interval = 60_000;
/** Machines whose last contact is cached. Past that the oldest are evicted, and written once more. */
const maxCached = 10_000;

type CachedContacts = Map<string, number>;

const getCachedContacts = memoizePerStore((_store): CachedContacts => new Map());

/** Decides whether this contact must be written; then it counts as written. */
const isDue = (platform: Platform, key: string, now: number): boolean => {
  const cached = getCachedContacts(platform.store);
  const last = cached.get(key);
  if (last !== undefined && Math.abs(now - last) < interval) return false;
  cached.delete(key);
  cached.set(key, now);
  const [oldest] = cached.keys();
  if (cached.size > maxCached && oldest !== undefined) cached.delete(oldest);
  return true;
};

const maxTextLength = 255;

const readText = (info: unknown, name: string): string | null => {
  const value = typeof info === 'object' && info !== null ? (info as Record<string, unknown>)[name] : null;
  return typeof value === 'string' && value !== ''
    ? value.slice(0, maxTextLength).replaceAll('\0', '')
    : null;
};

/** Name for a machine that reports none. */
const nameless = '-';

const readSystemId = ({ system_id }: Pick<Contact, 'system_id'>): string =>
  readText({ system_id }, 'system_id') ?? nameless;

/** Machines of one runner: a client that sends a new name each time is served, and not recorded. */
const maxMachines = 1_000;

const hasRoom = async ({ db }: Tx, runner_id: number, system_id: string): Promise<boolean> => {
  const machines = db.selectFrom('runner_managers').where('runner_id', '=', runner_id);
  const existing = await machines.select('system_id').where('system_id', '=', system_id).executeTakeFirst();
  if (existing !== undefined) return true;
  const { count } = await machines
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count < maxMachines;
};

/** Writes the contact in the caller's transaction. */
const writeContact = async (tx: Tx, runner_id: number, contact: Contact): Promise<void> => {
  const { info, ip: ip_address } = contact;
  const values = {
    version: readText(info, 'version'),
    revision: readText(info, 'revision'),
    platform: readText(info, 'platform'),
    architecture: readText(info, 'architecture'),
    executor: readText(info, 'executor'),
    ip_address,
    contacted_at: tx.now,
  };
  const { numUpdatedRows } = await tx.db
    .updateTable('runners')
    .set({ contacted_at: tx.now })
    .where('id', '=', runner_id)
    .executeTakeFirst();
  if (numUpdatedRows === 0n || !(await hasRoom(tx, runner_id, readSystemId(contact)))) return;
  await tx.db
    .insertInto('runner_managers')
    .values({ runner_id, system_id: readSystemId(contact), ...values, created_at: tx.now })
    .onConflict((clash) => clash.columns(['runner_id', 'system_id']).doUpdateSet(values))
    .execute();
};

/** Records a runner's contact in the background. A poll does not write more than once a minute. */
export const recordContact = (platform: Platform, { id }: Pick<RunnerRow, 'id'>, contact: Contact): void => {
  const { store, clock } = platform;
  if (!isDue(platform, `${id} ${readSystemId(contact)}`, clock.now())) return;
  void store.write(async (tx) => await writeContact(tx, id, contact)).catch(() => undefined);
};
