/** What the API suggests for the fields of a list: values of its project or group. */
import type { Scope } from '../../../../../planning/issuables/lists/list_kind.ts';
import type { Suggestions } from '../../../parts/form.ts';

const sources = {
  labels: ['labels?include_ancestor_groups=true&per_page=100', 'name'],
  milestones: ['milestones?state=active&include_ancestors=true&per_page=100', 'title'],
  members: ['members/all?per_page=100', 'username'],
  projects: ['projects?include_subgroups=true&simple=true&per_page=100', 'path_with_namespace'],
  branches: ['repository/branches?per_page=100', 'name'],
} as const;

export type SuggestedKind = keyof typeof sources;

/** Returns the suggestions of a field; empty: the list is of no project or group, or has no such values. */
export const suggestionsFor = (scope: Scope, kind: SuggestedKind): { suggestions?: Suggestions } => {
  if (scope === 'everywhere' && kind === 'projects') {
    const url = '/api/v4/projects?membership=true&simple=true&per_page=100';
    return { suggestions: { url, field: sources.projects[1] } };
  }
  if (scope === 'everywhere' || (kind === 'branches' && !('project' in scope))) return {};
  const owner = 'project' in scope ? `projects/${scope.project.id}` : `groups/${scope.group_id}`;
  const [below, field] = sources[kind];
  return { suggestions: { url: `/api/v4/${owner}/${below}`, field } };
};
