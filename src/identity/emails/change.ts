import { recordAudit } from '../../core/access/audit.ts';
import { type Call, requireActor } from '../../core/access/call.ts';
import { sendEmailConfirmationWork } from '../../core/mail/enqueue_mails.ts';
import type { Tx } from '../../platform/db/open.ts';
import { requireRecordQuota } from '../../platform/db/quota.ts';
import { invalid } from '../../platform/errors.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';
import { requireNoBot } from '../bots/is_bot.ts';
import { countAttempt } from '../sessions/sign_in_failures.ts';
import { confirmationTime } from '../users/addresses/further_addresses.ts';
import { lockUser, userIdByEmail } from '../users/queries.ts';
import { normalizedEmail, userProblems } from '../users/rules.ts';
import { type EmailRow, findEmail } from './queries.ts';

const quota = { what: 'e-mail addresses', most: 20 };

/** Milliseconds in which a user may request ten mails to further addresses. */
const requestWindow = 600_000;

const taken = () => invalid({ email: ['has already been taken'] });

const audit = async (tx: Tx, call: Call, verb: 'created' | 'deleted', row: EmailRow): Promise<void> =>
  await recordAudit(tx, requireActor(call), call, {
    kind: `email.${verb}`,
    target_type: 'Email',
    target_id: row.id,
    details: { user_id: row.user_id },
  });

/** Enqueues the mail to an address. @throws Failure 429 after ten within ten minutes */
const requestConfirmation = async (tx: Tx, { id, user_id }: EmailRow): Promise<void> => {
  await countAttempt(tx, [`email ${user_id}`], { window: requestWindow });
  await enqueue(tx, sendEmailConfirmationWork, { email_id: id });
};

/** Deletes the row of an address that was not confirmed in time. @throws Failure 400 if somebody has the address */
const requireFreeAddress = async (tx: Tx, email: string): Promise<void> => {
  if ((await userIdByEmail(tx.db, email)) !== undefined) throw taken();
  await tx.db
    .deleteFrom('emails')
    .where('email', '=', email)
    .where('confirmed_at', 'is', null)
    .where('requested_at', '<=', tx.now - confirmationTime)
    .execute();
};

/**
 * Adds an address to a user, who gets a mail with a link that confirms it.
 * @param isConfirmed by the word of an administrator
 * @throws Failure 400 for an invalid or taken address, 403 for a bot, 404 for an unknown user, 429
 */
export const createEmail = async (
  call: Call,
  userId: number,
  { email: sent, isConfirmed = false }: { email: string; isConfirmed?: boolean },
): Promise<EmailRow> => {
  const problems = userProblems({ email: sent });
  if (Object.keys(problems).length > 0) throw invalid(problems);
  const email = normalizedEmail(sent);
  return await call.write(async (tx) => {
    await lockUser(tx, userId);
    await requireNoBot(tx.db, userId);
    await requireRecordQuota(tx.db.selectFrom('emails').where('user_id', '=', userId), quota);
    await requireFreeAddress(tx, email);
    const row = await tx.db
      .insertInto('emails')
      .values({
        user_id: userId,
        email,
        confirmed_at: isConfirmed ? tx.now : null,
        requested_at: tx.now,
        mailed_at: null,
        created_at: tx.now,
      })
      .onConflict((clash) => clash.column('email').doNothing())
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) throw taken();
    if (!isConfirmed) await requestConfirmation(tx, row);
    await audit(tx, call, 'created', row);
    return row;
  });
};

/** Deletes a further address of a user. @throws Failure 404 */
export const removeEmail = async (call: Call, userId: number, id: number): Promise<void> =>
  await call.write(async (tx) => {
    await lockUser(tx, userId);
    const row = await findEmail(tx.db, userId, id);
    await tx.db.deleteFrom('emails').where('id', '=', id).execute();
    await tx.db
      .updateTable('users')
      .set({ public_email: null })
      .where('id', '=', userId)
      .where('public_email', '=', row.email)
      .execute();
    await audit(tx, call, 'deleted', row);
  });

/** Sends the mail to an unconfirmed address again. @throws Failure 404, 400 for a confirmed one, 429 */
export const resendConfirmation = async (call: Call, userId: number, id: number): Promise<void> =>
  await call.write(async (tx) => {
    await lockUser(tx, userId);
    const row = await findEmail(tx.db, userId, id);
    if (row.confirmed_at !== null) throw invalid({ email: ['was already confirmed'] });
    await tx.db
      .updateTable('emails')
      .set({ requested_at: tx.now, mailed_at: null })
      .where('id', '=', id)
      .execute();
    await requestConfirmation(tx, row);
  });
