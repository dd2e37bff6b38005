/** The page of a folder. */
import { notFound } from '../../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { boolean, object, optional } from '../../../../platform/http/schema.ts';
import { addFileMenu } from '../../parts/code/add_file_menu.ts';
import { archiveLinks } from '../../parts/code/archive_links.ts';
import { isInexactPath } from '../../parts/code/file_names.ts';
import { menu } from '../../parts/menu.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { type CodeLocation, codeParams, findLocation } from '../../parts/code/code_location.ts';
import { pathCrumbs } from '../../parts/code/path_crumbs.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { refMenu } from '../../parts/ref_menu.ts';
import { type View, type Visit, page } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { treeCard } from './folder_card.ts';
import { readmeCard } from './readme_card.ts';

type PageQuery = { page: number; hasCommits: boolean };

/** Links to other views of the same commit, and a menu to add files. */
const toolbar = (visit: Visit, { project, ref, path, kind, commit }: CodeLocation): Html =>
  html`<div class="row tight">${kind === 'branch' && addFileMenu(visit, { project, ref, path })}<a class="button" href="${codePath(project, 'find_file', ref)}" data-key="t" data-key-name="Find file">${icon('search')} Find file <kbd>t</kbd></a>
<a class="button" href="${codePath(project, 'commits', ref, path)}">${icon('history')} History</a>
<a class="button" href="${codePath(project, 'tree', commit, path)}" data-key="y" data-key-name="Permalink">Permalink</a>
${path === '' && html`<a class="button" href="${codePath(project, 'graphs', ref)}">${icon('users')} Contributors</a>`}${path !== '' && !isInexactPath(path) && menu({ summary: icon('download'), label: 'Download this folder', classes: 'button' }, archiveLinks(project, { ref, path }))}</div>`;

const treeView = async (visit: Visit, location: CodeLocation, query: PageQuery): Promise<View> => {
  const { project, ref, path, commit } = location;
  const [card, readme, menu] = await Promise.all([
    treeCard(visit, { project, ref, path, commit, ...query }),
    readmeCard(visit, { project, ref, path, commit }),
    refMenu(visit, { project, ref, pathFor: (other) => codePath(project, 'tree', other, path) }),
  ]);
  if (card === null) throw notFound('Tree');
  const title = path === '' ? `Files · ${ref}` : `${path} · ${ref}`;
  return projectView(
    visit,
    { project, title, noun: 'tree', hasHeading: true },
    html`<div class="row between"><div class="row">${menu}${pathCrumbs(project, ref, path)}</div>${toolbar(visit, location)}</div>
${card}${readme}`,
  );
};

const shared = {
  method: 'GET',
  audience: 'visitor',
  params: object({ ...codeParams, page: pageParams.page, commits: optional(boolean()) }),
} as const;

const routePath = `${projectRoot}/tree`;

export const pages = [routePath, `${routePath}/:rest`].map((path) =>
  page({
    ...shared,
    path,
    handle: async (visit, { page: sent, commits = false, ...params }) => {
      const query = { page: pageRequest({ page: sent }).page, hasCommits: commits };
      return await treeView(visit, await findLocation(visit, params), query);
    },
  }),
);
