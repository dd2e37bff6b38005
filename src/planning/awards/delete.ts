import { type Call, requireActor, requireUser } from '../../core/access/call.ts';
import { notFound, unauthorized } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import type { LoadedNoteable, NounActions } from '../issuables/target.ts';
import type { AwardRow } from './json.ts';
import type { Awardable } from './queries.ts';
import { countVote } from './votes.ts';

/**
 * Deletes an award. Its author and administrators may do so.
 * @throws Failure 401 for anyone else, 412 if it changed since `If-Unmodified-Since`
 */
export const deleteAward = async <L extends LoadedNoteable>(
  noun: NounActions<L>,
  call: Call,
  { loaded, awardable }: { loaded: L; awardable: Awardable },
  award: AwardRow,
): Promise<void> => {
  if (award.user_id !== requireUser(call).id && !call.admin) throw unauthorized();
  requireUnmodified(call.header('if-unmodified-since'), award.updated_at);
  const { target, project } = loaded;
  await call.write(async (tx) => {
    await countVote(noun, tx, { target, awardable, name: award.name }, -1);
    const { numDeletedRows } = await tx.db
      .deleteFrom('award_emoji')
      .where('id', '=', award.id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await recordEvent(tx, requireActor(call), {
      kind: 'award_emoji.deleted',
      project_id: project.id,
      target_type: awardable.type,
      target_id: awardable.id,
      data: {
        id: award.id,
        name: award.name,
        user_id: award.user_id,
        awardable_type: awardable.type,
        awardable_id: awardable.id,
      },
    });
  });
};
