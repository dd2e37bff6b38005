/** The page behind the command palette: `client/palette.ts` shows its results while the user types. */
import { object, optional, text } from '../../../../platform/http/schema.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { type Visit, page } from '../../page.ts';
import { hidden } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { findActions } from './find_actions.ts';
import { findPages } from './find_pages.ts';
import { findHelp } from './find_help.ts';
import { findOwnIssues, findOwnMergeRequests } from './find_own_records.ts';
import { type OpenPlace, findOpenPlace, findProjectAt, placePath } from './open_place.ts';
import {
  type ActionMatch,
  type Match,
  type MatchGroup,
  findFiles,
  findGroups,
  findIssues,
  findMergeRequests,
  findProjects,
  findUsers,
} from './find_records.ts';

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
  const project = path === null ? open : await findProjectAt(visit, path);
  if (project !== null) {
    return await (sign === '#' ? findIssues : findMergeRequests)(visit, project, rest);
  }
  if (path !== null) return null;
  const own = await (sign === '#' ? findOwnIssues : findOwnMergeRequests)(visit, rest);
  return own.matches.length === 0 ? null : own;
};

/** Finds matches of the query: `#` and `!` are issues and merge requests, `@` is a user. */
const findMatches = async (
  visit: Visit,
  query: string,
  place: OpenPlace,
): Promise<MatchGroup<Match | ActionMatch>[]> => {
  const { project } = place;
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
    ...(query === '' ? [] : [linkToSearch(query, place)]),
    await findPages(visit, place, query),
    await findActions(visit, place, query),
    findHelp(query),
  ];
};

/** Links to the search page, which finds more kinds of records. */
const linkToSearch = (query: string, { project, group }: OpenPlace): MatchGroup => {
  const link = (filter: Record<string, string>, hint: string): Match => {
    const path = `/search?${new URLSearchParams({ search: query, ...filter }).toString()}`;
    return { path, text: `Search for ${query}`, icon: 'search', hint };
  };
  const matches = [
    project !== null && link({ project_id: String(project.id) }, `in ${project.full_path}`),
    group !== null && link({ group_id: String(group.id) }, `in ${group.full_path}`),
    link({}, 'everywhere'),
  ];
  return { title: 'Search', matches: matches.filter((match) => match !== false) };
};

const item = (visit: Visit, match: Match | ActionMatch): Html => {
  const { text: name, icon: image, hint = '' } = match;
  const content = html`${icon(image)} <span>${name}</span>${hint !== '' && html` <span class="muted">${hint}</span>`}`;
  if ('path' in match)
    return html`<a href="${match.path}">${content}</a>
`;
  const fields = Object.entries({ authenticity_token: visit.csrfToken(), ...match.fields });
  return html`<form method="post" action="${match.action}">${fields.map(([field, value]) => hidden(field, value))}<button>${content}</button></form>
`;
};

const resultsPart = (visit: Visit, groups: readonly MatchGroup<Match | ActionMatch>[]): Html => {
  const shown = groups.filter(({ matches }) => matches.length > 0);
  return html`<div id="results" class="results">${
    shown.length === 0 && html`<p class="muted">No results</p>`
  }${shown.map(({ title, matches }) => html`<h2>${title}</h2>${matches.map((match) => item(visit, match))}`)}</div>`;
};

const hintPart = ({ call }: Visit, { project }: OpenPlace): Html | false => {
  if (project !== null)
    return html`<p class="hint">Finds issues (#), merge requests (!) and files of ${project.full_path}, unless you name another project: <code>group/project#12</code>.</p>`;
  return (
    call.signedIn &&
    html`<p class="hint">Finds your own issues (#) and merge requests (!), or records of a named project: <code>group/project#12</code>.</p>`
  );
};

export const pages = [
  page({
    method: 'GET',
    path: '/-/jump',
    audience: 'anyone',
    params: object({
      q: optional(text({ maxLength: 200 })),
      place: optional(text({ maxLength: 1_000, description: 'path of the project or group of the page' })),
    }),
    handle: async (visit, { q = '', place: path = '' }) => {
      const query = q.trim();
      const place = await findOpenPlace(visit, path);
      const results = resultsPart(visit, await findMatches(visit, query, place));
      const home = placePath(place);
      return {
        title: 'Search',
        body: html`<h1>Search or jump to</h1>
<form method="get" action="/-/jump" class="filter-bar">${home !== null && hidden('place', home)}<input type="search" name="q" value="${q}" placeholder="Project, group, #issue, !merge request, @user, or a file" aria-label="Search or jump to" autofocus><button>${icon('search')} Search</button></form>
${hintPart(visit, place)}
<section class="card" aria-label="Results">${results}</section>`,
      };
    },
  }),
];
