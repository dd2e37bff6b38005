/** The lists of issues and merge requests of a group and of all groups below it. */
import { findGroup } from '../../../../identity/groups/find.ts';
import { text } from '../../../../platform/http/schema.ts';
import type { View, Visit } from '../../page.ts';
import { groupPagePath, groupView } from '../../parts/frame/group_layout.ts';
import type { Html } from '../../parts/html.ts';

export const groupParam = { group: text({ maxLength: 1_000 }) };

/** Loads the group of a list; the feeds have the extension of their format. */
export const openGroupList = async (visit: Visit, groupPath: string, noun: 'issues' | 'merge_requests') => {
  const group = await findGroup(visit.call, groupPath);
  return {
    scope: { group_id: group.id },
    path: groupPagePath(group, noun),
    feedPath: (format: 'atom' | 'ics'): string => groupPagePath(group, `${noun}.${format}`),
    project: null,
    newPath: null,
    view: (title: string, content: Html): View =>
      groupView(visit, { group, title, noun, hasHeading: true }, content),
  };
};
