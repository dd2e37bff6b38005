/** The results of a search by scope, as rows of the lists of these records. */
import { today } from '../../../../core/access/viewer.ts';
import { searchTerms } from '../../../../planning/issuables/search/terms.ts';
import type { JsonText } from '../../../../platform/http/endpoint.ts';
import { loadRowFacts } from '../../../../review/merge_requests/lists/row_facts.ts';
import type { ScopeName } from '../../../search/all_scopes.ts';
import type { FoundBlob } from '../../../search/search_code.ts';
import type { Visit } from '../../page.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { markText } from './mark_text.ts';
import { type ListedProject, projectList } from '../../parts/projects/project_list.ts';
import { userLink } from '../../parts/user_link.ts';
import { issueRow, parseIssue } from '../issues/list/issue_row.ts';
import { parseRequest, requestRow } from '../merge_requests/list/request_row.ts';
import { codeResults } from './code_results.ts';

type User = { username: string; name: string; avatar_url: string | null };
type Milestone = { title: string; state: string; web_url: string };

type Render = (visit: Visit, items: readonly unknown[], search: string) => Promise<Html> | Html;

const listCard = (rows: readonly Html[]): Html => html`<div class="card"><ul class="list">${rows}</ul></div>`;

const userRow = (user: User, search: string): Html =>
  html`<li>${userLink(user, { size: 'medium' })} <span class="meta">@${markText(user.username, [search])}</span></li>
`;

const milestoneRow = ({ title, state, web_url }: Milestone, search: string): Html =>
  html`<li><span class="lead">${icon('milestone')}</span><a class="title" href="${new URL(web_url).pathname}" data-row>${markText(title, [search])}</a><span class="meta">${state === 'closed' ? 'Closed' : 'Open'}</span></li>
`;

const issueRows: Render = ({ call }, items, search) => {
  const terms = searchTerms(search);
  const context = { labels: [], labelHref: () => '', today: today(call.now), showsProject: true };
  const markTitle = (title: string): Html => markText(title, terms);
  return listCard(
    (items as JsonText[]).map(parseIssue).map((issue) => issueRow(issue, { ...context, markTitle })),
  );
};

const requestRows: Render = async ({ call }, items, search) => {
  const requests = (items as JsonText[]).map(parseRequest);
  const facts = await loadRowFacts(
    call,
    requests.map(({ id }) => id),
  );
  const terms = searchTerms(search);
  const markTitle = (title: string): Html => markText(title, terms);
  const context = { labels: [], labelHref: () => '', showsProject: true, markTitle };
  return listCard(
    requests.map((request) => requestRow(request, { ...context, facts: facts.get(request.id) })),
  );
};

/** How the items of each scope are shown. Scopes without an entry are for the API alone. */
export const renderers: Partial<Record<ScopeName, Render>> = {
  projects: (_visit, items) => html`<div class="card">${projectList(items as ListedProject[])}</div>`,
  blobs: async (visit, items, search) => await codeResults(visit, items as FoundBlob[], search),
  issues: issueRows,
  merge_requests: requestRows,
  milestones: (_visit, items, search) =>
    listCard((items as Milestone[]).map((one) => milestoneRow(one, search))),
  users: (_visit, items, search) => listCard((items as User[]).map((user) => userRow(user, search))),
};
