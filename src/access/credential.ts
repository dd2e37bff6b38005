import type { IncomingHttpHeaders } from 'node:http';
import { Failure, unauthorized } from '../errors.ts';
import type { RawParams } from '../http/params.ts';

/** What a client presented. A session is read from its cookie. */
export type Presented = { kind: 'token'; text: string; via: 'private' | 'bearer' };

/** A token is text; anything else (0, true, null, an array) matches none. */
const tokenText = (value: unknown): string => {
  if (typeof value === 'string' && value !== '') return value;
  throw unauthorized();
};

const bearerOf = (headers: IncomingHttpHeaders): string | undefined => {
  const match = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '');
  return match?.[1];
};

const bothGiven = (): Failure =>
  new Failure('bad_request', {
    error: 'invalid_request',
    error_description: 'Both Authorization header and payload includes access token.',
  });

/** The credential of a request; null: none. The parameter wins over the header. */
export const presentedBy = (headers: IncomingHttpHeaders, sent: RawParams): Presented | null => {
  const own = sent['private_token'] ?? headers['private-token'];
  if (own !== undefined) return { kind: 'token', text: tokenText(own), via: 'private' };
  const bearer = bearerOf(headers);
  if (bearer !== undefined && sent['access_token'] !== undefined) throw bothGiven();
  const oauth = sent['access_token'] ?? bearer ?? sent['bearer_token'];
  return oauth === undefined ? null : { kind: 'token', text: tokenText(oauth), via: 'bearer' };
};
