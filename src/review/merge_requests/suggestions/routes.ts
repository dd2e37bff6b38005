/** Routes that apply code suggestions made in review comments. */
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { notFound } from '../../../platform/errors.ts';
import { array, id, integers, object, optional, text } from '../../../platform/http/schema.ts';
import {
  type Suggestion,
  loadSuggestions,
  suggestionShape,
} from '../../../planning/notes/suggestions/json.ts';
import { toSuggestionId } from '../../../planning/notes/suggestions/parse_suggestions.ts';
import { applySuggestions } from './apply.ts';
import { findSuggestions } from './find.ts';

const shared = { area: 'suggestions', audience: 'user' } as const;
const commit_message = optional(
  text({ maxLength: 100_000, description: 'message of the commit; may contain placeholders' }),
);

/** Applies suggestions and returns them, in the order of the request. */
const apply = async (call: Call, ids: readonly number[], message?: string): Promise<Suggestion[]> => {
  const { loaded, chosen } = await findSuggestions(call, ids);
  await applySuggestions(call, loaded, chosen, message);
  const notes = [...new Map(chosen.map(({ note }) => [note.id, note])).values()];
  const shown = await loadSuggestions(call, notes);
  return chosen.flatMap(
    ({ note, index }) => shown.get(note.id)?.filter((one) => one.id === toSuggestionId(note.id, index)) ?? [],
  );
};

const applyOne = endpoint({
  ...shared,
  method: 'PUT',
  path: '/suggestions/:id/apply',
  summary: 'Apply a suggestion as a commit to the source branch',
  params: object({ id: id('id of the suggestion'), commit_message }),
  reply: suggestionShape,
  handle: async (call, { id: suggestionId, commit_message: message }) => {
    const [applied] = await apply(call, [suggestionId], message);
    if (applied === undefined) throw notFound();
    return applied;
  },
});

const applyBatch = endpoint({
  ...shared,
  method: 'PUT',
  path: '/suggestions/batch_apply',
  summary: 'Apply several suggestions of one merge request as one commit',
  params: object({ ids: integers({ description: 'ids of the suggestions' }), commit_message }),
  reply: array(suggestionShape),
  handle: async (call, { ids, commit_message: message }) => await apply(call, ids, message),
});

export const suggestionRoutes = [applyOne, applyBatch];
