import { type Call, requireActor } from '../../core/access/call.ts';
import { notFound } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { type LoadedNoteable, type NounActions, isIssuable } from '../issuables/target.ts';
import { finishTodos } from '../todos/add_todos.ts';
import type { AwardRow } from './json.ts';
import type { Awardable } from './queries.ts';
import { normalizeAwardName, mayAward } from './rules.ts';
import { countVote } from './votes.ts';

/**
 * Awards an emoji, once for each name.
 * @throws Failure 404 with a reason for every refusal, as clients expect
 */
export const createAward = async <L extends LoadedNoteable>(
  noun: NounActions<L>,
  call: Call,
  { loaded, awardable }: { loaded: L; awardable: Awardable },
  input: string,
): Promise<AwardRow> => {
  const { target, project } = loaded;
  const actor = requireActor(call);
  const name = normalizeAwardName(input);
  if (!mayAward(call, loaded)) throw notFound('Award Emoji');
  if (awardable.system) throw notFound('Award Emoji Awardable cannot be awarded emoji');
  return await call.write(async (tx) => {
    await countVote(noun, tx, { target, awardable, name }, 1);
    const award = await tx.db
      .insertInto('award_emoji')
      .values({
        name,
        user_id: actor.user.id,
        target_type: awardable.type,
        target_id: awardable.id,
        created_at: tx.now,
        updated_at: tx.now,
      })
      .onConflict((clash) => clash.columns(['target_type', 'target_id', 'user_id', 'name']).doNothing())
      .returningAll()
      .executeTakeFirst();
    if (award === undefined) throw notFound('Award Emoji Name has already been taken');
    if (isIssuable(target)) await finishTodos(tx, actor.user.id, target);
    await recordEvent(tx, actor, {
      kind: 'award_emoji.created',
      project_id: project.id,
      target_type: awardable.type,
      target_id: awardable.id,
      data: { id: award.id, name, awardable_type: awardable.type, awardable_id: awardable.id },
    });
    return award;
  });
};
