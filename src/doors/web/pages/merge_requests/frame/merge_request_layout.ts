/**
 * The frame of all pages of one merge request: the header with its state and branches, and the tabs. Each tab renders
 * its content and hands it to `requestFrame`. The Changes tab does so in `../changes/`.
 */
import { may } from '../../../../../core/access/may.ts';
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { type View, type Visit, withRefusal } from '../../../page.ts';
import { projectView } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type IconName, icon } from '../../../parts/icon.ts';
import { requestPath } from '../paths.ts';
import { headerPart } from './header.ts';
import { type TabCounts, loadTabCounts } from './tab_counts.ts';

export type RequestTab = 'overview' | 'commits' | 'pipelines' | 'changes' | 'versions';

type TabLink = { tab: RequestTab; below: string; name: string; image: IconName; counted: Html | null };

const count = (number: number | string | null): Html | null =>
  number === null ? null : html` <span class="count">${number}</span>`;

/** With an entity, as in the search button of the top bar. */
const linesPart = ({ lines }: TabCounts): Html | null =>
  lines === null
    ? null
    : html` <span class="stat-add" aria-label="${lines.additions} added">+${lines.additions}</span> <span class="stat-del" aria-label="${lines.deletions} removed">&minus;${lines.deletions}</span>`;

const tabsPart = (loaded: LoadedMergeRequest, current: RequestTab, counts: TabCounts): Html => {
  const { version, versions, pipelines } = counts;
  const { user_notes_count: comments, real_size } = loaded.merge_request;
  const links: TabLink[] = [
    { tab: 'overview', below: '', name: 'Overview', image: 'comment', counted: count(comments) },
    {
      tab: 'commits',
      below: '/commits',
      name: 'Commits',
      image: 'commit',
      counted: count(version?.commits_count ?? 0),
    },
    {
      tab: 'pipelines',
      below: '/pipelines',
      name: 'Pipelines',
      image: 'pipeline',
      counted: count(pipelines),
    },
    {
      tab: 'changes',
      below: '/diffs',
      name: 'Changes',
      image: 'file',
      counted: html`${count(real_size ?? '0')}${linesPart(counts)}`,
    },
    { tab: 'versions', below: '/versions', name: 'Versions', image: 'history', counted: count(versions) },
  ];
  return html`<nav class="tabs-nav" aria-label="Merge request"><ul class="tabs">${links.map(
    ({ tab, below, name, image, counted }) =>
      html`<li><a href="${requestPath(loaded, below)}"${tab === current && html` aria-current="page"`}>${icon(image)} ${name}${counted}</a></li>`,
  )}</ul></nav>`;
};

type LayoutOptions = {
  tab: RequestTab;
  /** The page updates itself. */
  live?: boolean;
  /** Problems of a refused form: shown above the header, with status 422. */
  alert?: string;
  /** Further properties of the view, such as `isWide`. */
  view?: Partial<View>;
};

/** Renders a page of a merge request: header, tabs, content. The content has no `<h1>`. */
export const requestFrame = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  { tab, live = false, alert, view }: LayoutOptions,
  content: Html,
): Promise<View> => {
  const { project, merge_request } = loaded;
  const { title, iid, description } = merge_request;
  const counts = await loadTabCounts(visit, loaded);
  const mayUpdate =
    visit.call.signedIn && may(visit.call.viewer, 'update_merge_request', project, loaded.target);
  const isPublic = project.visibility === 'public';
  const shown = projectView(
    visit,
    {
      project,
      title: `${title} (!${iid})`,
      noun: 'merge_requests',
      hasHeading: true,
      live,
      view: {
        ...(isPublic && { preview: { description: (description ?? '').slice(0, 200) } }),
        ...view,
      },
    },
    html`${alert !== undefined && html`<p class="flash alert" role="alert">${alert}</p>`}${await headerPart(visit, loaded, { counts, mayUpdate })}
${tabsPart(loaded, tab, counts)}
${content}`,
  );
  return withRefusal(shown, alert !== undefined);
};
