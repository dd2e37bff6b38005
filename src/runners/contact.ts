/** What runners tell of themselves with their calls: kept, a minute between at least. */
import { type Platform } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { oncePer } from '../once_per.ts';
import type { RunnerRow } from './rules.ts';

type Contact = {
  /** Of the machine; runners of old tell none. */
  system_id: string | null | undefined;
  /** As it came: nothing in it is relied upon. */
  info: unknown;
  ip: string;
};

const noteEvery = 60_000;
/** Machines whose last contact is known; past that, the oldest are forgotten, and written once more. */
const mostKnown = 10_000;

type Known = Map<string, number>;

const knownOf = oncePer((_store): Known => new Map());

/** Whether this contact is to be written; then it counts as written. */
const isDue = (platform: Platform, key: string, now: number): boolean => {
  const known = knownOf(platform.store);
  const last = known.get(key);
  if (last !== undefined && Math.abs(now - last) < noteEvery) return false;
  known.delete(key);
  known.set(key, now);
  const [oldest] = known.keys();
  if (known.size > mostKnown && oldest !== undefined) known.delete(oldest);
  return true;
};

const longest = 255;

const textIn = (info: unknown, name: string): string | null => {
  const value = typeof info === 'object' && info !== null ? (info as Record<string, unknown>)[name] : null;
  return typeof value === 'string' && value !== '' ? value.slice(0, longest).replaceAll('\0', '') : null;
};

/** What a machine is called that tells no name of its own. */
const nameless = '-';

const systemIdOf = ({ system_id }: Pick<Contact, 'system_id'>): string =>
  textIn({ system_id }, 'system_id') ?? nameless;

/** Machines of one runner: who names himself anew each time is heard, and not remembered. */
const mostMachines = 1_000;

const hasRoom = async ({ db }: Tx, runner_id: number, system_id: string): Promise<boolean> => {
  const machines = db.selectFrom('runner_managers').where('runner_id', '=', runner_id);
  const known = await machines.select('system_id').where('system_id', '=', system_id).executeTakeFirst();
  if (known !== undefined) return true;
  const { count } = await machines
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count < mostMachines;
};

/** Writes who was heard, in the caller's transaction. */
const writeContact = async (tx: Tx, runner_id: number, contact: Contact): Promise<void> => {
  const { info, ip: ip_address } = contact;
  const told = {
    version: textIn(info, 'version'),
    revision: textIn(info, 'revision'),
    platform: textIn(info, 'platform'),
    architecture: textIn(info, 'architecture'),
    executor: textIn(info, 'executor'),
    ip_address,
    contacted_at: tx.now,
  };
  const { numUpdatedRows } = await tx.db
    .updateTable('runners')
    .set({ contacted_at: tx.now })
    .where('id', '=', runner_id)
    .executeTakeFirst();
  if (numUpdatedRows === 0n || !(await hasRoom(tx, runner_id, systemIdOf(contact)))) return;
  await tx.db
    .insertInto('runner_managers')
    .values({ runner_id, system_id: systemIdOf(contact), ...told, created_at: tx.now })
    .onConflict((clash) => clash.columns(['runner_id', 'system_id']).doUpdateSet(told))
    .execute();
};

/** Notes, behind the request, that a runner was heard. A poll does not write: a minute lies between two notes. */
export const noteContact = (platform: Platform, { id }: Pick<RunnerRow, 'id'>, contact: Contact): void => {
  const { store, clock } = platform;
  if (!isDue(platform, `${id} ${systemIdOf(contact)}`, clock.now())) return;
  void store.write(async (tx) => await writeContact(tx, id, contact)).catch(() => undefined);
};
