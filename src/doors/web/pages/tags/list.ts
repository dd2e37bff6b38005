/** The tags of a project. */
import { type Code, findCode } from '../../../../code/repository/find_code.ts';
import { openCachedCode } from '../../../../code/repository/read_cache.ts';
import { loadCommits } from '../../../../code/repository/refs/resolve.ts';
import type { Oid } from '../../../../platform/git/protocol_types.ts';
import { tagsJson } from '../../../../code/repository/tags/json.ts';
import { type TagFilter, listTags } from '../../../../code/repository/tags/list.ts';
import { may } from '../../../../core/access/may.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { type RawPage, type View, type Visit, page } from '../../page.ts';
import { archiveLinks } from '../../parts/code/archive_links.ts';
import { commitLink, pipelineStatus } from '../../parts/code/commit_line.ts';
import { loadShownPipelines } from '../../parts/pipelines/load_shown_pipelines.ts';
import { withoutSignature } from '../../../../code/repository/signatures/signature_statuses.ts';
import {
  type Signatures,
  loadSignatures,
  loadTagSignatures,
  signatureBadge,
} from '../../parts/code/signature_badge.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { feedLink } from '../../parts/feeds/feed_link.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { menu } from '../../parts/menu.ts';
import { relative } from '../../parts/timestamp.ts';
import { pagesNav } from '../../parts/paging.ts';
import { searchForm } from '../../parts/search_form.ts';
import { sortMenu } from '../../parts/sort_menu.ts';
import { tagsFeed, tagsFeedLink, tagsFeedPath } from './feed.ts';
import { tagsRoutePath, tagPath, tagsPath } from './paths.ts';
import { omitEmpty } from '../../../../platform/omit_empty.ts';

export type ShownTag = Awaited<ReturnType<typeof tagsJson>>[number];

export const tagBadges = ({ protected: isProtected }: ShownTag): Html | null =>
  isProtected ? html` <span class="badge">${icon('shield')} Protected</span>` : null;

/** Renders the commit of a tag: id, title, time. */
export const tagCommit = (project: Project, { commit }: ShownTag): Html | null =>
  commit === null
    ? null
    : html`<span>${commitLink(project, { id: commit.id, text: html`<code>${commit.short_id}</code>` })} ${commit.title}</span><span>${relative(Date.parse(commit.committed_date))}</span>`;

const downloadMenu = (project: Project, name: string): Html =>
  menu(
    { summary: icon('download'), label: `Download ${name}`, classes: 'button small' },
    html`<h2>Download source code</h2>${archiveLinks(project, { ref: name })}`,
  );

/** Links to the release of a tag, where releases have pages. */
export const releaseLink = ({ call }: Visit, project: Project, { name, release }: ShownTag): Html | null =>
  release !== null && call.platform.hasPage('GET /-/projects/:project/releases/:tag')
    ? html`<a href="${projectPagePath(project, `releases/${encodeURIComponent(name)}`)}">${icon('package')} Release</a>`
    : null;

/** Loads the signatures of the commits of tags. */
const loadCommitSignatures = async (
  visit: Visit,
  code: Code,
  ids: readonly (Oid | null)[],
): Promise<Signatures> => {
  const commits = await loadCommits(openCachedCode(visit.call, code.project).repository, ids);
  return await loadSignatures(visit, code, [...commits.values()]);
};

type Tags = {
  tags: readonly ShownTag[];
  /** Of the commits, and of the tags themselves. */
  signatures: { commits: Signatures; tags: Signatures };
  pipelines: Awaited<ReturnType<typeof loadShownPipelines>>;
};

const item = (
  visit: Visit,
  project: Project,
  tag: ShownTag,
  { signatures, pipelines }: Omit<Tags, 'tags'>,
): Html => {
  const id = tag.commit?.id ?? '';
  const [signature, own, pipeline] = [
    signatures.commits.get(id),
    signatures.tags.get(tag.target),
    pipelines.get(id),
  ];
  const [message = ''] = withoutSignature(tag.message ?? '').split('\n', 1);
  return html`<li><span class="lead">${icon('tag')}</span>
<div class="title row"><a href="${tagPath(project, tag.name)}">${tag.name}</a>${tagBadges(tag)}${own !== undefined && signatureBadge(own, 'tag')}</div>
<div class="meta">${message !== '' && html`<span>${message}</span>`}${tagCommit(project, tag)}${signature !== undefined && signatureBadge(signature)}</div>
<div class="side">${pipeline !== undefined && pipelineStatus(project, pipeline)}${releaseLink(visit, project, tag)}${downloadMenu(project, tag.name)}</div>
</li>
`;
};

type Order = 'updated_desc' | 'updated_asc' | 'name_asc' | 'name_desc';

const orderNames: Record<Order, string> = {
  updated_desc: 'Last updated',
  updated_asc: 'Oldest updated',
  name_asc: 'Name',
  name_desc: 'Name, descending',
};

const toFilter = (order: Order): Pick<TagFilter, 'order_by' | 'sort'> => ({
  order_by: order.startsWith('name') ? 'name' : 'updated',
  sort: order.endsWith('asc') ? 'asc' : 'desc',
});

const heading = (visit: Visit, project: Project): Html =>
  html`<div class="row between"><h1>Tags</h1><div class="row">${feedLink(visit, tagsFeedPath(project))}${
    may(visit.call.viewer, 'push_code', project) &&
    html`<a class="button primary" href="${tagsPath(project)}/new">${icon('plus')} New tag</a>`
  }</div></div>`;

type Query = { search: string; order: Order };

const card = (visit: Visit, { project }: Code, { tags, ...shown }: Tags, { search }: Query): Html => {
  if (tags.length > 0)
    return html`<ul class="list">${tags.map((tag) => item(visit, project, tag, shown))}</ul>`;
  return search === ''
    ? emptyState({
        icon: 'tag',
        title: 'No tags yet',
        text: 'Tags mark commits, for example of a release.',
      })
    : emptyState({ icon: 'search', title: 'No tags match', text: 'Try other words.' });
};

export const listPage = page({
  method: 'GET',
  path: tagsRoutePath,
  audience: 'visitor',
  isFeed: 'atom',
  params: object({
    ...projectPath,
    search: optional(clearable(text())),
    sort: oneOf(Object.keys(orderNames) as Order[], { default: 'updated_desc' }),
    format: optional(text()),
    ...pageParams,
  }),
  handle: async (
    visit,
    { project: fullPath, search: words, sort: order, format, ...paging },
  ): Promise<View | RawPage> => {
    const { call } = visit;
    const code = await findCode(call, fullPath);
    if (format === 'atom') return await tagsFeed(visit, code);
    const { project } = code;
    const search = words ?? '';
    const at = pageRequest(paging);
    const { items, total } = await listTags(code, { search, ...toFilter(order) }, at);
    const ids = items.map(({ commit }) => commit);
    const [tags, commits, own, pipelines] = await Promise.all([
      tagsJson(call, code, items),
      loadCommitSignatures(visit, code, ids),
      loadTagSignatures(visit, code, items),
      loadShownPipelines(
        visit,
        project,
        ids.filter((id) => id !== null),
      ),
    ]);
    const shown = { tags, signatures: { commits, tags: own }, pipelines };
    const path = tagsPath(project);
    const sort = order === 'updated_desc' ? undefined : order;
    const sent = { search: omitEmpty(search) };
    const bar = html`<div class="row">${searchForm({ path, name: 'search', value: search, label: 'Search tags', keep: { sort } })}${sortMenu({ path, query: sent, param: 'sort', chosen: order, names: orderNames })}</div>`;
    return projectView(
      visit,
      {
        project,
        title: 'Tags',
        noun: 'tags',
        hasHeading: true,
        view: { feeds: [tagsFeedLink(project)] },
      },
      html`${heading(visit, project)}
${(total > 0 || search !== '') && bar}
<section class="card" aria-label="Tags"><header><span class="muted">${spellCount(total, 'tag')}</span></header>${card(visit, code, shown, { search, order })}</section>
${pagesNav({ path, query: { ...sent, sort }, page: at, total })}`,
    );
  },
});
