/** Shows the authors of the commits of a branch, and how many commits each of them made. */
import { listContributors } from '../../../../code/repository/commits/contributors.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { object } from '../../../../platform/http/schema.ts';
import type { Contributor } from '../../../../platform/git/protocol_types.ts';
import { withAnonymousSlot } from '../../../../core/access/anonymous_slots.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { type CodeLocation, codeParams, findLocation } from '../../parts/code/code_location.ts';
import {
  type CommitPeople,
  authorAvatar,
  authorName,
  loadCommitPeople,
} from '../../parts/code/commit_people.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { pagesNav } from '../../parts/paging.ts';
import { refMenu } from '../../parts/ref_menu.ts';
import { type View, type Visit, page } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

const perPage = 50;

const item = (
  { project, ref }: CodeLocation,
  { name, email, commits }: Contributor,
  { maxCommits, people }: { maxCommits: number; people: CommitPeople },
): Html => {
  const history = `${codePath(project, 'commits', ref)}?author=${encodeURIComponent(email)}`;
  const share = Math.max(1, Math.round((100 * commits) / maxCommits));
  return html`<li><span class="lead">${authorAvatar(people, { name, email }, 'medium')}</span><span class="title">${authorName(people, { name, email })}</span>
<span class="meta"><svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect width="${share}" height="4"/></svg></span>
<span class="side"><a href="${history}">${spellCount(commits, 'commit')}</a></span></li>
`;
};

const contributorsView = async (visit: Visit, location: CodeLocation, number: number): Promise<View> => {
  const { project, ref, code, commit } = location;
  const order = { order_by: 'commits', sort: 'desc' } as const;
  const [all, menu] = await Promise.all([
    withAnonymousSlot(visit, async () => await listContributors(code, commit, order)),
    refMenu(visit, { project, ref, pathFor: (other) => codePath(project, 'graphs', other) }),
  ]);
  const offset = (number - 1) * perPage;
  const nav = pagesNav({
    path: codePath(project, 'graphs', ref),
    query: {},
    page: { page: number, per_page: perPage, limit: perPage, offset },
    total: all.length,
    isFixedSize: true,
  });
  const maxCommits = all[0]?.commits ?? 1;
  const shown = all.slice(offset, offset + perPage);
  const people = await loadCommitPeople(visit, project, shown);
  return projectView(
    visit,
    { project, title: `Contributors · ${ref}`, noun: 'graphs', hasHeading: true },
    html`<div class="row">${menu}<h1>Contributors</h1></div>
<p class="quiet">${spellCount(all.length, 'contributor')}, by number of commits, merges excluded</p>
<section class="card" aria-label="Contributors"><ul class="list">${shown.map((one) => item(location, one, { maxCommits, people }))}</ul></section>
${nav}`,
  );
};

const routePath = `${projectRoot}/graphs`;

export const pages = [routePath, `${routePath}/:rest`].map((path) =>
  page({
    method: 'GET',
    path,
    audience: 'visitor',
    params: object({ ...codeParams, page: pageParams.page }),
    handle: async (visit, { page: number, ...params }) =>
      await contributorsView(visit, await findLocation(visit, params), pageRequest({ page: number }).page),
  }),
);
