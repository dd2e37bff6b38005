/** Requests for the rows about merge requests as records. */
import { type Maker, freshRequest, ownTodo } from '../makers/makers.ts';
import { lineSuggestion } from '../makers/thread_makers.ts';
import type { Recipe } from './recipes.ts';

const all = '/projects/:id/merge_requests';
const one = `${all}/:merge_request_iid`;
const fresh: Recipe = { makes: [freshRequest] };
const withDuration: Recipe = { makes: [freshRequest], body: () => ({ duration: '1h' }) };
const made: Maker[] = [freshRequest, ownTodo];

const holds: Recipe['holds'] = ({ id }, names) => id === names['merge_request_id'];

export const requestRecipes: Record<string, Recipe> = {
  'GET /merge_requests': { query: 'scope=all&iids[]=:merge_request_iid&per_page=100', holds },
  'GET /groups/:id/merge_requests': { query: 'iids[]=:merge_request_iid', holds },
  [`GET ${all}`]: { query: 'iids[]=:merge_request_iid', holds },
  [`POST ${all}`]: { body: () => ({ source_branch: 'none', target_branch: 'main', title: 'Made' }) },
  [`PUT ${one} {title}`]: { ...fresh, body: () => ({ title: 'Other' }) },
  [`PUT ${one} {close}`]: { ...fresh, body: () => ({ state_event: 'close' }) },
  [`DELETE ${one}`]: fresh,
  [`POST ${one}/subscribe`]: fresh,
  [`POST ${one}/unsubscribe`]: fresh,
  [`POST ${one}/todo`]: fresh,
  [`POST ${one}/time_estimate`]: withDuration,
  [`POST ${one}/reset_time_estimate`]: fresh,
  [`POST ${one}/add_spent_time`]: withDuration,
  [`POST ${one}/reset_spent_time`]: fresh,
  'GET /todos {on a merge request}': {
    makes: made,
    query: 'project_id=:project&per_page=100',
    holds: ({ target }, { merge_request_id }) => target?.id === merge_request_id,
  },
  'PUT /suggestions/:id/apply': { makes: [freshRequest, lineSuggestion] },
  'PUT /suggestions/batch_apply': {
    makes: [freshRequest, lineSuggestion],
    body: ({ suggestion }) => ({ ids: [suggestion] }),
  },
  'POST /todos/:id/mark_as_done {on a merge request}': { makes: made },
};
