/** Signs the values of links in mails and of addresses of feeds, so that the service stores nothing for them. Pure. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export type LinkPurpose =
  | 'unsubscribe'
  | 'password_reset'
  | 'confirm_address'
  | 'confirm_email'
  | 'feed'
  | 'invitation';

const sign = (key: string, purpose: LinkPurpose, text: string): string =>
  createHmac('sha256', Buffer.from(key, 'hex')).update(`mail ${purpose} ${text}`).digest('base64url');

/**
 * Signs a text of letters, digits and `-`. The result may be part of a path.
 * @param bound what else the link is bound to and does not show, such as the hash of the current password
 */
export const signLink = (key: string, purpose: LinkPurpose, text: string, bound = ''): string =>
  `${text}.${sign(key, purpose, `${text} ${bound}`)}`;

/** Returns the text of a link before its signature is verified. */
export const readLinkText = (token: string): string => token.split('.')[0] ?? '';

/** Verifies a link that `signLink` made for the same purpose, text and bound value. */
export const isSignedLink = (key: string, purpose: LinkPurpose, token: string, bound = ''): boolean => {
  const expected = Buffer.from(signLink(key, purpose, readLinkText(token), bound));
  const actual = Buffer.from(token);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
};
