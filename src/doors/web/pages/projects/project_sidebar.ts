/** Renders the column next to the files of a project: description, release, open work, members. */
import type { ReadmeAndLicense } from '../../../../code/repository/files/readme_and_license.ts';
import { loadLatestRelease } from '../../../../code/releases/find_releases.ts';
import type { LanguageShare } from '../../../../code/repository/languages/load_languages.ts';
import { may } from '../../../../core/access/may.ts';
import { today } from '../../../../core/access/viewer.ts';
import { canSeeProject } from '../../../../core/access/visible.ts';
import { basicUser } from '../../../../identity/users/json.ts';
import { keepUntilChange } from '../../../../platform/db/keep_until_change.ts';
import { badgeJson } from '../../../../projects/badges/json.ts';
import { projectBadgeOwner } from '../../../../projects/badges/owner.ts';
import { loadBadges } from '../../../../projects/badges/queries.ts';
import { listMembers } from '../../../../projects/members/queries.ts';
import { projectSource } from '../../../../projects/members/member_source.ts';
import { type Project, loadProject } from '../../../../projects/projects/find.ts';
import { countOpenIssues } from '../../../../projects/projects/related/count_open_issues.ts';
import { loadTopics } from '../../../../projects/projects/topics.ts';
import type { Visit } from '../../page.ts';
import { avatar } from '../../parts/avatar.ts';
import { badgeLink } from '../../parts/badges/badge_link.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { relative } from '../../parts/timestamp.ts';
import { projectLink } from '../../parts/projects/project_link.ts';
import { topicLinks } from '../../parts/projects/topic_links.ts';
import { languagesBar } from './languages_bar.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

const maxAvatars = 10;

const parentPart = async ({ call }: Visit, { forked_from_project_id: id }: Project): Promise<Html | null> => {
  const parent = id === null ? null : await loadProject(call.db, id);
  if (parent === null || !canSeeProject(call.viewer, parent)) return null;
  return html`<p>${icon('fork')} Forked from <a href="/${parent.full_path}">${parent.full_path}</a></p>`;
};

const aboutPart = async (visit: Visit, project: Project, license: Html | null): Promise<Html> => {
  const description = project.description ?? '';
  return html`<section><h2>About</h2>${
    description === '' ? html`<p class="muted">No description</p>` : html`<p class="lines">${description}</p>`
  }${await badgesPart(visit, project)}${topicLinks(visit, await loadTopics(visit.call.db, project.id))}${await parentPart(visit, project)}${license}<p>${icon('history')} <a href="${projectPagePath(project, 'activity')}">Activity</a></p></section>
`;
};

const keepBadges = keepUntilChange<Awaited<ReturnType<typeof loadBadges>>>(['badges', 'namespaces'], 500);

/** More badges than a page shows are those of many groups above. */
const maxBadges = 100;

const badgesPart = async (visit: Visit, project: Project): Promise<Html | null> => {
  const { call } = visit;
  const { shown, placeholders } = projectBadgeOwner(project, call);
  const load = async () => await loadBadges(call, shown, maxBadges);
  const rows = await keepBadges(call.db, `${project.id} ${project.namespace_id}`, load);
  if (rows.length === 0) return null;
  const item = (row: (typeof rows)[number]): Html =>
    html`<li>${badgeLink(visit, badgeJson(row, placeholders))}</li>`;
  return html`<ul class="buttons badges" aria-label="Badges">${rows.map(item)}</ul>`;
};

const releasePart = async (visit: Visit, project: Project): Promise<Html | null> => {
  const { call } = visit;
  if (!may(call.viewer, 'read_release', project)) return null;
  const release = await loadLatestRelease(call.db, project.id, call.now);
  if (release === undefined) return null;
  const { name, tag, released_at } = release;
  const page = `releases/${encodeURIComponent(tag)}`;
  const title = call.platform.hasPage('GET /-/projects/:project/releases/:tag')
    ? html`<a href="${projectPagePath(project, page)}">${name ?? tag}</a>`
    : html`<b>${name ?? tag}</b>`;
  return html`<section><h2>Latest release</h2><p>${icon('tag')} ${title} <span class="muted">${relative(released_at)}</span></p></section>
`;
};

const workPart = (visit: Visit, project: Project): Html | null => {
  const { viewer } = visit.call;
  const { full_path, opened_merge_requests } = project;
  const parts = [
    may(viewer, 'read_issue', project) && {
      page: '/-/issues',
      text: spellCount(countOpenIssues(viewer, project), 'issue'),
    },
    may(viewer, 'read_merge_request', project) && {
      page: '/-/merge_requests',
      text: spellCount(opened_merge_requests, 'merge request'),
    },
  ].filter((part) => part !== false);
  if (parts.length === 0) return null;
  const links = parts.map(
    ({ page, text }) => html`<li>${projectLink(visit, { project: full_path, page, text }) ?? text}</li>`,
  );
  return html`<section><h2>Open work</h2><ul>${links}</ul></section>
`;
};

const keepMembers = keepUntilChange<Awaited<ReturnType<typeof listMembers>>>(
  ['members', 'users', 'namespaces', 'group_links'],
  500,
);

const membersPart = async (visit: Visit, project: Project): Promise<Html | null> => {
  const { call } = visit;
  if (!may(call.viewer, 'read_member', project)) return null;
  const source = await projectSource.find(call, project.id);
  const filter = { query: '', inherited: true, now: call.now };
  const page = { page: 1, per_page: maxAvatars, limit: maxAvatars, offset: 0 };
  const key = `${project.id} ${project.namespace_id} ${today(call.now)}`;
  const load = async () => await listMembers(call.db, source, filter, page);
  const { rows, total } = await keepMembers(call.db, key, load);
  if (total === 0) return null;
  const item = (row: (typeof rows)[number]): Html => {
    const { name, username, avatar_url } = basicUser(row, call);
    return html`<a href="/${username}" title="${name}">${avatar({ name, avatar_url, size: 'medium' })}<span class="visually-hidden">${name}</span></a>`;
  };
  const link = projectLink(visit, {
    project: project.full_path,
    page: '/-/project_members',
    text: 'Members',
  });
  return html`<section><h2>${link ?? 'Members'} <span class="count">${total}</span></h2><div class="avatars">${rows.map(item)}</div></section>
`;
};

type CodeFacts = ReadmeAndLicense & { ref: string; languages: readonly LanguageShare[] };

/** Renders the column. @param files null if there is no code, or the viewer cannot read it */
export const projectAside = async (
  visit: Visit,
  project: Project,
  files: CodeFacts | null,
): Promise<Html> => {
  const license = files?.license ?? null;
  const link =
    license === null || files === null
      ? null
      : html`<p>${icon('shield')} <a href="${codePath(project, 'blob', files.ref, license.path)}">${license.name}</a></p>`;
  const [about, release, members] = await Promise.all([
    aboutPart(visit, project, link),
    releasePart(visit, project),
    membersPart(visit, project),
  ]);
  return html`<aside class="aside" aria-label="About the project">${about}${files !== null && languagesBar(files.languages)}${release}${workPart(visit, project)}${members}</aside>`;
};
