/** Boards belong to a project or a group; their pages are the same. */
import type { Call } from '../../../../core/access/call.ts';
import { may, mayInGroup } from '../../../../core/access/may.ts';
import { forbidden } from '../../../../platform/errors.ts';
import { optional, text } from '../../../../platform/http/schema.ts';
import { type BoardOwner, findBoardOwner } from '../../../../planning/boards/owner.ts';
import type { OwnerKind } from '../../../../projects/project_or_group/owner.ts';
import type { View, Visit } from '../../page.ts';
import { groupPagePath, groupView } from '../../parts/frame/group_layout.ts';
import { projectPagePath, projectView } from '../../parts/frame/project_layout.ts';
import type { Html } from '../../parts/html.ts';
import { groupRoot, projectRoot } from '../../project_and_group_pages.ts';

type Shown = { title: string; hasHeading?: boolean; view?: Partial<View> };

export type BoardsPlace = BoardOwner & {
  /** Address of the boards. */
  path: string;
  /** Address of the list of issues. */
  issuesPath: string;
  /** Returns whether the visitor may create, edit and delete boards and their lists. */
  canChange: boolean;
  view: (visit: Visit, shown: Shown, content: Html) => View;
};

/** The path names one of the two. */
export const placeParams = {
  project: optional(text({ maxLength: 1_000 })),
  group: optional(text({ maxLength: 1_000 })),
};

export type PlaceParams = { project?: string; group?: string };

export type BoardsRoute = {
  /** Route of the list. */
  routePath: string;
  /** Lists of issues of groups require an account, and so do their boards. */
  audience: 'visitor' | 'user';
  /** @throws Failure 404 for a hidden project or group, 403 if it shows no issues to the visitor */
  find: (call: Call, params: PlaceParams) => Promise<BoardsPlace>;
};

const toPlace = (call: Call, found: BoardOwner): BoardsPlace => {
  if (found.project === null) {
    const { group } = found;
    return {
      ...found,
      path: groupPagePath(group, 'boards'),
      issuesPath: groupPagePath(group, 'issues'),
      canChange: mayInGroup(call.viewer, 'admin_group_board', group),
      view: (visit, shown, content) => groupView(visit, { group, noun: 'boards', ...shown }, content),
    };
  }
  const { project } = found;
  return {
    ...found,
    path: projectPagePath(project, 'boards'),
    issuesPath: projectPagePath(project, 'issues'),
    canChange: may(call.viewer, 'admin_board', project),
    view: (visit, shown, content) => projectView(visit, { project, noun: 'boards', ...shown }, content),
  };
};

const route = (kind: OwnerKind): BoardsRoute => ({
  routePath: `${kind === 'projects' ? projectRoot : groupRoot}/boards`,
  audience: kind === 'projects' ? 'visitor' : 'user',
  find: async (call, { project, group }) =>
    toPlace(call, await findBoardOwner(call, kind, (kind === 'projects' ? project : group) ?? '', 'read')),
});

export const boardsRoutes = [route('projects'), route('groups')];

/** Finds the place and authorizes changes. @throws Failure 404 for a hidden owner, 403 without the right */
export const findToChange = async (
  { find }: BoardsRoute,
  call: Call,
  params: PlaceParams,
): Promise<BoardsPlace> => {
  const place = await find(call, params);
  if (!place.canChange) throw forbidden();
  return place;
};
