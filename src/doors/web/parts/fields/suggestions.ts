/** Suggestions of the API for fields: values of a project or group, and projects. */
import type { Scope } from '../../../../planning/issuables/lists/list_kind.ts';
import type { Suggestions } from '../form.ts';

/** Path below the place, field of the records, and the parameter that searches them. */
const sources = {
  labels: ['labels?include_ancestor_groups=true&per_page=100', 'name', 'search'],
  milestones: ['milestones?state=active&include_ancestors=true&per_page=100', 'title', 'search_title'],
  members: ['members/all?per_page=100', 'username', 'query'],
  projects: ['projects?include_subgroups=true&simple=true&per_page=100', 'path_with_namespace', 'search'],
  branches: ['repository/branches?per_page=100', 'name', 'search'],
} as const;

export type SuggestedKind = keyof typeof sources;

const suggest = (place: string, kind: SuggestedKind): Suggestions => {
  const [below, field, search] = sources[kind];
  return { url: `/api/v4/${place}${below}`, field, search };
};

/** Suggests values of a project. */
export const projectSuggestions = (
  projectId: number,
  kind: Exclude<SuggestedKind, 'projects'>,
): Suggestions => suggest(`projects/${projectId}/`, kind);

/** Suggests projects in which the user is a member. */
export const ownProjectSuggestions = (): Suggestions => ({
  ...suggest('', 'projects'),
  url: '/api/v4/projects?membership=true&simple=true&per_page=100',
});

/** Returns the suggestions of a field; empty: the list is of no project or group, or has no such values. */
export const suggestionsFor = (scope: Scope, kind: SuggestedKind): { suggestions?: Suggestions } => {
  if (scope === 'everywhere') return kind === 'projects' ? { suggestions: ownProjectSuggestions() } : {};
  if ('project' in scope)
    return kind === 'projects' ? {} : { suggestions: projectSuggestions(scope.project.id, kind) };
  return kind === 'branches' ? {} : { suggestions: suggest(`groups/${scope.group_id}/`, kind) };
};
