/** What the pages of a group have around them. */
import { mayInGroup } from '../../../access/may.ts';
import type { Group } from '../../../groups/find.ts';
import type { Html } from '../../html.ts';
import { sideView } from '../../nav.ts';
import type { View, Visit } from '../../page.ts';

/** Where the pages of a group are served; people see them below `/groups/` and its path. */
export const servedForGroup = '/-/groups/:group';

export const groupPathOf = ({ full_path }: Pick<Group, 'full_path'>, below: string): string =>
  `/groups/${full_path}/-/${below}`;

const nouns = [
  ['variables', 'Variables', 'admin_group_variable'],
  ['runners', 'Runners', 'admin_group_runner'],
] as const;

type Given = { group: Group; title: string; noun: (typeof nouns)[number][0] };

export const groupView = (visit: Visit, { group, title, noun }: Given, content: Html): View => {
  const links = nouns
    .filter(([, , action]) => mayInGroup(visit.call.viewer, action, group))
    .map(([one, name]) => ({ path: groupPathOf(group, one), name, isHere: one === noun }));
  return sideView({ label: 'Group', of: group.full_path, links, title }, content);
};
