/** The list of releases, and the address of the newest one. */
import { type Code, findCode } from '../../../../code/repository/find_code.ts';
import { type ReleaseOrder, latestRelease, listReleases } from '../../../../code/releases/find_releases.ts';
import { type ReleaseRow, releasesJson } from '../../../../code/releases/json.ts';
import { may } from '../../../../core/access/may.ts';
import { nullIfMissing } from '../../../../platform/errors.ts';
import { type PageRequest, pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { object, oneOf } from '../../../../platform/http/schema.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { feedLink } from '../../parts/feeds/feed_link.ts';
import { projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { markdownTexts } from '../../parts/markdown.ts';
import { pagesNav } from '../../parts/paging.ts';
import { projectLinkPreview } from '../../parts/projects/project_link_preview.ts';
import { sortMenu } from '../../parts/sort_menu.ts';
import { releaseCard } from './release_card.ts';
import { releasesFeedLink, releasesFeedPath } from './feed.ts';
import { releasePath, releasesPath, releasesRoutePath } from './paths.ts';

type Order = 'released_desc' | 'released_asc' | 'created_desc' | 'created_asc';

const orderNames: Record<Order, string> = {
  released_desc: 'Last released',
  released_asc: 'First released',
  created_desc: 'Last created',
  created_asc: 'First created',
};

const toOrder = (order: Order): ReleaseOrder => ({
  order_by: order.startsWith('created') ? 'created_at' : 'released_at',
  sort: order.endsWith('asc') ? 'asc' : 'desc',
});

const newLink = ({ call }: Visit, project: Project): Html | false =>
  may(call.viewer, 'admin_release', project) &&
  html`<a class="button primary" href="${releasesPath(project)}/new">${icon('plus')} New release</a>`;

/** Returns the latest published release; null if there is none. */
const findLatest = async ({ call }: Visit, { id }: Project): Promise<ReleaseRow | null> => {
  return await nullIfMissing(latestRelease(call.db, id, call.now));
};

const cards = async (visit: Visit, code: Code, rows: ReleaseRow[]): Promise<Html> => {
  const { call } = visit;
  const { project } = code;
  const [releases, latest, notes] = await Promise.all([
    releasesJson(call, code, rows),
    findLatest(visit, project),
    markdownTexts(
      call,
      rows.map(({ description }) => description ?? ''),
      { project },
    ),
  ]);
  return html`${releases.map((release, at) =>
    releaseCard(visit, {
      project,
      release,
      notes: (release.description ?? '') === '' ? null : (notes[at] ?? null),
      isLatest: release.tag_name === latest?.tag,
    }),
  )}`;
};

const none = (visit: Visit, project: Project): Html =>
  html`<section class="card" aria-label="Releases">${emptyState({
    icon: 'package',
    title: 'No releases yet',
    text: 'A release publishes a tag with notes and files to download.',
    action: newLink(visit, project),
  })}</section>`;

const listView = async (visit: Visit, code: Code, order: Order, at: PageRequest): Promise<View> => {
  const { project } = code;
  const { items, total } = await listReleases(visit.call.db, project.id, toOrder(order), at);
  const path = releasesPath(project);
  const sort = order === 'released_desc' ? undefined : order;
  const menu = sortMenu({ path, query: {}, param: 'sort', chosen: order, names: orderNames });
  return projectView(
    visit,
    {
      project,
      title: 'Releases',
      noun: 'releases',
      hasHeading: true,
      view: {
        feeds: [releasesFeedLink(project)],
        ...projectLinkPreview(visit, project, { action: 'read_release' }),
      },
    },
    html`<div class="row between"><h1>Releases</h1><div class="row">${total > 1 && menu}${feedLink(visit, releasesFeedPath(project))}${total > 0 && newLink(visit, project)}</div></div>
${total === 0 ? none(visit, project) : await cards(visit, code, items)}
${pagesNav({ path, query: { sort }, page: at, total })}`,
  );
};

export const listPage = page({
  method: 'GET',
  path: releasesRoutePath,
  audience: 'visitor',
  params: object({
    ...projectPath,
    sort: oneOf(Object.keys(orderNames) as Order[], { default: 'released_desc' }),
    ...pageParams,
  }),
  handle: async (visit, { project, sort, ...paging }) => {
    const code = await findCode(visit.call, project, 'read_release');
    return await listView(visit, code, sort, pageRequest(paging));
  },
});

export const latestPage = page({
  method: 'GET',
  path: `${releasesRoutePath}/permalink/latest`,
  audience: 'visitor',
  params: object(projectPath),
  handle: async (visit, params) => {
    const { project } = await findCode(visit.call, params.project, 'read_release');
    const { tag } = await latestRelease(visit.call.db, project.id, visit.call.now);
    return redirect(releasePath(project, tag));
  },
});
