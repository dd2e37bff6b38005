import { type Call, actorOf, userOf } from '../access/call.ts';
import { notFound, unauthorized } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { requireUnmodified } from '../http/unmodified.ts';
import type { Found, Noun } from '../issuables/target.ts';
import type { AwardRow } from './json.ts';
import type { Awardable } from './queries.ts';
import { countVote } from './votes.ts';

/**
 * Takes an award back: its giver may, and an administrator.
 * @throws Failure 401 for anyone else, 412 if it changed since `If-Unmodified-Since`
 */
export const deleteAward = async (
  noun: Noun,
  call: Call,
  { found, awardable }: { found: Found; awardable: Awardable },
  award: AwardRow,
): Promise<void> => {
  if (award.user_id !== userOf(call).id && !call.admin) throw unauthorized();
  requireUnmodified(call.header('if-unmodified-since'), award.updated_at);
  const { target, project } = found;
  await call.write(async (tx) => {
    await countVote(noun, tx, { target, awardable, name: award.name }, -1);
    const { numDeletedRows } = await tx.db
      .deleteFrom('award_emoji')
      .where('id', '=', award.id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await recordEvent(tx, actorOf(call), {
      kind: 'award_emoji.deleted',
      project_id: project.id,
      target_type: 'AwardEmoji',
      target_id: award.id,
      data: {
        name: award.name,
        user_id: award.user_id,
        awardable_type: awardable.type,
        awardable_id: awardable.id,
      },
    });
  });
};
