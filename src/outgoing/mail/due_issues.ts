/**
 * Mails about open issues that are due tomorrow, once a day, as in GitLab: background work, safe to run twice and in
 * several processes. Days that the service missed are made up for until the issues are due.
 */
import { sql } from 'kysely';
import { today } from '../../core/access/viewer.ts';
import { isMailOn } from '../../core/mail/enqueue_mails.ts';
import type { Platform } from '../../core/platform.ts';
import type { Tx } from '../../platform/db/open.ts';
import { type WorkHandler, enqueue, enqueueAll } from '../../platform/queue/enqueue.ts';
import { dayMilliseconds } from '../../platform/time.ts';
import { toDueKey } from './mail_contents.ts';
import { type MailCause, notifyWork, nothingAdded } from './observe.ts';

export const dueIssuesWork = 'mail.due_issues';

/** Row of `instance`: how far the issues were mailed, as `Position`. */
const positionName = 'due_issues_mailed';

/** Issues already mailed: issues due before the date, and issues of the date up to the id; null: all. */
type Position = { due_date: string; id: number | null };

/** Milliseconds after midnight, UTC. */
const timeOfDay = 50 * 60_000;

/** Issues of one transaction. */
const maxIssues = 200;

/** Enqueues the work of the next day; one row for all services of the database. One that is overdue stays so. */
const enqueueNext = async (tx: Tx): Promise<void> => {
  const midnight = tx.now - (tx.now % dayMilliseconds);
  const run_at =
    tx.now < midnight + timeOfDay ? midnight + timeOfDay : midnight + dayMilliseconds + timeOfDay;
  await enqueue(tx, dueIssuesWork, {}, { unique_key: dueIssuesWork, run_at });
};

/** Loads the position. Other processes wait for this transaction, and continue after it. */
const lockPosition = async ({ db, dialect }: Tx): Promise<Position | null> => {
  await db
    .insertInto('instance')
    .values({ name: positionName, value: 'null' })
    .onConflict((clash) => clash.column('name').doNothing())
    .execute();
  const { value } = await db
    .selectFrom('instance')
    .select('value')
    .where('name', '=', positionName)
    .modifyEnd(dialect.forUpdate)
    .executeTakeFirstOrThrow();
  return JSON.parse(value) as Position | null;
};

/** Returns what is to be mailed next: issues of a date, after an id. Those that were due before today are left out. */
const goOn = (position: Position | null, now: number): { due_date: string; id: number } => {
  const day = today(now);
  if (position === null || position.due_date < day) return { due_date: day, id: 0 };
  const { due_date, id } = position;
  if (id !== null) return { due_date, id };
  return { due_date: today(Date.parse(`${due_date}T00:00:00Z`) + dayMilliseconds), id: 0 };
};

const loadDueIssues = async ({ db }: Tx, after: { due_date: string; id: number }) =>
  await db
    .selectFrom('issues')
    .select(['id', 'project_id'])
    .where('due_date', '=', after.due_date)
    .where('id', '>', after.id)
    // Same as in the condition of the index.
    .where(sql<boolean>`due_date is not null and state = 'opened' and deleted_at is null`)
    .orderBy('id')
    .limit(maxIssues)
    .execute();

const toCause = (due_date: string, { id, project_id }: { id: number; project_id: number }): MailCause => ({
  ...nothingAdded,
  event_key: toDueKey(id, due_date),
  kind: 'issue.due',
  actor_id: null,
  project_id,
  target_type: 'Issue',
  target_id: id,
});

/** Enqueues the mails of some issues, and moves the position, in one transaction. @returns whether there may be more */
const mailSome = async (tx: Tx): Promise<boolean> => {
  const after = goOn(await lockPosition(tx), tx.now);
  const { due_date } = after;
  if (due_date > today(tx.now + dayMilliseconds)) {
    await enqueueNext(tx);
    return false;
  }
  const issues = await loadDueIssues(tx, after);
  const causes = issues.map((issue) => toCause(due_date, issue));
  await enqueueAll(
    tx,
    notifyWork,
    causes.map((payload) => ({ payload, options: { unique_key: `mail ${payload.event_key}` } })),
  );
  const id = issues.length < maxIssues ? null : (issues.at(-1)?.id ?? null);
  const value = JSON.stringify({ due_date, id } satisfies Position);
  await tx.db.updateTable('instance').set({ value }).where('name', '=', positionName).execute();
  return true;
};

export const dueIssueHandlers = (platform: Platform): { [name: string]: WorkHandler } => ({
  [dueIssuesWork]: async () => {
    if (!isMailOn(platform)) return;
    while (await platform.store.write(mailSome));
  },
});

/** Schedules the next day's mails, if a mail server is configured. */
export const scheduleDueIssueMails = async (platform: Platform): Promise<void> => {
  if (isMailOn(platform)) await platform.store.write(enqueueNext);
};
