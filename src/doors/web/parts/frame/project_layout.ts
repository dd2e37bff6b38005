/** Layout of every page of a project: its header with tabs, the links of the tab, the content. */
import { uploadedAvatarUrl } from '../../../../identity/avatars/avatar_urls.ts';
import { may } from '../../../../core/access/may.ts';
import type { Viewer } from '../../../../core/access/viewer.ts';
import { text } from '../../../../platform/http/schema.ts';
import { countOpenIssues } from '../../../../projects/projects/related/count_open_issues.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { loadViewerRelation } from '../../../../projects/projects/related/viewer_relation.ts';
import type { View, Visit } from '../../page.ts';
import { type ProjectNoun, type ProjectTab, isBareNoun } from '../../project_and_group_pages.ts';
import { projectNouns } from '../../project_pages.ts';
import { avatar } from '../avatar.ts';
import { pathLinks } from './path_links.ts';
import { form } from '../form.ts';
import { type Html, html } from '../html.ts';
import type { IconName } from '../icon.ts';
import { type NavLink, withSideNav, tabs } from './tabs_and_side_nav.ts';
import { visibilityMark } from '../projects/project_list.ts';
import { projectActions } from './project_actions.ts';
import { projectShortcuts } from './project_shortcuts.ts';
import { breadcrumbs } from './breadcrumbs.ts';
import { listCreateLinks } from './create_in_project.ts';

/** Parameter of every page of a project: its full path. */
export const projectPath = { project: text({ maxLength: 1_000 }) };

/** Returns the address of a page of a project. @param below what follows the project's path: `pipelines/3` */
export const projectPagePath = ({ full_path }: Pick<Project, 'full_path'>, below: string): string =>
  isBareNoun(below) ? `/${full_path}/${below}` : `/${full_path}/-/${below}`;

const tabTexts: Record<ProjectTab, readonly [IconName, string]> = {
  code: ['code', 'Code'],
  issues: ['issue', 'Issues'],
  merge_requests: ['merge-request', 'Merge requests'],
  pipelines: ['pipeline', 'Pipelines'],
  releases: ['package', 'Releases'],
  snippets: ['file', 'Snippets'],
  members: ['users', 'Members'],
  settings: ['settings', 'Settings'],
};

/** Returns the noun in the tab that it has for the viewer; null if they may not open its pages. */
const placeNoun = ({ viewer }: Visit['call'], project: Project, noun: ProjectNoun): ProjectNoun | null => {
  if (may(viewer, noun.action, project)) return noun;
  const { forReaders } = noun;
  if (forReaders === undefined || !may(viewer, forReaders.action, project)) return null;
  return { ...noun, ...forReaders };
};

/** Lists the named pages of a project that the viewer may open, with those that only the palette finds. */
export const listNouns = ({ call }: Visit, project: Project): ProjectNoun[] =>
  (projectNouns as readonly ProjectNoun[])
    .filter(({ name }) => name !== undefined)
    .map((noun) => placeNoun(call, project, noun))
    .filter((noun) => noun !== null);

const filterNouns = (visit: Visit, project: Project): readonly ProjectNoun[] =>
  listNouns(visit, project).filter(
    ({ isUnlisted, tab }) =>
      // Pages about pipelines need an account, even if their statuses are public.
      isUnlisted !== true && (visit.call.signedIn || tab !== 'pipelines'),
  );

/** The nouns of the page being rendered. */
let last: { viewer: Viewer; project: Project; nouns: readonly ProjectNoun[] } | null = null;

/** Returns the nouns that the viewer may open. The header and the place of a page both need them. */
const allowedNouns = (visit: Visit, project: Project): readonly ProjectNoun[] => {
  const { viewer } = visit.call;
  if (last?.viewer !== viewer || last.project !== project)
    last = { viewer, project, nouns: filterNouns(visit, project) };
  return last.nouns;
};

type Counts = { releases: number; viewer: Viewer };

const countOf = (tab: ProjectTab, project: Project, { releases, viewer }: Counts): number | undefined => {
  if (tab === 'releases') return releases;
  if (tab === 'issues') return countOpenIssues(viewer, project);
  return tab === 'merge_requests' ? project.opened_merge_requests : undefined;
};

const tabLinks = (
  visit: Visit,
  project: Project,
  { current, releases }: { current: ProjectTab; releases: number },
): NavLink[] => {
  const first = new Map<ProjectTab, ProjectNoun>();
  for (const noun of allowedNouns(visit, project)) if (!first.has(noun.tab)) first.set(noun.tab, noun);
  return (Object.keys(tabTexts) as ProjectTab[]).flatMap((tab) => {
    const noun = first.get(tab);
    if (noun === undefined && tab !== 'code') return [];
    const [image, name] = tabTexts[tab];
    const path = tab === 'code' ? `/${project.full_path}` : projectPagePath(project, noun?.noun ?? '');
    return [
      {
        path,
        name,
        icon: image,
        isHere: tab === current,
        count: countOf(tab, project, { releases, viewer: visit.call.viewer }),
      },
    ];
  });
};

/** Renders the header of a project: path, actions and tabs. */
const projectHeader = async (visit: Visit, project: Project, tab: ProjectTab): Promise<Html> => {
  const { full_path, visibility, name } = project;
  const avatar_url = uploadedAvatarUrl(visit.call, 'project', project);
  const relation = await loadViewerRelation(visit.call, project);
  const before = html`${avatar({ name, avatar_url, isSquare: true })}${visibilityMark(visibility)}`;
  return html`<div class="place"><div class="row between"><div class="row">${pathLinks(full_path, { before })}${
    project.archived === 1 && html`<span class="badge">Archived</span>`
  }</div>${projectActions(visit, project, relation)}</div>
${tabs('Project', tabLinks(visit, project, { current: tab, releases: relation.releases_count }))}${projectShortcuts(visit, project)}</div>
`;
};

const isBeside = (tab: ProjectTab): boolean => tab === 'settings';

type SubTab = NavLink & { noun: ProjectNoun };

/** Lists the pages of a tab that the viewer may open. A repository without commits has no pages about code. */
const subTabs = (
  visit: Visit,
  project: Project,
  { tab, noun }: { tab: ProjectTab; noun: string },
): SubTab[] =>
  allowedNouns(visit, project)
    .filter((one) => one.tab === tab && (tab !== 'code' || project.default_branch !== null))
    .map((one) => ({
      noun: one,
      path: projectPagePath(project, one.noun),
      name: one.name ?? '',
      isHere: one.noun === noun,
    }));

/** Renders the part above the content: breadcrumbs to the list of a record, or the pages of the tab. */
const placeOf = (
  visit: Visit,
  links: readonly SubTab[],
  { tab, title }: { tab: ProjectTab; title: string },
) => {
  const current = links.find(({ isHere }) => isHere);
  // `/:rest` is a ref and a path, not a record.
  const isRecord =
    current?.noun.lines.includes('GET /:rest') === false && visit.path.split('?')[0] !== current.path;
  if (isRecord) return breadcrumbs(current, title);
  const isListed = links.length > 1 && (tab !== 'code' || current !== undefined);
  return isListed && tabs(tabTexts[tab][1], links);
};

type ProjectPageOptions = {
  project: Project;
  /** Heading of the page. */
  title: string;
  /** null: the page of the project itself. */
  noun: (typeof projectNouns)[number]['noun'] | null;
  live?: boolean;
  /** The content has its own `<h1>`; the title is used only for the window. */
  hasHeading?: boolean;
  /** Further properties of the view. */
  view?: Partial<View>;
};

/** Renders a page of a project. */
export const projectView = (visit: Visit, options: ProjectPageOptions, content: Html): View => {
  const { project, title, noun, live = false, hasHeading = false, view } = options;
  const own =
    allowedNouns(visit, project).find((one) => one.noun === noun) ??
    (projectNouns as readonly ProjectNoun[]).find((one) => one.noun === noun);
  const tab: ProjectTab = own?.tab ?? 'code';
  const links = subTabs(visit, project, { tab, noun: own?.under ?? own?.noun ?? '' });
  const headed = html`${!hasHeading && html`<h1>${title}</h1>`}
${content}`;
  return {
    title: noun === null ? title : `${title} · ${project.full_path}`,
    live,
    home: `/${project.full_path}`,
    header: async () => await projectHeader(visit, project, tab),
    creatable: { place: project.name, list: async () => await listCreateLinks(visit, project) },
    body:
      isBeside(tab) && links.length > 0
        ? withSideNav(tabTexts[tab][1], links, headed)
        : html`${placeOf(visit, links, { tab, title })}${headed}`,
    ...view,
  };
};

/** Renders a button that submits a form without fields. */
export const button = (
  visit: Visit,
  action: string,
  options: { label: string; name?: string; danger?: boolean },
): Html => {
  const { label, name, danger = false } = options;
  return form(visit, { action, submit: label, danger, isQuiet: true, ...(name !== undefined && { name }) });
};
