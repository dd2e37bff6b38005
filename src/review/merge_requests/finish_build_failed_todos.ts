import type { Tx } from '../../platform/db/open.ts';

/** Finishes the `build_failed` todos that the authors of merge requests got from a pipeline, when its jobs are retried. */
export const finishBuildFailedTodos = async (tx: Tx, pipeline_id: number): Promise<void> => {
  await tx.db
    .updateTable('todos')
    .set({ state: 'done', updated_at: tx.now })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('pipelines')
        // The ref of a merge request pipeline is not the source branch: the merge request has the branch.
        .leftJoin('merge_requests as pipeline_request', 'pipeline_request.id', 'pipelines.merge_request_id')
        .innerJoin('merge_requests as request', (on) =>
          on
            .onRef('request.source_project_id', '=', 'pipelines.project_id')
            .on((where) =>
              where(
                'request.source_branch',
                '=',
                where.fn.coalesce('pipeline_request.source_branch', 'pipelines.ref'),
              ),
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
