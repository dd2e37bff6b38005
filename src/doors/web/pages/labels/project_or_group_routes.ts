/** Projects and groups as places of labels and milestones: one set of pages is mounted for both. */
import type { Call } from '../../../../core/access/call.ts';
import { may, mayInGroup } from '../../../../core/access/may.ts';
import { type Group, findGroup } from '../../../../identity/groups/find.ts';
import { Failure, forbidden, notFound } from '../../../../platform/errors.ts';
import { optional, text } from '../../../../platform/http/schema.ts';
import {
  type Owner,
  findGroupAbove,
  groupOwner,
  projectOwner,
} from '../../../../projects/project_or_group/owner.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import type { View, Visit } from '../../page.ts';
import { groupPagePath, groupView } from '../../parts/frame/group_layout.ts';
import { projectPagePath, projectView } from '../../parts/frame/project_layout.ts';
import type { Html } from '../../parts/html.ts';
import { groupRoot, projectRoot } from '../../project_and_group_pages.ts';

export type OwnerNoun = 'labels' | 'milestones';

type Shown = { title: string; hasHeading?: boolean; view?: Partial<View> };

export type OwnedList = {
  owner: Owner;
  /** null: a group. */
  project: Project | null;
  full_path: string;
  /** Public path of the list. */
  path: string;
  /** Returns whether the visitor may create, edit and delete here. */
  canChange: boolean;
  /** True if the visitor may move records of the project to its group. Absent if unknown. */
  canPromote?: boolean;
  view: (visit: Visit, shown: Shown, content: Html) => View;
};

/** The path names one of the two. */
export const ownerParams = {
  project: optional(text({ maxLength: 1_000 })),
  group: optional(text({ maxLength: 1_000 })),
};

export type OwnedListParams = { project?: string; group?: string };

export type OwnedListRoute = {
  /** Route of the list. */
  routePath: string;
  /** @throws Failure 404 for a hidden project or group, 403 if it does not show these records to the visitor */
  find: (call: Call, params: OwnedListParams) => Promise<OwnedList>;
};

const actions = {
  labels: { read: 'read_label', project: 'admin_label', group: 'admin_group_label' },
  milestones: { read: 'read_milestone', project: 'admin_milestone', group: 'admin_group_milestone' },
} as const;

const projectKind = (noun: OwnerNoun): OwnedListRoute => ({
  routePath: `${projectRoot}/${noun}`,
  find: async (call, params) => {
    const project = await findProjectFor(call, params.project ?? '', actions[noun].read);
    return {
      owner: projectOwner(project),
      project,
      full_path: project.full_path,
      path: projectPagePath(project, noun),
      canChange: may(call.viewer, actions[noun].project, project),
      view: (visit, shown, content) => projectView(visit, { project, noun, ...shown }, content),
    };
  },
});

const toGroupPlace = (call: Call, noun: OwnerNoun, group: Group): OwnedList => ({
  owner: groupOwner(group),
  project: null,
  full_path: group.full_path,
  path: groupPagePath(group, noun),
  canChange: mayInGroup(call.viewer, actions[noun].group, group),
  view: (visit, shown, content) => groupView(visit, { group, noun, ...shown }, content),
});

const groupKind = (noun: OwnerNoun): OwnedListRoute => ({
  routePath: `${groupRoot}/${noun}`,
  find: async (call, params) => toGroupPlace(call, noun, await findGroup(call, params.group ?? '')),
});

export const ownedListRoutes = (noun: OwnerNoun): OwnedListRoute[] => [projectKind(noun), groupKind(noun)];

/**
 * Finds the group that records of a project are promoted to.
 * @throws Failure 400 for a personal project, 403 without the right, 404 for the list of a group
 */
export const findPromotionGroup = async (
  call: Call,
  { project, owner }: OwnedList,
  noun: OwnerNoun,
): Promise<Owner> => {
  if (project === null) throw notFound();
  return await findGroupAbove(call, owner, actions[noun].group);
};

/** Returns whether the visitor may promote records of the list. */
export const canPromote = async (call: Call, list: OwnedList, noun: OwnerNoun): Promise<boolean> => {
  try {
    await findPromotionGroup(call, list, noun);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
};

/** Finds the list and authorizes changes. @throws Failure 404 for a hidden owner, 403 without the right */
export const findToChange = async (
  kind: OwnedListRoute,
  call: Call,
  params: OwnedListParams,
): Promise<OwnedList> => {
  const list = await kind.find(call, params);
  if (!list.canChange) throw forbidden();
  return list;
};

/** Returns the path of the list of issues or merge requests of the owner, with this query; null if it has no page. */
export const workListPath = (
  { call }: Visit,
  { project, full_path }: OwnedList,
  list: 'issues' | 'merge_requests',
  query: Record<string, string>,
): string | null => {
  const root = project === null ? groupRoot : projectRoot;
  if (!call.platform.hasPage(`GET ${root}/${list}`)) return null;
  const path = project === null ? `/groups/${full_path}/-/${list}` : projectPagePath(project, list);
  return Object.keys(query).length === 0 ? path : `${path}?${new URLSearchParams(query).toString()}`;
};
