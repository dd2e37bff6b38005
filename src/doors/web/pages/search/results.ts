/** The results of a search by scope, as rows of the lists of these records. */
import { searchTerms } from '../../../../planning/issuables/search/terms.ts';
import type { JsonText } from '../../../../platform/http/endpoint.ts';
import type { ScopeName } from '../../../search/all_scopes.ts';
import type { FoundBlob } from '../../../search/search_indexed_code.ts';
import type { Visit } from '../../page.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { commitLink } from '../../parts/code/commit_line.ts';
import { relativeTo } from '../../parts/timestamp.ts';
import { projectsById } from '../../../../projects/projects/find.ts';
import { markText } from './mark_text.ts';
import { type ListedProject, projectList } from '../../parts/projects/project_list.ts';
import { userLink } from '../../parts/user_link.ts';
import { issueListPath } from '../issues/list/issue_row.ts';
import { issueRows } from '../issues/list/load_rows.ts';
import { requestRows } from '../merge_requests/list/load_rows.ts';
import { requestListPath } from '../merge_requests/list/request_row.ts';
import { codeResults } from './code_results.ts';
import { type FoundComment, commentRow } from './comment_results.ts';

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

/** Marks what the search found in a title. */
const markTitles = (search: string): ((title: string) => Html) => {
  const terms = searchTerms(search);
  return (title) => markText(title, terms);
};

const issueResults: Render = async ({ call }, items, search) => {
  const shown = { listPath: issueListPath, showsProject: true, markTitle: markTitles(search) };
  return listCard(await issueRows(call, items as JsonText[], shown));
};

const requestResults: Render = async ({ call }, items, search) => {
  const shown = { listPath: requestListPath, showsProject: true, markTitle: markTitles(search) };
  return listCard(await requestRows(call, items as JsonText[], shown));
};

type FoundCommit = {
  id: string;
  title: string;
  author_name: string;
  author_email: string;
  authored_date: string;
  committer_name: string;
  committer_email: string;
  committed_date: string;
  project_id: number;
};
type Snippet = {
  title: string;
  file_name: string;
  author: { username: string; name: string; avatar_url: string | null } | null;
  web_url: string;
  updated_at: string;
};

/** Returns the full path of the project of these items, which all belong to one project. */
const pathOfProject = async (
  { call }: Visit,
  items: readonly { project_id: number | null }[],
): Promise<string> => {
  const id = items[0]?.project_id ?? null;
  if (id === null) return '';
  return (await projectsById(call.db, [id])).get(id)?.full_path ?? '';
};

/** Says who committed it and when; of a commit of two people, also who wrote it. */
const commitByline = (commit: FoundCommit): Html => {
  const committed = html`${commit.committer_name} committed ${relativeTo(commit.committed_date)}`;
  const isOfOne =
    commit.author_name === commit.committer_name && commit.author_email === commit.committer_email;
  if (isOfOne) return committed;
  return html`<span>${commit.author_name} authored ${relativeTo(commit.authored_date)}</span><span>${committed}</span>`;
};

const commitRow = (commit: FoundCommit, full_path: string, search: string): Html =>
  html`<li><span class="lead">${icon('commit')}</span>${commitLink({ full_path }, { id: commit.id, text: markText(commit.title, [search]), classes: 'title' })}<span class="meta">${commitByline(commit)}</span><span class="side"><code>${commit.id.slice(0, 8)}</code></span></li>
`;

const snippetRow = ({ title, file_name, author, web_url, updated_at }: Snippet, search: string): Html =>
  html`<li><span class="lead">${icon('file')}</span><a class="title" href="${new URL(web_url).pathname}" data-row>${markText(title, [search])}</a><span class="meta">${file_name !== '' && html`<code>${markText(file_name, [search])}</code> `}${author !== null && userLink(author, { size: 'small' })} ${relativeTo(updated_at)}</span></li>
`;

/** Renders the items of each scope. */
export const renderers: Partial<Record<ScopeName, Render>> = {
  projects: (_visit, items) => html`<div class="card">${projectList(items as ListedProject[])}</div>`,
  blobs: async (visit, items, search) => await codeResults(visit, items as FoundBlob[], search),
  commits: async (visit, items, search) => {
    const commits = items as FoundCommit[];
    const path = await pathOfProject(visit, commits);
    return listCard(commits.map((commit) => commitRow(commit, path, search)));
  },
  notes: async (visit, items, search) => {
    const comments = items as (FoundComment & { project_id: number | null })[];
    const path = await pathOfProject(visit, comments);
    return listCard(comments.map((comment) => commentRow(comment, path, search)));
  },
  snippet_titles: (_visit, items, search) =>
    listCard((items as Snippet[]).map((one) => snippetRow(one, search))),
  issues: issueResults,
  merge_requests: requestResults,
  milestones: (_visit, items, search) =>
    listCard((items as Milestone[]).map((one) => milestoneRow(one, search))),
  users: (_visit, items, search) => listCard((items as User[]).map((user) => userRow(user, search))),
};
