/** The page of a milestone: description, progress, dates, charts, and its contents. */
import { may } from '../../../../core/access/may.ts';
import { today } from '../../../../core/access/viewer.ts';
import { countMilestoneIssues } from '../../../../planning/issues/lists/milestone_counts.ts';
import { loadMilestoneDays } from '../../../../planning/issues/lists/milestone_history.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { id, object, oneOf } from '../../../../platform/http/schema.ts';
import type { MilestoneRow } from '../../../../projects/milestones/json.ts';
import { findMilestoneByIid } from '../../../../projects/milestones/queries.ts';
import { type AnyPage, type View, type Visit, page } from '../../page.ts';
import { form } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { markdown } from '../../parts/markdown.ts';
import { issuesPath } from '../issues/paths.ts';
import { type OwnedList, type OwnedListRoute, ownerParams } from '../labels/project_or_group_routes.ts';
import { type Shown, contentTabs, contentsPart } from './contents.ts';
import { progressCharts } from './progress_charts.ts';
import { datesPart, progressBar, spellProgress } from './dates_and_progress.ts';

const actions = (visit: Visit, { path }: OwnedList, { iid, state }: MilestoneRow): Html => {
  const milestonePath = `${path}/${iid}`;
  const isOpen = state === 'active';
  return html`<a class="button" href="${milestonePath}/edit" data-key="e">${icon('pencil')} Edit</a>${form(
    visit,
    {
      action: `${milestonePath}/${isOpen ? 'close' : 'activate'}`,
      submit: isOpen ? 'Close milestone' : 'Reopen milestone',
      isQuiet: true,
    },
  )}`;
};

/** Links to a new issue on the milestone, for users who can choose it in the form. */
const newIssueLink = (
  { call }: Visit,
  { project }: OwnedList,
  { id: milestone_id, state }: MilestoneRow,
): Html | null => {
  const isAllowed =
    project !== null && may(call.viewer, 'create_issue', project) && may(call.viewer, 'admin_issue', project);
  if (!isAllowed || state !== 'active') return null;
  const query = new URLSearchParams({ 'issue[milestone_id]': String(milestone_id) }).toString();
  return html`<a class="button" href="${issuesPath(project)}/new?${query}">${icon('plus')} New issue</a>`;
};

const aside = async (visit: Visit, row: MilestoneRow): Promise<Html> => {
  const { call } = visit;
  const counts = (await countMilestoneIssues(call, [row.id])).get(row.id) ?? { opened: 0, closed: 0 };
  const changes = await loadMilestoneDays(call, row.id);
  const day = today(call.now);
  const charts = progressCharts({ ...row, changes, today: day });
  return html`<div class="aside"><section><h2>Progress</h2><p>${spellProgress(counts)}</p>${progressBar(counts)}</section>
<section><h2>Dates</h2><p class="row">${datesPart(row, day)}</p></section>
${charts}</div>`;
};

const oneView = async (visit: Visit, list: OwnedList, row: MilestoneRow, shown: Shown): Promise<View> => {
  const isOpen = row.state === 'active';
  const description = row.description ?? '';
  const content = html`<div class="row between top"><h1>${row.title}</h1><div class="buttons">${newIssueLink(visit, list, row)}${list.canChange && actions(visit, list, row)}</div></div>
<div class="row"><span class="state ${isOpen ? 'open' : 'closed'}">${icon(isOpen ? 'milestone' : 'check-circle')} ${isOpen ? 'Open' : 'Closed'}</span><span class="muted">Milestone %${row.iid}</span></div>
<div class="with-aside"><div class="stack">${
    description !== '' &&
    html`<section class="card" aria-label="Description"><div class="body prose">${await markdown(visit.call, description, { project: list.project })}</div></section>`
  }${await contentsPart({ visit, list, row }, shown)}</div>
${await aside(visit, row)}</div>`;
  return list.view(visit, { title: row.title, hasHeading: true }, content);
};

export const onePage = (kind: OwnedListRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.routePath}/:iid`,
    audience: 'user',
    params: object({
      ...ownerParams,
      iid: id(),
      tab: oneOf(contentTabs, { default: 'issues' }),
      ...pageParams,
    }),
    handle: async (visit, { iid, tab, ...params }) => {
      const list = await kind.find(visit.call, params);
      const row = await findMilestoneByIid(visit.call.db, list.owner, iid);
      return await oneView(visit, list, row, { tab, at: pageRequest(params) });
    },
  });
