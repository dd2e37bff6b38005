/** Layout of every page of a group. */
import { mayInGroup } from '../../../../core/access/may.ts';
import type { Group } from '../../../../identity/groups/find.ts';
import { uploadedAvatarUrl } from '../../../../identity/avatars/avatar_urls.ts';
import type { View, Visit } from '../../page.ts';
import { groupNouns } from '../../group_pages.ts';
import type { GroupNoun, GroupTab as NounTab } from '../../project_and_group_pages.ts';
import { avatar } from '../avatar.ts';
import { pathLinks } from './path_links.ts';
import { type Html, html } from '../html.ts';
import type { IconName } from '../icon.ts';
import { visibilityMark } from '../projects/project_list.ts';
import { type NavLink, withSideNav, tabs } from './tabs_and_side_nav.ts';
import { breadcrumbs } from './breadcrumbs.ts';
import { countGroupWork } from './count_group_work.ts';
import { listCreateLinksInGroup } from './create_in_group.ts';
import { groupShortcuts } from './group_shortcuts.ts';

/** Returns the address of a page of a group. @param below what follows the group's path: `runners` */
export const groupPagePath = ({ full_path }: Pick<Group, 'full_path'>, below: string): string =>
  `/groups/${full_path}/-/${below}`;

type GroupTab = NounTab | 'overview';

const tabTexts: Record<GroupTab, readonly [IconName, string]> = {
  overview: ['group', 'Overview'],
  activity: ['history', 'Activity'],
  issues: ['issue', 'Issues'],
  merge_requests: ['merge-request', 'Merge requests'],
  members: ['users', 'Members'],
  settings: ['settings', 'Settings'],
};

const allowedNouns = ({ call }: Visit, group: Group): readonly GroupNoun[] =>
  (groupNouns as readonly GroupNoun[]).filter(
    ({ action, name }) => name !== undefined && mayInGroup(call.viewer, action, group),
  );

const tabLinks = async (visit: Visit, group: Group, current: GroupTab): Promise<NavLink[]> => {
  const nouns = allowedNouns(visit, group);
  // Lists of issues and merge requests require an account.
  const counts = visit.call.signedIn ? await countGroupWork(visit.call, group.id) : null;
  return (Object.keys(tabTexts) as GroupTab[]).flatMap((tab) => {
    const noun = nouns.find((one) => one.tab === tab);
    if (noun === undefined && tab !== 'overview') return [];
    const path = tab === 'overview' ? `/groups/${group.full_path}` : groupPagePath(group, noun?.noun ?? '');
    const [image, name] = tabTexts[tab];
    const count = tab === 'issues' || tab === 'merge_requests' ? counts?.[tab] : undefined;
    return [{ path, name, icon: image, isHere: tab === current, count }];
  });
};

type GroupPageOptions = {
  group: Group;
  title: string;
  /** null: the page of the group itself. */
  noun: (typeof groupNouns)[number]['noun'] | null;
  hasHeading?: boolean;
  view?: Partial<View>;
};

/** Renders a page of a group. */
export const groupView = (
  visit: Visit,
  { group, title, noun, hasHeading = false, view }: GroupPageOptions,
  content: Html,
): View => {
  const tab: GroupTab = groupNouns.find((one) => one.noun === noun)?.tab ?? 'overview';
  const links = allowedNouns(visit, group)
    .filter((one) => one.tab === tab)
    .map((one) => ({
      path: groupPagePath(group, one.noun),
      name: one.name ?? '',
      isHere: one.noun === noun,
    }));
  const headed = html`${!hasHeading && html`<h1>${title}</h1>`}
${content}`;
  const current = links.find(({ isHere }) => isHere);
  const isRecord = current !== undefined && visit.path.split('?')[0] !== current.path;
  const more = isRecord ? breadcrumbs(current, title) : links.length > 1 && tabs(tabTexts[tab][1], links);
  return {
    title: noun === null ? title : `${title} · ${group.full_path}`,
    home: `/groups/${group.full_path}`,
    creatable: { place: group.name, list: async () => listCreateLinksInGroup(visit, group) },
    header: async () =>
      html`<div class="place"><div class="row">${pathLinks(group.full_path, {
        root: '/groups',
        before: html`${avatar({ name: group.name, avatar_url: uploadedAvatarUrl(visit.call, 'group', group), isSquare: true })}${visibilityMark(group.visibility)}`,
      })}</div>
${tabs('Group', await tabLinks(visit, group, tab))}${groupShortcuts(visit, group, allowedNouns(visit, group))}</div>
`,
    body: tab === 'settings' ? withSideNav('Settings', links, headed) : html`${more}${headed}`,
    ...view,
  };
};
