/** Keys of the addresses for answers, so that an answer can name its record and its author. Pure. */
import { createHmac } from 'node:crypto';
import type { Platform } from '../../core/platform.ts';

/** In `GANTRY_MAIL_REPLY_TO`: the place of the key. */
const placeholder = '%{key}';

/** Records that take comments, by the letter of their kind. */
const letters: { [type: string]: string } = {
  Issue: 'i',
  MergeRequest: 'm',
  Snippet: 's',
  CommitComment: 'c',
};

/** Hexadecimal digits of the signature: an address has at most 64 characters before its @. */
const signatureLength = 24;

type Subject = { target_type: string; target_id: number };

/**
 * Returns a signed key of a record and a user, such as `i-42-7-0f3c...`: lower-case, since mail servers may ignore the
 * case of addresses. undefined: the record takes no comments.
 */
export const makeReplyKey = (
  { secrets }: Pick<Platform, 'secrets'>,
  userId: number,
  { target_type, target_id }: Subject,
): string | undefined => {
  const letter = letters[target_type];
  if (letter === undefined) return undefined;
  const text = `${letter}-${target_id}-${userId}`;
  const hmac = createHmac('sha256', Buffer.from(secrets.session_key, 'hex')).update(`mail reply ${text}`);
  return `${text}-${hmac.digest('hex').slice(0, signatureLength)}`;
};

/** Returns the address for answers; null: the sender. @param key undefined: the mail cannot be answered */
export const fillReplyTo = (replyTo: string | null, key: string | undefined): string | null => {
  if (replyTo === null || !replyTo.includes(placeholder)) return replyTo;
  return key === undefined ? null : replyTo.replace(placeholder, key);
};
