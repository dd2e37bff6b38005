/** Finds suggestions by their ids. */
import type { Call } from '../../../core/access/call.ts';
import { notFound, refused, isNotFound } from '../../../platform/errors.ts';
import { findNote } from '../../../planning/notes/queries.ts';
import { parseNote } from '../../../planning/notes/suggestions/json.ts';
import { parseSuggestionId } from '../../../planning/notes/suggestions/parse_suggestions.ts';
import { type LoadedMergeRequest, findMergeRequest } from '../find.ts';
import type { ChosenSuggestion } from './apply.ts';

/** Finds suggestions of a merge request; none for no ids. @throws Failure 404 */
export const findSuggestionsOf = async (
  call: Call,
  loaded: LoadedMergeRequest,
  ids: readonly number[],
): Promise<ChosenSuggestion[]> => {
  const chosen: ChosenSuggestion[] = [];
  for (const { note_id, index } of [...new Set(ids)].map(parseSuggestionId)) {
    const note =
      chosen.find((one) => one.note.id === note_id)?.note ?? (await findNote(call, loaded.target, note_id));
    if (parseNote(note)?.suggestions[index] === undefined) throw notFound();
    chosen.push({ note, index });
  }
  return chosen;
};

/** Returns the project and iid of the merge requests that comments are on. */
const loadPlaces = async ({ db }: Call, noteIds: readonly number[]) =>
  await db
    .selectFrom('notes')
    .innerJoin('merge_requests', 'merge_requests.id', 'notes.target_id')
    .select(['merge_requests.project_id', 'merge_requests.iid'])
    .distinct()
    .where('notes.target_type', '=', 'MergeRequest')
    .where('notes.id', 'in', noteIds)
    .execute();

const loadVisible = async (call: Call, noteIds: readonly number[]): Promise<LoadedMergeRequest[]> => {
  const requests: LoadedMergeRequest[] = [];
  try {
    for (const { project_id, iid } of await loadPlaces(call, noteIds)) {
      requests.push(await findMergeRequest(call, project_id, iid));
    }
  } catch (error) {
    if (isNotFound(error)) throw notFound();
    throw error;
  }
  return requests;
};

/** Finds suggestions and their merge request. @throws Failure 404, 400 if they are of several merge requests */
export const findSuggestions = async (
  call: Call,
  ids: readonly number[],
): Promise<{ loaded: LoadedMergeRequest; chosen: ChosenSuggestion[] }> => {
  const noteIds = [...new Set(ids.map((id) => parseSuggestionId(id).note_id))];
  const [loaded, ...others] = noteIds.length === 0 ? [] : await loadVisible(call, noteIds);
  if (loaded === undefined) throw notFound();
  if (others.length > 0) throw refused('Suggestions must all be on the same branch.');
  return { loaded, chosen: await findSuggestionsOf(call, loaded, ids) };
};
