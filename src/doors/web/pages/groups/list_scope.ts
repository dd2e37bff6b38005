/** The lists of issues and merge requests of a group and of all groups below it. */
import { findGroup } from '../../../../identity/groups/find.ts';
import { object, text } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page } from '../../page.ts';
import { groupRoot } from '../../project_and_group_pages.ts';
import { groupPagePath, groupView } from '../../parts/frame/group_layout.ts';
import type { Html } from '../../parts/html.ts';
import { chooseProjectParams, chooseProjectPart } from '../issuables/list/choose_project.ts';

export const groupParam = { group: text({ maxLength: 1_000 }) };

/** Loads the group of a list; the feeds have the extension of their format. */
export const openGroupList = async (visit: Visit, groupPath: string, noun: 'issues' | 'merge_requests') => {
  const group = await findGroup(visit.call, groupPath);
  return {
    scope: { group_id: group.id },
    path: groupPagePath(group, noun),
    feedPath: (format: 'atom' | 'ics'): string => groupPagePath(group, `${noun}.${format}`),
    project: null,
    newPath: `${groupPagePath(group, noun)}/new`,
    view: (title: string, content: Html): View =>
      groupView(visit, { group, title, noun, hasHeading: true }, content),
  };
};

/** The page that asks in which project of the group a record is created. */
export const chooseProjectPage = (noun: 'issues' | 'merge_requests') =>
  page({
    method: 'GET',
    path: `${groupRoot}/${noun}/new`,
    audience: 'user',
    params: object({ ...groupParam, ...chooseProjectParams }),
    handle: async (visit, { group: groupPath, ...query }) => {
      const group = await findGroup(visit.call, groupPath);
      const listPath = groupPagePath(group, noun);
      const title = noun === 'issues' ? 'New issue' : 'New merge request';
      const content = await chooseProjectPart(visit, { noun, listPath, groupId: group.id }, query);
      return groupView(visit, { group, title, noun }, content);
    },
  });
