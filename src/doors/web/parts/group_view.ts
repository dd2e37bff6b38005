/** Layout of every page of a group. */
import { mayInGroup } from '../../../core/access/may.ts';
import type { Group } from '../../../identity/groups/find.ts';
import type { Html } from './html.ts';
import { sideView } from './nav.ts';
import { groupNouns } from '../places.ts';
import type { View, Visit } from '../page.ts';

export const groupPagePath = ({ full_path }: Pick<Group, 'full_path'>, below: string): string =>
  `/groups/${full_path}/-/${below}`;

type Given = { group: Group; title: string; noun: (typeof groupNouns)[number]['noun'] };

export const groupView = (visit: Visit, { group, title, noun }: Given, content: Html): View => {
  const links = groupNouns
    .filter(({ action }) => mayInGroup(visit.call.viewer, action, group))
    .map((one) => ({ path: groupPagePath(group, one.noun), name: one.name, isHere: one.noun === noun }));
  return sideView({ label: 'Group', of: group.full_path, links, title }, content);
};
