/** As recipes.ts, for what merge requests do with git. Those of the matrix have no branches of their own. */
import { insertRow } from '../../src/db/insert.ts';
import { type Maker, freshRequest } from './makers.ts';
import type { Recipe } from './recipes.ts';

const request = '/projects/:id/merge_requests/:merge_request_iid';

const version: Maker = async (tx, cells) => {
  for (const { names } of cells) {
    names['version_id'] = await insertRow(tx.db, 'merge_request_diffs', {
      merge_request_id: Number(names['merge_request_id']),
      state: 'empty',
      head_commit_sha: null,
      base_commit_sha: null,
      start_commit_sha: null,
      real_size: null,
      commits_count: 0,
      created_at: tx.now,
    });
  }
};

/** To be merged when its pipeline succeeds. */
const deferred: Maker = async (tx, cells) => {
  for (const { names } of cells) {
    await tx.db
      .updateTable('merge_requests')
      .set({ merge_when_pipeline_succeeds: 1 })
      .where('id', '=', Number(names['merge_request_id']))
      .execute();
  }
};

const cancelled: Recipe = { makes: [freshRequest, deferred] };

export const mergeRecipes: Record<string, Recipe> = {
  [`GET ${request}/versions/:version_id`]: { makes: [freshRequest, version] },
  [`PUT ${request}/merge`]: { makes: [freshRequest] },
  [`PUT ${request}/cancel_merge_when_pipeline_succeeds`]: cancelled,
  [`POST ${request}/cancel_merge_when_pipeline_succeeds`]: cancelled,
  [`PUT ${request}/rebase`]: { makes: [freshRequest] },
};
