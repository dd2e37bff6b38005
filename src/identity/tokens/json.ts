import { today } from '../../core/access/viewer.ts';
import {
  array,
  bool,
  int,
  nullable,
  object,
  optional,
  string,
  timestamp,
} from '../../platform/http/schema.ts';
import { formatTime, formatTimeOrNull } from '../../platform/time.ts';
import type { TokenRow } from './queries.ts';

export const tokenShape = object({
  id: int,
  name: string,
  description: nullable(string),
  revoked: bool,
  created_at: timestamp,
  scopes: array(string),
  user_id: int,
  last_used_at: nullable(timestamp),
  active: bool,
  expires_at: nullable(string),
  impersonation: optional(bool),
});

/** A new token. Its text is shown only here. */
export const newTokenShape = object({ ...tokenShape.properties, token: string });

export const tokenJson = (token: TokenRow, now: number) => ({
  id: token.id,
  name: token.name,
  description: token.description,
  revoked: token.revoked === 1,
  created_at: formatTime(token.created_at),
  scopes: JSON.parse(token.scopes) as string[],
  user_id: token.user_id,
  last_used_at: formatTimeOrNull(token.last_used_at),
  active: token.revoked === 0 && (token.expires_at === null || token.expires_at > today(now)),
  expires_at: token.expires_at,
  ...(token.kind === 'impersonation' && { impersonation: true }),
});
