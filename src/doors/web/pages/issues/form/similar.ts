/** Finds issues similar to a new issue. */
import { may } from '../../../../../core/access/may.ts';
import { searchTerms } from '../../../../../planning/issuables/search/terms.ts';
import { Failure, forbidden } from '../../../../../platform/errors.ts';
import { longText, object, optional } from '../../../../../platform/http/schema.ts';
import { type Project, findProject } from '../../../../../projects/projects/find.ts';
import { type Visit, page } from '../../../page.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { projectPath, projectView } from '../../../parts/frame/project_layout.ts';
import { selectIssues } from '../../jump/find_records.ts';
import { issuesPath, issuesRoutePath } from '../paths.ts';

const maxSimilar = 5;

/** Characters of a title that are looked at: databases refuse very long patterns. */
const maxTitle = 255;

/** Words of a title that are looked for. */
const maxWords = 8;

type Similar = Awaited<ReturnType<typeof selectIssues>>[number];

const quote = (term: string): string => (term.includes('"') ? term : `"${term}"`);

/** Returns nothing while too many searches wait: the form must not fail for a hint. */
const findUnlessBusy = async (visit: Visit, project: Project, title: string): Promise<Similar[]> => {
  try {
    return await findSimilar(visit, project, title);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unavailable') return [];
    throw error;
  }
};

/** Finds issues with all words of a title, then with its two longest words, then with the longest word. */
const findSimilar = async (visit: Visit, project: Project, title: string): Promise<Similar[]> => {
  const terms = searchTerms(title.slice(0, maxTitle).toWellFormed()).slice(0, maxWords);
  const longest = terms.toSorted((a, b) => b.length - a.length);
  const found = new Map<number, Similar>();
  for (const some of [terms, longest.slice(0, 2), longest.slice(0, 1)]) {
    if (some.length === 0 || found.size >= maxSimilar) break;
    const selection = { search: some.map(quote).join(' '), in: ['title'] };
    for (const issue of await selectIssues(visit, project, selection, maxSimilar)) {
      if (found.size < maxSimilar) found.set(issue.iid, found.get(issue.iid) ?? issue);
    }
  }
  return [...found.values()];
};

const line = (project: Project, { iid, title, state }: Similar): Html => {
  const isOpen = state === 'opened';
  const mark = isOpen
    ? html`<span class="status ok">${icon('issue')} Open</span>`
    : html`<span class="status off">${icon('check-circle')} Closed</span>`;
  return html`<li class="row tight">${mark} <a href="${issuesPath(project)}/${iid}" target="_blank">#${iid} ${title}<span class="visually-hidden"> (opens in a new tab)</span></a></li>`;
};

/** Renders issues similar to a title. The script reloads them while a title is typed. */
export const similarPart = async (visit: Visit, project: Project, title: string): Promise<Html> => {
  const issues = title.trim() === '' ? [] : await findUnlessBusy(visit, project, title);
  const list =
    issues.length > 0 &&
    html`<p>Similar issues</p><ul class="links">${issues.map((issue) => line(project, issue))}</ul>`;
  return html`<div id="similar_issues" class="similar" data-similar="${issuesPath(project)}/similar" aria-live="polite">${list}</div>`;
};

export const similarPages = [
  page({
    method: 'GET',
    path: `${issuesRoutePath}/similar`,
    audience: 'user',
    params: object({ ...projectPath, title: optional(longText()) }),
    handle: async (visit, { project: fullPath, title = '' }) => {
      const project = await findProject(visit.call, fullPath);
      if (!may(visit.call.viewer, 'create_issue', project)) throw forbidden();
      const part = await similarPart(visit, project, title);
      return projectView(visit, { project, title: 'Similar issues', noun: 'issues' }, part);
    },
  }),
];
