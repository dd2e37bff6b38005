/** A release as the list and its own page show it. */
import type { ReleaseJson } from '../../../../code/releases/json.ts';
import type { LinkType } from '../../../../code/releases/links.ts';
import { may } from '../../../../core/access/may.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { archiveLinks } from '../../parts/code/archive_links.ts';
import { commitLink } from '../../parts/code/commit_line.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { type IconName, icon } from '../../parts/icon.ts';
import { relative } from '../../parts/timestamp.ts';
import { userLink } from '../../parts/user_link.ts';
import { progressBar } from '../milestones/dates_and_progress.ts';
import { releasePath } from './paths.ts';

type Shown = {
  project: Project;
  release: ReleaseJson;
  notes: Html | null;
  /** True for the latest published release. */
  isLatest: boolean;
};

export const linkTypeNames: Record<LinkType, string> = {
  other: 'Other',
  runbook: 'Runbook',
  image: 'Image',
  package: 'Package',
};

const linkIcons: Record<string, IconName> = { runbook: 'book', image: 'image', package: 'package' };

export const releaseBadges = ({ upcoming_release }: ReleaseJson, isLatest: boolean): Html =>
  html`${isLatest && html` <span class="badge good">Latest</span>`}${upcoming_release && html` <span class="badge">Upcoming release</span>`}`;

/** Renders tag, commit, author and time. */
export const releaseFacts = (project: Project, release: ReleaseJson): Html => {
  const { tag_name, commit, author, released_at, upcoming_release } = release;
  const tag = projectPagePath(project, `tags/${encodeURIComponent(tag_name)}`);
  return html`<p class="row muted"><span>${icon('tag')} <a href="${tag}">${tag_name}</a></span>${
    commit !== null &&
    html`<span>${icon('commit')} ${commitLink(project, { id: commit.id, text: html`<code>${commit.short_id}</code>` })}</span>`
  }<span>${upcoming_release ? 'To be released' : 'Released'} ${relative(Date.parse(released_at))}</span>${author !== null && html`<span class="row">by ${userLink(author)}</span>`}</p>`;
};

const linkItem = ({ name, url, link_type }: ReleaseJson['assets']['links'][number]): Html =>
  html`<li><a href="${url}" rel="nofollow noopener">${icon(linkIcons[link_type] ?? 'link')} ${name}</a>${
    link_type !== 'other' && html` <span class="badge">${linkTypeNames[link_type as LinkType]}</span>`
  }</li>
`;

const assetsPart = (project: Project, { tag_name, assets, commit }: ReleaseJson): Html | null => {
  // Without a tag there is nothing to archive.
  const hasSources = commit !== null;
  if (!hasSources && assets.links.length === 0) return null;
  const count = assets.links.length + (hasSources ? assets.sources.length : 0);
  return html`<details class="assets"${count < 12 && html` open`}><summary>Assets <span class="count">${count}</span></summary>
${assets.links.length > 0 && html`<ul class="stack tight">${assets.links.map(linkItem)}</ul>`}
${hasSources && html`<p class="row tight"><span class="muted">Source code</span>${archiveLinks(project, { ref: tag_name }, 'button small')}</p>`}</details>`;
};

const milestonesPart = ({ call }: Visit, { milestones }: ReleaseJson): Html | null => {
  if (milestones.length === 0) return null;
  const item = ({ title, web_url, issue_stats: { total, closed } }: (typeof milestones)[number]): Html =>
    html`<li class="milestone-progress"><a href="${web_url.replace(call.baseUrl, '')}">${icon('milestone')} ${title}</a>
${total > 0 && html`${progressBar({ opened: total - closed, closed })}<span class="muted small">${closed} of ${spellCount(total, 'issue')} closed</span>`}</li>`;
  return html`<ul class="stack tight" aria-label="Milestones">${milestones.map(item)}</ul>`;
};

const editLink = ({ call }: Visit, project: Project, tag: string, keys: Html | null): Html | false =>
  may(call.viewer, 'admin_release', project) &&
  html`<a class="button small" href="${releasePath(project, tag)}/edit"${keys}>${icon('pencil')} Edit</a>`;

/** Renders the contents of a release: notes, milestones, assets. */
export const releaseContent = (visit: Visit, { project, release, notes }: Omit<Shown, 'isLatest'>): Html =>
  html`<div class="body stack">${notes}${milestonesPart(visit, release)}${assetsPart(project, release)}${
    notes === null && release.assets.links.length === 0 && html`<p class="muted">No release notes</p>`
  }</div>`;

/** Renders a release of the list. */
export const releaseCard = (visit: Visit, shown: Shown): Html => {
  const { project, release, isLatest } = shown;
  const { tag_name, name } = release;
  return html`<section class="card release" aria-label="${name}"><header><h2><a href="${releasePath(project, tag_name)}" data-row>${name}</a></h2>${releaseBadges(
    release,
    isLatest,
  )}<span class="end">${editLink(visit, project, tag_name, null)}</span></header>
<div class="body release-facts">${releaseFacts(project, release)}</div>
${releaseContent(visit, shown)}</section>
`;
};

/** Renders the button of the page of a release. */
export const editButton = (visit: Visit, project: Project, tag: string): Html | false =>
  editLink(visit, project, tag, html` data-key="e" data-key-name="Edit the release"`);
