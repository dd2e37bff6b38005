/** Every scope that a search can have, as the API names it. */
import * as code from './code_scopes.ts';
import type { PlaceKind } from './search_place.ts';
import * as records from './record_scopes.ts';
import type { SearchScope } from './search_scope.ts';

export const searchScopes = {
  projects: records.projects,
  issues: records.issues,
  merge_requests: records.mergeRequests,
  milestones: records.milestones,
  snippet_titles: records.snippetTitles,
  users: records.users,
  notes: records.notes,
  commits: code.commits,
  blobs: code.blobs,
} satisfies Record<string, SearchScope>;

export type ScopeName = keyof typeof searchScopes;

/** Returns the scopes that can be searched in a place. */
export const listScopes = (kind: PlaceKind): ScopeName[] =>
  (Object.keys(searchScopes) as ScopeName[]).filter((name) => searchScopes[name].places.includes(kind));
