/** Removes memberships that have ended, and records their end. They have given no rights since then. */
import { sql } from 'kysely';
import { today } from '../../core/access/viewer.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import type { Platform } from '../../core/platform.ts';
import type { Tx } from '../../platform/db/open.ts';
import { selectBot } from '../../identity/bots/is_bot.ts';

/** Memberships of one transaction. */
const batch = 50;
/** Milliseconds until the day is compared again. */
const pause = 60_000;

/** Over `members`. The roles of bots stay: the last day of a token that is rotated moves. */
const hasEnded = (now: number) => sql<boolean>`(expires_at <= ${today(now)}
  and not exists ${selectBot(sql.ref('members.user_id'))})`;

/** Another process that deletes the same rows waits for this one, and then finds none of them. */
const deleteEnded = async ({ db, now }: Tx) =>
  await db
    .deleteFrom('members')
    .where('id', 'in', (is) =>
      is
        .selectFrom('members')
        .select('id')
        .where('expires_at', 'is not', null)
        .where(hasEnded(now))
        .orderBy('expires_at')
        .orderBy('id')
        .limit(batch),
    )
    // It may have been extended meanwhile.
    .where(hasEnded(now))
    .returning(['id', 'user_id', 'source_type', 'source_id', 'access_level', 'expires_at'])
    .execute();

/** @returns whether there may be more */
const expireSome = async (tx: Tx): Promise<boolean> => {
  const members = await deleteEnded(tx);
  for (const { id, ...data } of members.toSorted((a, b) => a.id - b.id))
    await recordEvent(tx, null, {
      kind: 'member.expired',
      project_id: data.source_type === 'Project' ? data.source_id : null,
      target_type: 'Member',
      target_id: id,
      data,
    });
  return members.length > 0;
};

/** Removes all memberships that have ended. */
const expireMembers = async ({ store }: Pick<Platform, 'store'>): Promise<void> => {
  while (await store.write(expireSome));
};

/** Removes ended memberships now and at the start of each day (UTC). Returns a function that stops it. */
export const startExpiringMembers = (platform: Platform): (() => Promise<void>) => {
  let running: Promise<void> | undefined;
  let doneDay = '';
  const expireDay = async (): Promise<void> => {
    const day = today(platform.clock.now());
    if (day === doneDay) return;
    await expireMembers(platform);
    doneDay = day;
  };
  const run = (): void => {
    running ??= expireDay()
      .catch((error: unknown) => platform.log.warn({ err: error }, 'expiring memberships failed'))
      .finally(() => (running = undefined));
  };
  run();
  const timer = setInterval(run, pause).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
};
