import { type Call, actorOf } from '../access/call.ts';
import { notFound } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { enqueue } from '../queue/queue.ts';
import type { Project } from './find.ts';

/** Takes a project away: gone, and its path free, at once. The queue removes the rows (`work.ts`). */
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
      // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
      await tx.db
        .deleteFrom(table)
        .where('source_type', '=', 'Project')
        .where('source_id', '=', id)
        .execute();
    }
    await enqueue(tx, 'purge_project', { project_id: id }, { unique_key: `purge_project:${id}` });
    const target = { project_id: id, target_type: 'Project', target_id: id };
    await recordEvent(tx, actorOf(call), { kind: 'project.removed', ...target, data: { full_path } });
  });
