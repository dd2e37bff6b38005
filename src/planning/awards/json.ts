import type { Selectable } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import type { AwardEmojiTable } from '../../platform/db/schema/planning.ts';
import { int, object, string, timestamp } from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../../identity/users/json.ts';

export const awardShape = object({
  id: int,
  name: string,
  user: basicUserShape,
  created_at: timestamp,
  updated_at: timestamp,
  awardable_id: int,
  awardable_type: string,
});

export type AwardRow = Selectable<AwardEmojiTable>;

export const awardsJson = async (call: Call, awards: AwardRow[]) => {
  const { db } = call;
  const users = await basicUsersById(
    db,
    awards.map((award) => award.user_id),
  );
  return awards.flatMap((award) => {
    const user = users.get(award.user_id);
    if (user === undefined) return [];
    return {
      id: award.id,
      name: award.name,
      user: basicUser(user, call),
      created_at: formatTime(award.created_at),
      updated_at: formatTime(award.updated_at),
      awardable_id: award.target_id,
      awardable_type: award.target_type,
    };
  });
};
