/** Searches in repositories. */
import { may } from '../../core/access/may.ts';
import { openCode } from '../../code/repository/find_code.ts';
import { foundCommitShape } from '../../code/repository/commits/json.ts';
import { searchCommits } from '../../code/repository/commits/list_commits.ts';
import { invalid } from '../../platform/errors.ts';
import type { Project } from '../../projects/projects/find.ts';
import { grepCode } from './grep_code.ts';
import { hasCodeIndex } from './has_code_index.ts';
import { projectsIn } from './search_place.ts';
import { type SearchScope, nothing } from './search_scope.ts';
import { foundBlobShape, searchCode } from './search_indexed_code.ts';

export const commits: SearchScope = {
  places: ['projects'],
  shape: foundCommitShape,
  run: async ({ call, place, filter, page }) => {
    if (place.kind !== 'projects' || !may(call.viewer, 'read_code', place.project)) return nothing;
    const selection = { search: filter.search, ref_name: filter.ref };
    return await searchCommits(call, openCode(call, place.project), selection, page);
  },
};

/** Returns whether the code of a branch is indexed: only the default branch is. */
const isIndexed = ({ default_branch }: Project, ref: string): boolean =>
  ref === '' || ref === 'HEAD' || ref === default_branch;

export const blobs: SearchScope = {
  places: ['everywhere', 'groups', 'projects'],
  shape: foundBlobShape,
  run: async ({ call, place, filter, page }) => {
    if (place.kind !== 'projects' && !(await hasCodeIndex(call.platform.store))) {
      throw invalid({ scope: ['is available in projects only: the database has no index of code'] });
    }
    const { ref = '' } = filter;
    if (place.kind === 'projects' && !isIndexed(place.project, ref)) {
      if (!may(call.viewer, 'read_code', place.project)) return nothing;
      return await grepCode(call, openCode(call, place.project), { search: filter.search, ref }, page);
    }
    return await searchCode(call, { search: filter.search, within: projectsIn(place, filter) }, page);
  },
};
