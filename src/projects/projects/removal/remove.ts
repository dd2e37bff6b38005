import { type Call, requireActor } from '../../../core/access/call.ts';
import { notFound } from '../../../platform/errors.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import { blockBotsOf } from '../../../identity/bots/block_bots.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import type { Project } from '../find.ts';

/** Removes a project: it disappears and its path is free immediately. Background work (`work.ts`) deletes the rows. */
export const removeProject = async (call: Call, { id, full_path }: Project): Promise<void> =>
  await call.write(async (tx) => {
    const { numUpdatedRows } = await tx.db
      .updateTable('projects')
      .set({ deleted_at: tx.now })
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw notFound('Project');
    for (const table of ['routes', 'redirect_routes'] as const) {
      await tx.db
        .deleteFrom(table)
        .where('source_type', '=', 'Project')
        .where('source_id', '=', id)
        .execute();
    }
    await blockBotsOf(tx, { type: 'Project', id });
    await enqueue(tx, 'purge_project', { project_id: id }, { unique_key: `purge_project:${id}` });
    const target = { project_id: id, target_type: 'Project', target_id: id };
    await recordEvent(tx, requireActor(call), { kind: 'project.removed', ...target, data: { full_path } });
  });
