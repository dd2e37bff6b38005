/** Applies suggestions. */
import { id, integer, object, optional } from '../../../../../../platform/http/schema.ts';
import { findNote } from '../../../../../../planning/notes/queries.ts';
import { findMergeRequest } from '../../../../../../review/merge_requests/find.ts';
import { applySuggestion } from '../../../../../../review/merge_requests/suggestions/apply.ts';
import { page } from '../../../../page.ts';
import { oneRequest } from '../../find.ts';
import { changesPath, choiceOf, choiceParams } from '../changes_address.ts';
import { served } from './comment_pages.ts';
import { submit } from './submit_form.ts';

export const suggestionPages = [
  page({
    method: 'POST',
    path: `${served}/suggestions`,
    audience: 'user',
    params: object({
      ...oneRequest,
      ...choiceParams,
      note: optional(id()),
      index: optional(integer({ minimum: 0, maximum: 100 })),
    }),
    handle: async (visit, { project, iid, note: noteId = 0, index = 0, ...query }) => {
      const { call } = visit;
      const loaded = await findMergeRequest(call, project, iid);
      const note = await findNote(call, loaded.target, noteId);
      const operation = async (): Promise<unknown> => await applySuggestion(call, loaded, { note, index });
      return await submit(visit, { loaded, query }, operation, {
        next: async () => changesPath(loaded, choiceOf(query)),
        notice: 'The suggestion is applied to the source branch.',
      });
    },
  }),
];
