/** A menu that switches to another branch or tag. */
import { branchPrefix, tagPrefix } from '../../../code/repository/refs/resolve.ts';
import { openCachedCode } from '../../../code/repository/read_cache.ts';
import type { Project } from '../../../projects/projects/find.ts';
import type { Visit } from '../page.ts';
import { type Html, html } from './html.ts';
import { icon } from './icon.ts';
import { menu } from './menu.ts';

/** Maximum branches, and tags, in the menu; the search finds the others. */
const maxNames = 20;

/** The query parameter of the search in the menu; the page is the page with the menu. */
const searchParam = 'search_refs';

type RefMenuOptions = {
  project: Project;
  /** The current ref. */
  ref: string;
  /** Returns the address of the page at another ref. */
  pathFor: (ref: string) => string;
};

type Names = { names: string[]; total: number };

const loadNames = async (
  { call }: Visit,
  project: Project,
  prefix: string,
  search: string,
): Promise<Names> => {
  const page = { offset: 0, limit: maxNames };
  const { names, total } = await openCachedCode(call, project).repository.ask('refs.names', {
    prefix,
    ...(search !== '' && { search }),
    sort: 'updated',
    ...page,
  });
  return { names: names.map((name) => name.slice(prefix.length)), total };
};

const list = (title: string, { names, total }: Names, { ref, pathFor }: RefMenuOptions): Html | null =>
  names.length === 0
    ? null
    : html`<h2>${title}</h2>
${names.map((name) => html`<a href="${pathFor(name)}"${name === ref && html` aria-current="true"`}>${name}</a>`)}
${total > names.length && html`<p class="muted">${total - names.length} more: search by name</p>`}`;

type CountedMenu = {
  menu: Html;
  /** Totals of the branches and tags that the search finds; without a search, of all. */
  branches: number;
  tags: number;
};

/** Renders the menu: the newest branches and tags, or the search results. */
export const refMenu = async (visit: Visit, options: RefMenuOptions): Promise<Html> =>
  (await countedRefMenu(visit, options)).menu;

/** Renders the menu, and counts the branches and tags. */
export const countedRefMenu = async (visit: Visit, options: RefMenuOptions): Promise<CountedMenu> => {
  const { project, ref, pathFor } = options;
  const sent = visit.path.includes('?')
    ? new URL(visit.path, visit.call.baseUrl).searchParams.get(searchParam)
    : null;
  const search = (sent ?? '').slice(0, 255);
  const [branches, tags] = await Promise.all([
    loadNames(visit, project, branchPrefix, search),
    loadNames(visit, project, tagPrefix, search),
  ]);
  const isNone = branches.names.length + tags.names.length === 0;
  const shown = /^[0-9a-f]{40}$/.test(ref) ? ref.slice(0, 8) : ref;
  const rendered = menu(
    {
      summary: html`${icon('branch')} <span class="ref-name">${shown}</span> ${icon('chevron-down')}`,
      label: 'Switch branch or tag',
      isLeft: true,
      isOpen: sent !== null,
      classes: 'button',
    },
    html`<form method="get" action="${pathFor(ref)}" role="search"><label class="visually-hidden" for="${searchParam}">Find a branch or tag</label>
<input id="${searchParam}" name="${searchParam}" value="${search}" placeholder="Find a branch or tag" autocomplete="off"></form>
${list('Branches', branches, options)}${list('Tags', tags, options)}${isNone && html`<p>No results</p>`}`,
  );
  return { menu: rendered, branches: branches.total, tags: tags.total };
};
