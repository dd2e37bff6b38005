/** Where a search looks: everywhere, in a group with all groups below it, or in one project. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { type Group, findGroup } from '../../identity/groups/find.ts';
import { selectDescendants } from '../../identity/namespaces/ancestors.ts';
import type { Scope } from '../../planning/issuables/lists/list_kind.ts';
import { type Project, findProject } from '../../projects/projects/find.ts';

export type Place =
  | { kind: 'everywhere' }
  | { kind: 'groups'; group: Group }
  | { kind: 'projects'; project: Project };

export type PlaceKind = Place['kind'];

/** Loads the place of a search. @throws Failure 404 for a hidden one */
export const findPlace = async (call: Call, kind: PlaceKind, id: number | string): Promise<Place> => {
  if (kind === 'everywhere') return { kind };
  if (kind === 'groups') return { kind, group: await findGroup(call, id) };
  return { kind, project: await findProject(call, id) };
};

/**
 * Over `projects`: projects in the search scope. Archived projects count only in a search of that project, or on
 * request.
 */
export const projectsIn = (
  place: Place,
  { include_archived }: { include_archived: boolean },
): RawBuilder<boolean>[] => {
  if (place.kind === 'projects') return [sql<boolean>`projects.id = ${place.project.id}`];
  return [
    ...(place.kind === 'groups'
      ? [sql<boolean>`projects.namespace_id in ${selectDescendants(place.group.id)}`]
      : []),
    ...(include_archived ? [] : [sql<boolean>`projects.archived = 0`]),
  ];
};

/** The place as the lists of issues and merge requests name it. */
export const toScope = (place: Place): Scope => {
  if (place.kind === 'everywhere') return 'everywhere';
  return place.kind === 'groups' ? { group_id: place.group.id } : { project: place.project };
};
