import type { Tx } from '../../../platform/db/open.ts';

/** Finishes the `build_failed` todos of a pipeline whose failed jobs were retried. */
export const finishFailureTodos = async (tx: Tx, pipeline_id: number): Promise<void> => {
  await tx.db
    .updateTable('todos')
    .set({ state: 'done', updated_at: tx.now })
    .where('id', 'in', (db) =>
      db
        .selectFrom('pipelines')
        // The ref of a request's own pipeline is not its branch.
        .leftJoin('merge_requests as own', 'own.id', 'pipelines.merge_request_id')
        .innerJoin('merge_requests as request', (on) =>
          on
            .onRef('request.source_project_id', '=', 'pipelines.project_id')
            .on((is) =>
              is('request.source_branch', '=', is.fn.coalesce('own.source_branch', 'pipelines.ref')),
            )
            .onRef('request.head_sha', '=', 'pipelines.sha'),
        )
        .innerJoin('todos as pending', (on) =>
          on.onRef('pending.target_id', '=', 'request.id').onRef('pending.user_id', '=', 'request.author_id'),
        )
        .select('pending.id')
        .where('pipelines.id', '=', pipeline_id)
        .where('request.state', '=', 'opened')
        .where('request.deleted_at', 'is', null)
        .where('pending.target_type', '=', 'MergeRequest')
        .where('pending.action', '=', 'build_failed')
        .where('pending.state', '=', 'pending'),
    )
    .execute();
};
