/** The issues of a group and of all groups below it. */
import { findGroup } from '../../../../identity/groups/find.ts';
import { object, text } from '../../../../platform/http/schema.ts';
import { page } from '../../page.ts';
import { groupPagePath, groupView } from '../../parts/frame/group_layout.ts';
import { groupRoot } from '../../project_and_group_pages.ts';
import type { Html } from '../../parts/html.ts';
import { issueList } from '../issues/list/list_view.ts';
import { issueListParams } from '../issues/list/read_query.ts';

export const pages = [
  page({
    method: 'GET',
    path: `${groupRoot}/issues`,
    audience: 'user',
    params: object({ group: text({ maxLength: 1_000 }), ...issueListParams }),
    handle: async (visit, { group: path, ...query }) => {
      const group = await findGroup(visit.call, path);
      const list = {
        scope: { group_id: group.id },
        path: groupPagePath(group, 'issues'),
        project: null,
        newPath: null,
        view: (title: string, content: Html) =>
          groupView(visit, { group, title, noun: 'issues', hasHeading: true }, content),
      };
      return await issueList(visit, list, query);
    },
  }),
];
