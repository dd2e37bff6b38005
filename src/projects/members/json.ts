import type { Site } from '../../core/access/site.ts';
import { bool, int, nullable, object, optional, string, timestamp } from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';
import { type BasicUserRow, basicUser, basicUserShape } from '../../identity/users/json.ts';

export const memberShape = object({
  ...basicUserShape.properties,
  locked: bool,
  access_level: int,
  expires_at: nullable(string),
  created_at: timestamp,
  created_by: optional(basicUserShape),
  membership_state: string,
});

export type MemberRow = BasicUserRow & {
  access_level: number;
  expires_at: string | null;
  created_at: number;
  created_by_id: number | null;
};

/** @param makers users by id who added members, if they still exist */
export const memberJson = (row: MemberRow, makers: ReadonlyMap<number, BasicUserRow>, site: Site) => {
  const maker = row.created_by_id === null ? undefined : makers.get(row.created_by_id);
  return {
    ...basicUser(row, site),
    locked: false,
    access_level: row.access_level,
    expires_at: row.expires_at,
    created_at: formatTime(row.created_at),
    ...(maker !== undefined && { created_by: basicUser(maker, site) }),
    membership_state: 'active',
  };
};
