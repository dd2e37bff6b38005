/** The page of a project. */
import type { Code } from '../../../../code/repository/find_code.ts';
import { openCachedCode } from '../../../../code/repository/read_cache.ts';
import { countCommits } from '../../../../code/repository/commits/count_commits.ts';
import { loadLanguagesBriefly } from '../../../../code/repository/languages/load_languages.ts';
import { loadReadmeAndLicense } from '../../../../code/repository/files/readme_and_license.ts';
import { branchPrefix, findRef } from '../../../../code/repository/refs/resolve.ts';
import { may } from '../../../../core/access/may.ts';
import type { Oid } from '../../../../platform/git/protocol_types.ts';
import { type Project, findProject } from '../../../../projects/projects/find.ts';
import { isBeingImported } from '../../../../projects/projects/imports/schedule_import.ts';
import type { View, Visit } from '../../page.ts';
import { addFileMenu } from '../../parts/code/add_file_menu.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { projectPagePath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { projectLinkPreview } from '../../parts/projects/project_link_preview.ts';
import { countedRefMenu } from '../../parts/ref_menu.ts';
import { treeCard } from '../tree/folder_card.ts';
import { readmeCard } from '../tree/readme_card.ts';
import { cloneMenu } from './clone_menu.ts';
import { emptyRepository } from './empty_repository.ts';
import { forkState } from './fork_state.ts';
import { importState } from './import_state.ts';
import { projectAside } from './project_sidebar.ts';

/** The default branch and its commit. */
type Head = { ref: string; commit: Oid };

const findHead = async ({ repository, project }: Code): Promise<Head | null> => {
  const { default_branch: ref } = project;
  if (ref === null) return null;
  const commit = (await findRef(repository, branchPrefix + ref))?.commit ?? null;
  return commit === null ? null : { ref, commit };
};

type Totals = { branches: number; tags: number; commits: number | null };

type Counted = { count: number | null; one: string; many: string; line: string; path: string };

/** Counts of branches, tags and commits, each linked to its page where that exists. */
const countsPart = (visit: Visit, project: Project, ref: string, totals: Totals): Html => {
  const { branches, tags, commits } = totals;
  const counts: Counted[] = [
    {
      count: branches,
      one: 'branch',
      many: 'branches',
      line: 'branches',
      path: projectPagePath(project, 'branches'),
    },
    { count: tags, one: 'tag', many: 'tags', line: 'tags', path: projectPagePath(project, 'tags') },
    {
      count: commits,
      one: 'commit',
      many: 'commits',
      line: 'commits/:rest',
      path: codePath(project, 'commits', ref),
    },
  ];
  const items = counts.map(({ count, one, many, line, path }) => {
    const text = count === null ? 'Commits' : `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
    const isPage = visit.call.platform.hasPage(`GET /-/projects/:project/${line}`);
    return isPage ? html`<li><a href="${path}">${text}</a></li>` : html`<li>${text}</li>`;
  });
  return html`<ul class="dots muted">${items}</ul>`;
};

/** Buttons to pages of the branch that exist. */
const actionsPart = (visit: Visit, project: Project, ref: string): Html => {
  const { hasPage } = visit.call.platform;
  const canFind = hasPage('GET /-/projects/:project/find_file/:rest');
  return html`<div class="buttons end">${
    canFind &&
    html`<a class="button" href="${codePath(project, 'find_file', ref)}" data-key="t">${icon('search')} Find file <kbd aria-hidden="true">t</kbd></a>`
  }${addFileMenu(visit, { project, ref, path: '' })}${cloneMenu(visit, project, ref)}</div>`;
};

const codePart = async (visit: Visit, code: Code, head: Head): Promise<Html> => {
  const { project } = code;
  const { ref, commit } = head;
  const [files, languages, switcher, commits, tree, fork] = await Promise.all([
    loadReadmeAndLicense(code, commit, ''),
    loadLanguagesBriefly(code, commit),
    countedRefMenu(visit, { project, ref, pathFor: (other) => codePath(project, 'tree', other) }),
    countCommits(code, commit),
    treeCard(visit, { project, ref, path: '', commit }),
    forkState(visit, project),
  ]);
  const [readme, aside] = await Promise.all([
    readmeCard(visit, { project, ref, path: '', commit }),
    projectAside(visit, project, { ...files, ref, languages }),
  ]);
  return html`<div class="row">${switcher.menu}${countsPart(visit, project, ref, { ...switcher, commits })}${actionsPart(visit, project, ref)}</div>
${fork}<div class="with-aside"><div class="stack">${tree}${readme}</div>${aside}</div>`;
};

const contentPart = async (visit: Visit, project: Project): Promise<Html> => {
  if (may(visit.call.viewer, 'read_code', project)) {
    const code = openCachedCode(visit.call, project);
    const head = await findHead(code);
    if (head !== null) return await codePart(visit, code, head);
    const state = await importState(visit, project);
    const main = isBeingImported(project) ? state : html`${state}${emptyRepository(visit, project)}`;
    return html`<div class="buttons end">${cloneMenu(visit, project, null)}</div>
<div class="with-aside"><div class="stack">${main}</div>${await projectAside(visit, project, null)}</div>`;
  }
  return await projectAside(visit, project, null);
};

/** Wraps the content of a project with an import in a part that the page replaces when the import has ended. */
const livePart = (project: Project, content: Html): Html =>
  project.import_status === 'none'
    ? content
    : html`<div id="project_content" class="stack" data-part${isBeingImported(project) && html` data-live=""`}>${content}</div>`;

/** Names the feeds that the viewer may read. */
const feedsOf = (visit: Visit, project: Project): NonNullable<View['feeds']> => {
  const { viewer } = visit.call;
  const { full_path, default_branch } = project;
  const commits = default_branch !== null && {
    title: `${full_path}:${default_branch} commits`,
    path: `${codePath(project, 'commits', default_branch)}?format=atom`,
  };
  return [
    may(viewer, 'read_code', project) && commits,
    may(viewer, 'read_release', project) && {
      title: `${full_path} releases`,
      path: projectPagePath(project, 'releases.atom'),
    },
  ].filter((feed) => feed !== false);
};

/** Returns the page of a visible project. @throws Failure 404 */
export const projectPage = async (visit: Visit, path: string): Promise<View> => {
  const project = await findProject(visit.call, path);
  const body = html`<h1 class="visually-hidden">${project.name}</h1>
${livePart(project, await contentPart(visit, project))}`;
  return projectView(
    visit,
    {
      project,
      title: project.full_path,
      noun: null,
      hasHeading: true,
      live: isBeingImported(project),
      view: {
        ...projectLinkPreview(visit, project, { action: 'read_project' }),
        feeds: feedsOf(visit, project),
      },
    },
    body,
  );
};
