import type { Site } from '../access/call.ts';
import { int, nullable, object, string } from '../http/schema.ts';
import { type BasicUserRow, basicUser } from '../users/json.ts';

export const memberShape = object({
  id: int,
  name: string,
  username: string,
  state: string,
  avatar_url: nullable(string),
  web_url: string,
  access_level: int,
  expires_at: nullable(string),
});

export type MemberRow = BasicUserRow & { access_level: number; expires_at: string | null };

export const memberJson = (row: MemberRow, site: Site) => ({
  ...basicUser(row, site),
  access_level: row.access_level,
  expires_at: row.expires_at,
});
