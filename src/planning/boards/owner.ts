/** Projects and groups as owners of boards, which have the same endpoints and pages. */
import type { Call } from '../../core/access/call.ts';
import { type Group, findGroup, findGroupFor } from '../../identity/groups/find.ts';
import {
  type Owner,
  type OwnerKind,
  groupOwner,
  projectOwner,
} from '../../projects/project_or_group/owner.ts';
import { type Project, findProjectFor } from '../../projects/projects/find.ts';

/** The project or the group of a board, as its labels and milestones know it (`owner`), and its own row. */
export type BoardOwner = { owner: Owner } & (
  | { project: Project; group: null }
  | { project: null; group: Group }
);

/**
 * Loads the owner of boards. @param action `read`, or `admin` to change boards
 * @throws Failure 404 for a hidden one, 403 without the right
 */
export const findBoardOwner = async (
  call: Call,
  kind: OwnerKind,
  id: number | string,
  action: 'read' | 'admin',
): Promise<BoardOwner> => {
  if (kind === 'projects') {
    const project = await findProjectFor(call, id, action === 'read' ? 'read_board' : 'admin_board');
    return { owner: projectOwner(project), project, group: null };
  }
  const group =
    action === 'read' ? await findGroup(call, id) : await findGroupFor(call, id, 'admin_group_board');
  return { owner: groupOwner(group), project: null, group };
};
