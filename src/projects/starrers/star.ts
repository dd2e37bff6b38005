import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { Project } from '../projects/find.ts';

/** @returns whether there was no star; of two concurrent requests, only one stores it */
const addStar = async (tx: Tx, project_id: number, user_id: number): Promise<boolean> => {
  const added = await tx.db
    .insertInto('project_stars')
    .values({ project_id, user_id, created_at: tx.now })
    .onConflict((clash) => clash.doNothing())
    .returning('project_id')
    .execute();
  return added.length === 1;
};

/** @returns whether there was a star */
const removeStar = async (tx: Tx, projectId: number, userId: number): Promise<boolean> => {
  const { numDeletedRows } = await tx.db
    .deleteFrom('project_stars')
    .where('project_id', '=', projectId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numDeletedRows === 1n;
};

/**
 * Stars or unstars a visible project for the caller.
 * @returns whether this changed anything
 */
export const setStarred = async (call: Call, { id }: Project, isStarring: boolean): Promise<boolean> => {
  const actor = requireActor(call);
  return await call.write(async (tx) => {
    const isChanged = await (isStarring ? addStar : removeStar)(tx, id, actor.user.id);
    if (!isChanged) return false;
    await recordEvent(tx, actor, {
      kind: isStarring ? 'project.starred' : 'project.unstarred',
      project_id: id,
      target_type: 'Project',
      target_id: id,
    });
    return true;
  });
};
