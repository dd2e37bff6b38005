/** Applies suggestions: a single suggestion, or the selected suggestions together. */
import { integers, object, optional, text } from '../../../../../../platform/http/schema.ts';
import { findMergeRequest } from '../../../../../../review/merge_requests/find.ts';
import { applySuggestions } from '../../../../../../review/merge_requests/suggestions/apply.ts';
import { findSuggestionsOf } from '../../../../../../review/merge_requests/suggestions/find.ts';
import { page } from '../../../../page.ts';
import { returnParam, returnPath } from '../../../issuables/return_path.ts';
import { oneRequest } from '../../paths.ts';
import { changesPath, choiceOf, choiceParams } from '../changes_address.ts';
import { routePath } from './comment_pages.ts';
import { submit } from './submit_form.ts';

export const suggestionPages = [
  page({
    method: 'POST',
    path: `${routePath}/suggestions`,
    audience: 'user',
    params: object({
      ...oneRequest,
      ...choiceParams,
      ids: optional(integers()),
      ...returnParam,
      message: optional(text({ maxLength: 1_000 })),
    }),
    handle: async (visit, { project, iid, ids = [], message, return_to, ...query }) => {
      const { call } = visit;
      const loaded = await findMergeRequest(call, project, iid);
      const chosen = await findSuggestionsOf(call, loaded, ids);
      const operation = async (): Promise<unknown> => await applySuggestions(call, loaded, chosen, message);
      return await submit(visit, { loaded, query }, operation, {
        next: async () => returnPath(visit, return_to, changesPath(loaded, choiceOf(query))),
        notice:
          chosen.length === 1
            ? 'The suggestion is applied to the source branch.'
            : `${chosen.length} suggestions are applied to the source branch.`,
      });
    },
  }),
];
