/** The header of a merge request: title, state, branches, and actions. */
import { canReadCode } from '../../../../../core/access/visible.ts';
import { isWorkInProgress } from '../../../../../planning/issuables/text/draft_title.ts';
import { loadProject } from '../../../../../projects/projects/find.ts';
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import type { Visit } from '../../../page.ts';
import { codePath } from '../../../parts/code/code_path.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { button } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type IconName, icon } from '../../../parts/icon.ts';
import { menu } from '../../../parts/menu.ts';
import { stickyTitle } from '../../../parts/timeline/sticky_title.ts';
import { relative } from '../../../parts/timestamp.ts';
import { checkOutHead } from '../check_out_commands.ts';
import { requestPath } from '../paths.ts';
import type { TabCounts } from './tab_counts.ts';

const states: Record<string, readonly [style: string, image: IconName, word: string]> = {
  opened: ['open', 'merge-request', 'Open'],
  merged: ['merged', 'merge-request', 'Merged'],
  closed: ['shut', 'cross-circle', 'Closed'],
  locked: ['draft', 'lock', 'Merging'],
};

/** Renders the state of a merge request as a pill. */
const stateBadge = ({ merge_request: { state, title } }: LoadedMergeRequest): Html => {
  const [style, image, word] =
    state === 'opened' && isWorkInProgress(title)
      ? (['draft', 'pencil', 'Draft'] as const)
      : (states[state] ?? ['draft', 'info', state]);
  return html`<span class="state ${style}">${icon(image)} ${word}</span>`;
};

const targetPart = ({ project, merge_request: { target_branch } }: LoadedMergeRequest): Html =>
  html`<a href="${codePath(project, 'tree', target_branch)}"><code>${target_branch}</code></a>`;

/** Renders the source branch, with its project where it is a fork that the viewer may see. */
const sourcePart = async ({ call }: Visit, { project, merge_request }: LoadedMergeRequest): Promise<Html> => {
  const { source_branch, source_project_id: id, state } = merge_request;
  const isFork = id !== project.id;
  const source = id === null ? null : isFork ? await loadProject(call.db, id) : project;
  const isReadable = source !== null && canReadCode(call.viewer, source);
  const name = html`<code>${isFork && isReadable && `${source.full_path}:`}${source_branch}</code>`;
  // The branch of a merged request is often gone.
  return isReadable && state === 'opened'
    ? html`<a href="${codePath(source, 'tree', source_branch)}">${name}</a>`
    : name;
};

const person = ({ name, username }: { name: string; username: string }): Html =>
  html`<a class="author" href="/${username}">${name}</a>`;

/** Describes the outcome, or what the author requests. */
const summary = (loaded: LoadedMergeRequest, { version, versions }: TabCounts, source: Html): Html => {
  const { author, state, merged_by, merged_at, closed_by, closed_at } = loaded.merge_request;
  const commits = html`<b>${spellCount(version?.commits_count ?? 0, 'commit')}</b> from ${source} into ${targetPart(loaded)}`;
  if (state === 'merged') {
    return html`${person(merged_by ?? author)} merged ${commits}${merged_at !== null && html` ${relative(merged_at)}`}`;
  }
  const closed =
    state === 'closed' &&
    closed_at !== null &&
    html` · closed ${relative(closed_at)}${closed_by !== null && html` by ${closed_by.name}`}`;
  const pushed =
    versions > 1 &&
    html` · <a href="${requestPath(loaded, '/versions')}">${spellCount(versions, 'version')}</a>`;
  return html`${person(author)} wants to merge ${commits}${pushed}${closed}`;
};

/** @param key attributes of the shortcut that copies the text */
const command = (text: string, key: Html | null = null): Html =>
  html`<div class="copy"><pre tabindex="0"><code>${text}</code></pre><button type="button" class="small icon-button" data-copy="${text}"${key} hidden aria-label="Copy the commands">${icon('copy')}</button></div>`;

const branchKey = html` data-key="b" data-key-name="Copy the name of the branch"`;

const checkOutMenu = (loaded: LoadedMergeRequest): Html =>
  menu(
    { summary: html`${icon('code')} Check out ${icon('chevron-down')}`, classes: 'button' },
    html`<div class="check-out"><h2>In a clone of this project</h2>${command(
      checkOutHead(loaded),
    )}<p class="muted small">Or copy the name of the branch:</p>${command(loaded.merge_request.source_branch, branchKey)}<h2>As text</h2><p class="row"><a href="${requestPath(loaded, '.diff')}">Diff</a> <a href="${requestPath(loaded, '.patch')}">Patches of all commits</a></p></div>`,
  );

/** Renders the menu of further actions; null if the viewer has none. */
const moreMenu = (visit: Visit, loaded: LoadedMergeRequest): Html | null => {
  const { state, title } = loaded.merge_request;
  if (state !== 'opened' && state !== 'closed') return null;
  const isOpen = state === 'opened';
  const isDraft = isWorkInProgress(title);
  const draft =
    isOpen &&
    button(visit, requestPath(loaded, isDraft ? '/ready' : '/draft'), {
      label: isDraft ? 'Mark as ready' : 'Mark as draft',
    });
  const event = isOpen ? 'close' : 'reopen';
  const change = button(visit, requestPath(loaded, `?state_event=${event}`), {
    label: isOpen ? 'Close merge request' : 'Reopen merge request',
  });
  return menu(
    { summary: icon('dots'), label: 'More actions', classes: 'button icon-button' },
    html`${draft}${change}`,
  );
};

/** Renders what stays in sight of the header while one scrolls. */
export const stickyPart = (loaded: LoadedMergeRequest): Html =>
  stickyTitle(stateBadge(loaded), loaded.merge_request.title, `!${loaded.merge_request.iid}`);

type HeaderOptions = { counts: TabCounts; mayUpdate: boolean };

export const headerPart = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  { counts, mayUpdate }: HeaderOptions,
): Promise<Html> => {
  const { title, iid } = loaded.merge_request;
  const edit =
    mayUpdate &&
    visit.call.platform.hasPage('GET /-/projects/:project/merge_requests/:iid/edit') &&
    html`<a class="button" href="${requestPath(loaded, '/edit')}" data-edit="description" data-key="e">${icon('pencil')} Edit</a>`;
  return html`<div class="stack tight" id="record_head"><div class="row between top"><h1 id="request_title" data-part>${title} <span class="muted number">!${iid}</span></h1><div class="row">${edit}${checkOutMenu(loaded)}${mayUpdate && moreMenu(visit, loaded)}</div></div>
<div class="row" id="request_state" data-part>${stateBadge(loaded)}<span class="muted">${summary(loaded, counts, await sourcePart(visit, loaded))}</span></div></div>`;
};
