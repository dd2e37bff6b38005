/** Blame: the commit that last changed each line of a file. */
import { loadBlame } from '../../../../code/repository/files/blame.ts';
import { loadFile } from '../../../../code/repository/files/find_file.ts';
import { maxBlamedBytes } from '../../../../code/repository/limits.ts';
import { notFound } from '../../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { boolean, object } from '../../../../platform/http/schema.ts';
import { withAnonymousSlot } from '../../../../core/access/anonymous_slots.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { type CodeLocation, codeParams, findLocation } from '../../parts/code/code_location.ts';
import { loadCommitPeople } from '../../parts/code/commit_people.ts';
import { pathCrumbs } from '../../parts/code/path_crumbs.ts';
import { limitLines } from '../../parts/code/write_lines.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { highlightLines } from '../../parts/highlight.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { pagesNav } from '../../parts/paging.ts';
import { refMenu } from '../../parts/ref_menu.ts';
import { type View, type Visit, page } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { blameTable } from './blame_table.ts';

/** Lines on a page. */
const maxLines = 1_000;

type Shown = { table: Html; nav: Html | null };

/** @property w white space is ignored */
type Query = { page: number; w: boolean };

const notice = (text: string): Shown => ({ table: html`<p class="body">${text}</p>`, nav: null });

const showBlame = async (
  visit: Visit,
  location: CodeLocation,
  { page: number, w }: Query,
): Promise<Shown> => {
  const { code, project, ref, commit, path } = location;
  const loaded = await loadFile(code, { commit, path, ref }, maxBlamedBytes);
  if (loaded === null) throw notFound('File');
  const { content, file } = loaded;
  if (content === null) return notice('The file is too large to blame.');
  if (content.subarray(0, 8_000).includes(0)) return notice('Binary files have no lines to blame.');
  if (content.length === 0) return notice('The file is empty.');
  const first = (number - 1) * maxLines + 1;
  const count = content.toString('utf8').replace(/\n$/, '').split('\n').length;
  if (first > count) throw notFound('Page');
  const [{ ranges }, { lines }] = await Promise.all([
    loadBlame(code, loaded, { range: [first, first + maxLines - 1], ignore_whitespace: w }),
    highlightLines(visit.call, { text: content.toString('utf8'), path, key: file.blob_id }),
  ]);
  const nav = pagesNav({
    path: codePath(project, 'blame', ref, path),
    query: { w: w ? '1' : undefined },
    page: { page: number, per_page: maxLines, limit: maxLines, offset: first - 1 },
    total: count,
    isFixedSize: true,
  });
  const people = await loadCommitPeople(
    visit,
    project,
    ranges.map((range) => range.commit.author),
  );
  const shown = limitLines(lines.slice(first - 1, first - 1 + maxLines));
  return {
    table: blameTable(location, ranges, [shown, first], { size: maxLines, total: count, people }),
    nav,
  };
};

const whitespaceLink = ({ project, ref, path }: CodeLocation, { page: number, w }: Query): Html => {
  const query = new URLSearchParams({ ...(!w && { w: '1' }), ...(number > 1 && { page: String(number) }) });
  const address = `${codePath(project, 'blame', ref, path)}${query.size === 0 ? '' : `?${query.toString()}`}`;
  return html`<a class="button small" href="${address}" data-keep-hash>${w ? 'Show whitespace changes' : 'Ignore whitespace'}</a>`;
};

const blameView = async (visit: Visit, location: CodeLocation, query: Query): Promise<View> => {
  const { project, ref, path, commit } = location;
  const [{ table, nav }, menu] = await Promise.all([
    withAnonymousSlot(visit, async () => await showBlame(visit, location, query)),
    refMenu(visit, { project, ref, pathFor: (other) => codePath(project, 'blame', other, path) }),
  ]);
  return projectView(
    visit,
    { project, title: `Blame · ${path} · ${ref}`, noun: 'blame', hasHeading: true, view: { isWide: true } },
    html`<div class="row">${menu}${pathCrumbs(project, ref, path)}</div>
<section class="card" aria-label="Blame"><header>${icon('history')}<h2>Blame</h2>
${query.w && html`<span class="badge">Whitespace ignored</span>`}<span class="end row tight">${whitespaceLink(location, query)}<a class="button small" href="${codePath(project, 'blob', ref, path)}">View file</a><a class="button small" href="${codePath(project, 'commits', ref, path)}">History</a><a class="button small" href="${codePath(project, 'blame', commit, path)}" data-key="y" data-key-name="Permalink" data-keep-hash>Permalink</a></span></header>
${table}</section>
${nav}`,
  );
};

export const pages = [
  page({
    method: 'GET',
    path: `${projectRoot}/blame/:rest`,
    audience: 'visitor',
    params: object({
      ...codeParams,
      page: pageParams.page,
      w: boolean({ default: false, description: 'whether white space is ignored' }),
    }),
    handle: async (visit, { page: number, w, ...params }) => {
      const query = { page: pageRequest({ page: number }).page, w };
      return await blameView(visit, await findLocation(visit, params), query);
    },
  }),
];
