/** The page of a group. */
import { findGroup } from '../../../../identity/groups/find.ts';
import { object, text } from '../../../../platform/http/schema.ts';
import { html } from '../../parts/html.ts';
import { groupView } from '../../parts/group_view.ts';
import { page } from '../../page.ts';
import { groupRoot } from '../../places.ts';

export const pages = [
  page({
    method: 'GET',
    path: groupRoot,
    audience: 'visitor',
    params: object({ group: text({ maxLength: 1_000 }) }),
    handle: async (visit, { group: path }) => {
      const group = await findGroup(visit.call, path);
      return groupView(visit, { group, title: group.name, noun: null }, html`<p>${group.description}</p>`);
    },
  }),
];
