/** Searches in repositories. */
import { may } from '../../core/access/may.ts';
import { openCode } from '../../code/repository/find_code.ts';
import { foundCommitShape } from '../../code/repository/commits/json.ts';
import { searchCommits } from '../../code/repository/commits/read_commits.ts';
import { invalid } from '../../platform/errors.ts';
import { hasCodeIndex } from './code_index_exists.ts';
import { type Place, projectsIn } from './search_place.ts';
import { type SearchScope, nothing } from './search_scope.ts';
import { foundBlobShape, searchCode } from './search_code.ts';

export const commits: SearchScope = {
  places: ['projects'],
  shape: foundCommitShape,
  run: async ({ call, place, filter, page }) => {
    if (place.kind !== 'projects' || !may(call.viewer, 'read_code', place.project)) return nothing;
    const selection = { search: filter.search, ref_name: filter.ref };
    return await searchCommits(call, openCode(call, place.project), selection, page);
  },
};

/** Only default branches are indexed. @throws Failure 400 for another ref */
const requireDefaultBranch = (place: Place, ref = ''): void => {
  if (ref === '' || ref === 'HEAD') return;
  if (place.kind !== 'projects' || ref !== place.project.default_branch) {
    throw invalid({ ref: ['is not the default branch: the code of no other is indexed'] });
  }
};

export const blobs: SearchScope = {
  places: ['everywhere', 'groups', 'projects'],
  shape: foundBlobShape,
  run: async ({ call, place, filter, page }) => {
    if (place.kind !== 'projects' && !(await hasCodeIndex(call.platform.store))) {
      throw invalid({ scope: ['is available in projects only: the database has no index of code'] });
    }
    requireDefaultBranch(place, filter.ref);
    return await searchCode(call, { search: filter.search, within: projectsIn(place, filter) }, page);
  },
};
