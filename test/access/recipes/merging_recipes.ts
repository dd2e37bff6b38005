/** Requests for the rows about git operations of merge requests. Those of the matrix have no branches of their own. */
import { insertRow } from '../../../src/platform/db/insert.ts';
import { type Maker, freshRequest } from '../makers/makers.ts';
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

/** Set to merge when its pipeline succeeds. */
const deferred: Maker = async (tx, cells) => {
  for (const { names } of cells) {
    await tx.db
      .updateTable('merge_requests')
      .set({ merge_when_pipeline_succeeds: 1 })
      .where('id', '=', Number(names['merge_request_id']))
      .execute();
  }
};

const draft =
  (by: 'self' | 'writer'): Maker =>
  async (tx, cells, { people }) => {
    for (const { names, person } of cells) {
      names['draft_note_id'] = await insertRow(tx.db, 'draft_notes', {
        merge_request_id: Number(names['merge_request_id']),
        author_id: by === 'self' ? (person.user_id ?? people.writer) : people.writer,
        note: 'Made',
        discussion_id: null,
        position: null,
        created_at: tx.now,
        updated_at: tx.now,
      });
    }
  };

const [ownDraft, anothersDraft] = [draft('self'), draft('writer')];
const drafts = `${request}/draft_notes`;
const drafted: Recipe = { makes: [freshRequest, ownDraft] };

const cancelled: Recipe = { makes: [freshRequest, deferred] };

export const mergeRecipes: Record<string, Recipe> = {
  [`GET ${request}/versions/:version_id`]: { makes: [freshRequest, version] },
  [`PUT ${request}/merge`]: { makes: [freshRequest] },
  [`PUT ${request}/cancel_merge_when_pipeline_succeeds`]: cancelled,
  [`POST ${request}/cancel_merge_when_pipeline_succeeds`]: cancelled,
  [`PUT ${request}/rebase`]: { makes: [freshRequest] },
  [`GET ${request}/merge_ref`]: { makes: [freshRequest] },
  [`GET ${drafts}`]: {
    makes: [freshRequest, ownDraft],
    holds: ({ id }, names) => id === names['draft_note_id'],
  },
  [`POST ${drafts}`]: { makes: [freshRequest], body: () => ({ note: 'Made' }) },
  [`GET ${drafts}/:draft_note_id`]: drafted,
  [`GET ${drafts}/:draft_note_id {another's}`]: { makes: [freshRequest, anothersDraft] },
  [`PUT ${drafts}/:draft_note_id`]: { ...drafted, body: () => ({ note: 'Other' }) },
  [`DELETE ${drafts}/:draft_note_id`]: drafted,
  [`PUT ${drafts}/:draft_note_id/publish`]: drafted,
  [`POST ${drafts}/bulk_publish`]: drafted,
};
