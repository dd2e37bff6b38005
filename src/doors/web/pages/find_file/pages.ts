/** Finds a file of a commit by its path. The client script filters while one types. */
import { findPaths } from '../../../../code/repository/files/find_paths.ts';
import { clearable, object, optional, text } from '../../../../platform/http/schema.ts';
import { withAnonymousSlot } from '../../../../core/access/anonymous_slots.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { type CodeLocation, codeParams, findLocation } from '../../parts/code/code_location.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { refMenu } from '../../parts/ref_menu.ts';
import { type View, type Visit, page } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

/** Files on the page. */
const maxShown = 5_000;

const findView = async (visit: Visit, location: CodeLocation, search: string): Promise<View> => {
  const { project, ref, code, commit } = location;
  const [{ paths, isCut }, menu] = await Promise.all([
    withAnonymousSlot(visit, async () => await findPaths(code, commit, { search, limit: maxShown })),
    refMenu(visit, { project, ref, pathFor: (other) => codePath(project, 'find_file', other) }),
  ]);
  const count = spellCount(paths.length, 'file');
  return projectView(
    visit,
    { project, title: `Find file · ${ref}`, noun: 'find_file', hasHeading: true },
    html`<div class="row">${menu}<h1>Find file</h1></div>
<form method="get" action="${codePath(project, 'find_file', ref)}" role="search" class="row"><label class="visually-hidden" for="search">Letters of the path</label>
<input class="grow" id="search" name="search" value="${search}" placeholder="Letters of the path, such as srcmain" data-filter="#paths > *" data-ranked${!isCut && html` data-opens-first`} autocomplete="off" autofocus><button>Search</button></form>
<p class="quiet" role="status" data-filter-status${isCut && html` data-cut`}>${count}${isCut && '. Not all files are listed: type part of a path, and press Search.'}</p>
<section class="card" aria-label="Files"><ul class="list plain-list paths" id="paths">${paths.map(
      (path) => html`<li>${icon('file')} <a href="${codePath(project, 'blob', ref, path)}">${path}</a></li>
`,
    )}</ul></section>`,
  );
};

const routePath = `${projectRoot}/find_file`;

export const pages = [routePath, `${routePath}/:rest`].map((path) =>
  page({
    method: 'GET',
    path,
    audience: 'visitor',
    params: object({ ...codeParams, search: optional(clearable(text())) }),
    handle: async (visit, { search, ...params }) =>
      await findView(visit, await findLocation(visit, params), search ?? ''),
  }),
);
