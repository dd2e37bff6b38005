/** The issues of the user: assigned, created. */
import { object } from '../../../../platform/http/schema.ts';
import { page } from '../../page.ts';
import { tabs } from '../../parts/frame/link_lists.ts';
import { html } from '../../parts/html.ts';
import { issueList } from '../issues/list/list_view.ts';
import { issueListParams } from '../issues/list/read_query.ts';
import type { IssueListScope } from '../issues/list_scope.ts';

const path = '/dashboard/issues';

const toPlace = (isCreated: boolean): IssueListScope => ({
  scope: 'everywhere',
  path,
  project: null,
  ownScope: 'assigned-to-me',
  newPath: null,
  view: (title, content) => ({
    title: `${title} · Your work`,
    body: html`${tabs('Issues by role', [
      { path, name: 'Assigned to me', isHere: !isCreated },
      { path: `${path}?scope=created-by-me`, name: 'Created by me', isHere: isCreated },
    ])}${content}`,
  }),
});

export const issuePages = [
  page({
    method: 'GET',
    path,
    audience: 'user',
    params: object(issueListParams),
    handle: async (visit, query) => await issueList(visit, toPlace(query.scope === 'created-by-me'), query),
  }),
];
