/** The page behind the command palette: `client/palette.ts` shows its results while the user types. */
import { Failure } from '../../../../platform/errors.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { type Project, findProject } from '../../../../projects/projects/find.ts';
import { type Visit, page } from '../../page.ts';
import { hidden } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { findPages } from './find_pages.ts';
import { findHelp } from './find_help.ts';
import { findOwnIssues, findOwnMergeRequests } from './find_own_records.ts';
import {
  type Match,
  type MatchGroup,
  findFiles,
  findGroups,
  findIssues,
  findMergeRequests,
  findProjects,
  findUsers,
} from './find_records.ts';

/** Finds the project of the page that the visitor was on; null if it was another page. */
const findOpenProject = async ({ call }: Visit, place: string): Promise<Project | null> => {
  const path = place.replace(/^\//, '');
  if (!path.includes('/') || path.startsWith('groups/')) return null;
  try {
    return await findProject(call, path);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_found') return null;
    throw error;
  }
};

type Reference = { path: string | null; sign: '#' | '!'; rest: string };

/** Parses `#12`, `group/project#12` and `group/project!words`; null if the query is neither. */
const parseReference = (query: string): Reference | null => {
  const [, path, sign, rest = ''] = /^([^\s#!@]+\/[^\s#!@]+)?([#!])(.*)$/s.exec(query) ?? [];
  return sign === undefined
    ? null
    : { path: path ?? null, sign: sign === '#' ? '#' : '!', rest: rest.trim() };
};

/**
 * Finds issues and merge requests: in the project that the query names, otherwise in the open project, otherwise the
 * user's own records. Returns null if the query names no visible project, or matches none of the user's records.
 */
const findReferenced = async (
  visit: Visit,
  { path, sign, rest }: Reference,
  open: Project | null,
): Promise<MatchGroup | null> => {
  const project = path === null ? open : await findOpenProject(visit, path);
  if (project !== null) {
    return await (sign === '#' ? findIssues : findMergeRequests)(visit, project, rest);
  }
  if (path !== null) return null;
  const own = await (sign === '#' ? findOwnIssues : findOwnMergeRequests)(visit, rest);
  return own.matches.length === 0 ? null : own;
};

/** Finds matches of the query: `#` and `!` are issues and merge requests, `@` is a user. */
const findMatches = async (visit: Visit, query: string, project: Project | null): Promise<MatchGroup[]> => {
  if (query.startsWith('@')) return [await findUsers(visit, query.slice(1).trim())];
  const reference = parseReference(query);
  const referenced = reference && (await findReferenced(visit, reference, project));
  if (referenced !== null) return [referenced];
  const groups = await Promise.all([
    findProjects(visit, query),
    findGroups(visit, query),
    project === null || query === '' ? null : findFiles(visit, project, query),
    findUsers(visit, query),
  ]);
  return [
    ...groups.filter((group) => group !== null),
    ...(query === '' ? [] : [linkToSearch(query, project)]),
    await findPages(visit, project, query),
    findHelp(query),
  ];
};

/** Links to the search page, which finds more kinds of records. */
const linkToSearch = (query: string, project: Project | null): MatchGroup => {
  const everywhere = {
    path: `/search?${new URLSearchParams({ search: query }).toString()}`,
    hint: 'everywhere',
  };
  const here = project && {
    path: `/search?${new URLSearchParams({ search: query, project_id: String(project.id) }).toString()}`,
    hint: `in ${project.full_path}`,
  };
  const places = here === null ? [everywhere] : [here, everywhere];
  const matches = places.map((place) => ({ ...place, text: `Search for ${query}`, icon: 'search' as const }));
  return { title: 'Search', matches };
};

const item = ({ path, text: name, icon: image, hint = '' }: Match): Html =>
  html`<a href="${path}">${icon(image)} <span>${name}</span>${hint !== '' && html` <span class="muted">${hint}</span>`}</a>
`;

const resultsPart = (groups: readonly MatchGroup[]): Html => {
  const shown = groups.filter(({ matches }) => matches.length > 0);
  return html`<div id="results" class="results">${
    shown.length === 0 && html`<p class="muted">No results</p>`
  }${shown.map(({ title, matches }) => html`<h2>${title}</h2>${matches.map(item)}`)}</div>`;
};

export const pages = [
  page({
    method: 'GET',
    path: '/-/jump',
    audience: 'anyone',
    params: object({
      q: optional(text({ maxLength: 200 })),
      place: optional(text({ maxLength: 1_000, description: 'path of the project of the page' })),
    }),
    handle: async (visit, { q = '', place = '' }) => {
      const query = q.trim();
      const project = await findOpenProject(visit, place);
      const results = resultsPart(await findMatches(visit, query, project));
      const where =
        project === null
          ? visit.call.signedIn &&
            html`<p class="hint">Finds your own issues (#) and merge requests (!), or records of a named project: <code>group/project#12</code>.</p>`
          : html`<p class="hint">Finds issues (#), merge requests (!) and files of ${project.full_path}, unless you name another project: <code>group/project#12</code>.</p>`;
      return {
        title: 'Search',
        body: html`<h1>Search or jump to</h1>
<form method="get" action="/-/jump" class="filter-bar">${project !== null && hidden('place', `/${project.full_path}`)}<input type="search" name="q" value="${q}" placeholder="Project, group, #issue, !merge request, @user, or a file" aria-label="Search or jump to" autofocus><button>${icon('search')} Search</button></form>
${where}
<section class="card" aria-label="Results">${results}</section>`,
      };
    },
  }),
];
