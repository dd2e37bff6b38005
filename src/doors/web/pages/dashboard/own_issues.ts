/** The issues of the user: assigned, created. */
import { object } from '../../../../platform/http/schema.ts';
import { page } from '../../page.ts';
import { tabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { html } from '../../parts/html.ts';
import { chooseProjectParams, chooseProjectPart } from '../issuables/list/choose_project.ts';
import { issueCsv } from '../issues/list/issue_csv.ts';
import { issueCalendar, issueFeed } from '../issues/list/issue_feeds.ts';
import { issueList } from '../issues/list/list_view.ts';
import { issueListParams } from '../issues/list/read_query.ts';
import type { IssueListScope } from '../issuables/list/list_scope.ts';

const path = '/dashboard/issues';

const toPlace = (isCreated: boolean): IssueListScope => ({
  scope: 'everywhere',
  path,
  project: null,
  ownScope: 'assigned-to-me',
  formats: { atom: `${path}.atom`, calendar: `${path}.ics`, csv: `${path}/export` },
  newPath: `${path}/new`,
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
    path: `${path}/new`,
    audience: 'user',
    params: object(chooseProjectParams),
    handle: async (visit, query) => ({
      title: 'New issue',
      body: html`<h1>New issue</h1>
${await chooseProjectPart(visit, { noun: 'issues', listPath: path, groupId: null }, query)}`,
    }),
  }),
  page({
    method: 'GET',
    path,
    audience: 'user',
    params: object(issueListParams),
    handle: async (visit, query) => await issueList(visit, toPlace(query.scope === 'created-by-me'), query),
  }),
  page({
    method: 'GET',
    path: `${path}/export`,
    audience: 'user',
    params: object(issueListParams),
    handle: async (visit, query) => await issueCsv(visit, toPlace(false), query),
  }),
  page({
    method: 'GET',
    path: `${path}.atom`,
    audience: 'user',
    isFeed: true,
    params: object(issueListParams),
    handle: async (visit, query) =>
      await issueFeed(visit, toPlace(false), query, { title: 'Your issues', self: `${path}.atom` }),
  }),
  page({
    method: 'GET',
    path: `${path}.ics`,
    audience: 'user',
    isFeed: true,
    params: object(issueListParams),
    handle: async (visit, query) => await issueCalendar(visit, toPlace(false), query, 'Your due dates'),
  }),
];
