import { type Call, requireActor } from '../../core/access/call.ts';
import { recordAudit } from '../../core/access/audit.ts';
import { today } from '../../core/access/viewer.ts';
import { forbidden, invalid, unauthorized } from '../../platform/errors.ts';
import { dayMilliseconds } from '../../platform/time.ts';
import { changeRoleExpiry } from '../bots/change_role_expiry.ts';
import { createTokenAfter } from './create.ts';
import { endToken } from './revoke.ts';
import type { TokenRow } from './queries.ts';

/** Days that a rotated token is valid if the caller names no day. */
const defaultDays = 7;

/**
 * Replaces a token by one of the same name and scopes: the old one ends, in the same transaction.
 * @param expires_at `YYYY-MM-DD`; null: in a week
 * @returns id and text of the new token, to be shown once
 * @throws Failure 400 for a day that has begun, 401 for a token that has ended, 403 if the credentials of the call may
 *   create none
 */
export const rotateToken = async (
  call: Call,
  { id, user_id, name, description, scopes, ...token }: TokenRow,
  expires_at: string | null,
): Promise<{ id: number; text: string }> => {
  const actor = requireActor(call);
  const { kind } = actor.credential;
  if (kind === 'impersonation' || kind === 'oauth') throw forbidden();
  const hasEnded = token.expires_at !== null && token.expires_at <= today(call.now);
  if (token.revoked === 1 || hasEnded) throw unauthorized();
  // Otherwise the caller would be left without a token that works.
  if (expires_at !== null && expires_at <= today(call.now))
    throw invalid({ expires_at: ['must be in the future'] });
  const made = {
    user_id,
    kind: token.kind,
    name,
    description,
    scopes: JSON.parse(scopes) as string[],
    expires_at: expires_at ?? today(call.now + defaultDays * dayMilliseconds),
  };
  return await createTokenAfter(call.platform, { cause: actor, source: call }, made, async (tx) => {
    if (!(await endToken(tx, id))) throw unauthorized();
    await changeRoleExpiry(tx, user_id, { from: token.expires_at, to: made.expires_at });
    const details = { user_id, name };
    await recordAudit(tx, actor, call, {
      kind: 'token.rotated',
      target_type: 'Token',
      target_id: id,
      details,
    });
  });
};
