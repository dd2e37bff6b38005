/** The history of a branch, tag or commit, or of a file in it. */
import { walkCommits } from '../../../../code/repository/commits/list_commits.ts';
import { dayMilliseconds } from '../../../../platform/time.ts';
import { loadShownPipelines } from '../../parts/pipelines/load_shown_pipelines.ts';
import type { Commit } from '../../../../platform/git/protocol_types.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, date, object, optional, text } from '../../../../platform/http/schema.ts';
import { withAnonymousSlot } from '../../../../core/access/anonymous_slots.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { type CodeLocation, codeParams, findLocation } from '../../parts/code/code_location.ts';
import { listNamed, loadCommitPeople } from '../../parts/code/commit_people.ts';
import { loadSignatures } from '../../parts/code/signature_badge.ts';
import { commitList } from '../../parts/code/commit_list.ts';
import { pathCrumbs } from '../../parts/code/path_crumbs.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { feedLink } from '../../parts/feeds/feed_link.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { refMenu } from '../../parts/ref_menu.ts';
import { type View, type Visit, page } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { commitsFeed, commitsFeedLink, commitsFeedPath, findFeed } from './feed.ts';

const commitsPerPage = 40;

/** @property since first day, in UTC; `until` is the last one */
type PageQuery = { search: string; author: string; since: string; until: string; page: number };

/** Returns the times between which the commits of these days are. */
const toTimes = ({ since, until }: PageQuery): { since?: number; until?: number } => ({
  ...(since !== '' && { since: Date.parse(since) }),
  ...(until !== '' && { until: Date.parse(until) + dayMilliseconds - 1 }),
});

const filterForm = (path: string, { search, author, since, until }: PageQuery): Html =>
  html`<form method="get" action="${path}" class="filter" role="search">
<div class="field"><label for="search">Message</label><input id="search" name="search" value="${search}" autocomplete="off"></div>
<div class="field"><label for="author">Author</label><input id="author" name="author" value="${author}" autocomplete="off"></div>
<div class="field"><label for="since">From (UTC)</label><input id="since" name="since" type="date" value="${since}"></div>
<div class="field"><label for="until">To (UTC)</label><input id="until" name="until" type="date" value="${until}"></div>
<div class="buttons"><button>Filter</button></div></form>
`;

/** Links to newer and older commits. The total is not counted: that walks the whole history. */
const olderNav = (path: string, { page: number, ...filter }: PageQuery, hasOlder: boolean): Html | null => {
  if (number === 1 && !hasOlder) return null;
  const link = (to: number, name: string): Html => {
    const query = Object.entries({ ...filter, page: to === 1 ? '' : String(to) });
    const sent = new URLSearchParams(query.filter(([, value]) => value !== '')).toString();
    return html`<a class="button" href="${path}${sent !== '' && `?${sent}`}">${name}</a>`;
  };
  return html`<nav aria-label="Pages"><p class="buttons">${number > 1 && link(number - 1, 'Newer')}${hasOlder && link(number + 1, 'Older')}</p></nav>`;
};

const loadCommits = async (visit: Visit, location: CodeLocation, query: PageQuery): Promise<Commit[]> => {
  const { code, commit, path } = location;
  const { search, author, page: number } = query;
  const times = toTimes(query);
  const filter = { search, author, path, ...times };
  const bounds = { skip: (number - 1) * commitsPerPage, limit: commitsPerPage + 1 };
  const walk = async (): Promise<Commit[]> => await walkCommits(code, commit, filter, bounds);
  const isPlain = search === '' && author === '' && path === '' && Object.keys(times).length === 0;
  const isCheap = isPlain && number < 5;
  return isCheap ? await walk() : await withAnonymousSlot(visit, walk);
};

const historyView = async (visit: Visit, location: CodeLocation, query: PageQuery): Promise<View> => {
  const { project, ref, path, commit } = location;
  const [loaded, menu] = await Promise.all([
    loadCommits(visit, location, query),
    refMenu(visit, { project, ref, pathFor: (other) => codePath(project, 'commits', other, path) }),
  ]);
  const commits = loaded.slice(0, commitsPerPage);
  const shas = commits.map(({ id }) => id);
  const [pipelines, people, signatures] = await Promise.all([
    loadShownPipelines(visit, project, shas),
    loadCommitPeople(visit, project, listNamed(commits)),
    loadSignatures(visit, location.code, commits),
  ]);
  const address = codePath(project, 'commits', ref, path);
  const none = emptyState({ icon: 'commit', title: 'No commits', text: 'No commit matches.' });
  return projectView(
    visit,
    {
      project,
      title: `Commits · ${path === '' ? ref : `${path} · ${ref}`}`,
      noun: 'commits',
      hasHeading: true,
      view: { feeds: [commitsFeedLink(location)] },
    },
    html`<div class="row between"><div class="row">${menu}${path === '' ? html`<h1>Commits</h1>` : pathCrumbs(project, ref, path)}</div><div class="row">${feedLink(visit, commitsFeedPath(location))}<a class="button" href="${codePath(project, 'commits', commit, path)}" data-key="y" data-key-name="Permalink">Permalink</a></div></div>
${filterForm(address, query)}
${commits.length === 0 ? none : commitList(project, commits, { pipelines, people, signatures })}
${olderNav(address, query, loaded.length > commitsPerPage)}`,
  );
};

const routePath = `${projectRoot}/commits`;

export const pages = [routePath, `${routePath}/:rest`].map((path) =>
  page({
    method: 'GET',
    path,
    audience: 'visitor',
    isFeed: 'atom',
    params: object({
      ...codeParams,
      search: optional(clearable(text())),
      author: optional(clearable(text())),
      since: optional(date('first day of the commits, in UTC')),
      until: optional(date('last day of the commits, in UTC')),
      page: pageParams.page,
      format: optional(text()),
    }),
    handle: async (visit, { search, author, since = '', until = '', page: number, format, ...params }) => {
      const atom = await findFeed(visit, params, format);
      if (atom !== null) return await commitsFeed(visit, atom);
      const at = pageRequest({ page: number }).page;
      const query = { search: search ?? '', author: author ?? '', since, until, page: at };
      return await historyView(visit, await findLocation(visit, params), query);
    },
  }),
);
