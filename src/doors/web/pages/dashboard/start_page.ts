/** The start page of a user: what waits for them, and their projects. */
import { keepUntilCommit } from '../../../../core/access/keep_until_commit.ts';
import { may } from '../../../../core/access/may.ts';
import { getMemberLevel, today } from '../../../../core/access/viewer.ts';
import { getIdeLink } from '../../../../core/settings/setting_effects.ts';
import { uploadedAvatarUrl } from '../../../../identity/avatars/avatar_urls.ts';
import { type LinkedLabel, linkedLabels } from '../../../../planning/issuables/lists/linked_labels.ts';
import type { Filters } from '../../../../planning/issues/lists/filters.ts';
import { issueTexts } from '../../../../planning/issues/lists/json_cache.ts';
import { listIssues } from '../../../../planning/issues/lists/list.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { countOpenIssues } from '../../../../projects/projects/related/count_open_issues.ts';
import { listRecentProjects } from '../../../../projects/projects/lists/recent_projects.ts';
import { loadRowFacts } from '../../../../review/merge_requests/lists/row_facts.ts';
import type { View, Visit } from '../../page.ts';
import { avatar } from '../../parts/avatar.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { type Html, html } from '../../parts/html.ts';
import { type IconName, icon } from '../../parts/icon.ts';
import { relative } from '../../parts/timestamp.ts';
import { projectPathParts, visibilityMark } from '../../parts/projects/project_list.ts';
import { type ListedIssue, parseIssue } from '../issues/list/issue_row.ts';
import type { ListedRequest } from '../merge_requests/list/request_row.ts';
import { nameRole } from '../../parts/projects/role.ts';
import { loadMergeRequests } from './own_merge_requests.ts';
import { labelLinks } from './label_links.ts';
import { mergeRequestRow } from './merge_request_row.ts';
import { pipelineBadges } from './project_lists.ts';
import { pushesCard } from './pushes_card.ts';
import { type LoadedTodos, finishAllForm, loadTodos } from './todos.ts';
import { todoRow } from './todo_row.ts';

/** Entries of a card; its heading links to all entries. */
const maxEntries = 6;
const maxProjects = 20;

type Card = { icon: IconName; title: string; path: string; total: number; action?: Html | null };

const card = ({ icon: image, title, path, total, action }: Card, content: Html): Html =>
  html`<section class="card"><header>${icon(image)}<h2><a href="${path}">${title}</a></h2><span class="count">${total}</span>${
    action !== undefined && html`<span class="end">${action}</span>`
  }</header>${content}</section>
`;

const requestList = async ({ call }: Visit, requests: readonly ListedRequest[]): Promise<Html> => {
  const ids = requests.map(({ id }) => id);
  const [labels, facts] = await Promise.all([
    linkedLabels(call.db, 'MergeRequest', ids),
    loadRowFacts(call, ids),
  ]);
  const rows = requests.map((request) =>
    mergeRequestRow(request, { labels: labels.get(request.id) ?? [], facts: facts.get(request.id) }),
  );
  return html`<ul class="list">${rows}</ul>`;
};

const reviewsCard = async (visit: Visit): Promise<Html | null> => {
  const { requests, total } = await loadMergeRequests(visit, 'waiting', maxEntries);
  if (total === 0) return null;
  return card(
    { icon: 'eye', title: 'Waiting for your review', path: '/dashboard/merge_requests', total },
    await requestList(visit, requests),
  );
};

const requestsCard = async (visit: Visit): Promise<Html | null> => {
  const { requests, total } = await loadMergeRequests(visit, 'assigned-to-me', maxEntries);
  if (total === 0) return null;
  return card(
    {
      icon: 'merge-request',
      title: 'Your merge requests',
      path: '/dashboard/merge_requests?scope=assigned-to-me',
      total,
    },
    await requestList(visit, requests),
  );
};

const issueItem = (issue: ListedIssue, labels: readonly LinkedLabel[], day: string): Html => {
  const { references, iid, title, milestone, due_date } = issue;
  const path = `/${references.full.slice(0, references.full.lastIndexOf('#'))}/issues/${iid}`;
  const isLate = due_date !== null && due_date < day;
  return html`<li><span class="lead status ok">${icon('issue', 'Open')}</span>
<span class="heading"><a class="title" href="${path}" data-row>${title}</a> ${labelLinks('/dashboard/issues', labels)}</span>
<span class="meta"><span>${references.full}</span>${milestone !== null && html`<span>milestone ${milestone.title}</span>`}</span>${
    isLate && html`<span class="side"><span class="status bad">${icon('clock')} overdue</span></span>`
  }</li>
`;
};

const issuesCard = async (visit: Visit): Promise<Html> => {
  const { call } = visit;
  const filters: Filters = { scope: 'assigned-to-me', state: 'opened', order_by: 'updated_at', sort: 'desc' };
  const page = pageRequest({ per_page: maxEntries });
  const { items, total } = await listIssues({ call, scope: 'everywhere', filters, page, texts: issueTexts });
  const day = today(call.now);
  const issues = items.map(parseIssue);
  const labels = await linkedLabels(
    call.db,
    'Issue',
    issues.map(({ id }) => id),
  );
  return card(
    { icon: 'issue', title: 'Assigned to you', path: '/dashboard/issues', total },
    total === 0
      ? emptyState({ icon: 'issue', title: 'No assigned issues' })
      : html`<ul class="list">${issues.map((issue) => issueItem(issue, labels.get(issue.id) ?? [], day))}</ul>`,
  );
};

const todosCard = (visit: Visit, { todos, total }: LoadedTodos): Html =>
  card(
    {
      icon: 'todo',
      title: 'To do',
      path: '/dashboard/todos',
      total,
      action: total === 0 ? null : finishAllForm(visit, '/'),
    },
    total === 0
      ? emptyState({ icon: 'check-circle', title: 'Nothing to do' })
      : html`<ul class="list">${todos.map((todo) => todoRow(visit, todo, '/'))}</ul>`,
  );

const projectItem = ({ call }: Visit, project: Project, badge: Html | null): Html => {
  const { full_path, name, visibility, last_activity_at } = project;
  const open = countOpenIssues(call.viewer, project);
  const issues = may(call.viewer, 'read_issue', project) && `${open} ${open === 1 ? 'issue' : 'issues'}`;
  const ide = getIdeLink(call.settings, `${call.baseUrl}/${full_path}`);
  const role = nameRole(getMemberLevel(call.viewer, project));
  const avatar_url = uploadedAvatarUrl(call, 'project', project);
  return html`<li><span class="lead">${avatar({ name, avatar_url, size: 'medium', isSquare: true })}</span>
<span class="row"><a class="title" href="/${full_path}" data-row>${projectPathParts(full_path)}</a>${visibilityMark(visibility)}</span>
<span class="meta"><span>${role}</span><span>Updated ${relative(last_activity_at)}</span>${issues !== false && html`<span>${issues}</span>`}</span>
<span class="side">${ide !== null && html`<a href="${ide}">Open in the IDE</a>`}${badge}</span></li>
`;
};

const noProjects = emptyState({
  icon: 'folder',
  title: 'You are in no project yet',
  text: 'Create a project, or explore public projects.',
  action: html`<p class="buttons"><a class="button primary" href="/projects/new">New project</a><a class="button" href="/explore">Explore</a></p>`,
});

// With scripts, it filters while the user types; otherwise, it links to the search.
const projectFilter = html`<form method="get" action="/dashboard/projects"><input type="search" name="search" class="small-field" placeholder="Filter" aria-label="Filter your projects" data-filter="#own-projects > *"></form>`;

const projectsCard = async (visit: Visit): Promise<Html> => {
  const { items, total } = await listRecentProjects(visit.call, maxProjects);
  const badgeOf = await pipelineBadges(visit, items);
  const action = total > 1 ? projectFilter : null;
  return card(
    { icon: 'folder', title: 'Projects', path: '/dashboard/projects', total, action },
    total === 0
      ? noProjects
      : html`<ul class="list" id="own-projects">${items.map((project) => projectItem(visit, project, badgeOf(project)))}</ul>`,
  );
};

/** The content of the page, without the forms for the browser. */
type Content = {
  pushes: Awaited<ReturnType<typeof pushesCard>>;
  reviews: Html | null;
  issues: Html;
  requests: Html | null;
  projects: Html;
  todos: LoadedTodos;
};

// Branches of a storage that did not answer are looked for again.
const keep = keepUntilCommit<Content>(500, ({ pushes }) => pushes.isComplete);

const loadContent = async (visit: Visit): Promise<Content> => {
  const [pushes, reviews, issues, requests, projects, todos] = await Promise.all([
    pushesCard(visit),
    reviewsCard(visit),
    issuesCard(visit),
    requestsCard(visit),
    projectsCard(visit),
    loadTodos(visit, { state: 'pending', page: 1, per_page: maxEntries }),
  ]);
  return { pushes, reviews, issues, requests, projects, todos };
};

/** Renders the start page. */
export const ownWorkView = async (visit: Visit): Promise<View> => {
  const content = await keep(visit.call, async () => await loadContent(visit));
  return {
    title: 'Your work',
    body: html`<div class="row between"><h1>Your work</h1><a class="button primary" href="/projects/new">${icon('plus')} New project</a></div>
<div class="columns work">${content.pushes.card}${content.reviews}${content.issues}${content.requests}${todosCard(visit, content.todos)}</div>
${content.projects}`,
  };
};
