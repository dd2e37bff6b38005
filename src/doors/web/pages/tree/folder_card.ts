/** The card with the entries of a folder. The page of a project shows the card of its root. */
import type { Code } from '../../../../code/repository/find_code.ts';
import { openCachedCode } from '../../../../code/repository/read_cache.ts';
import { type LastCommits, findLastCommits } from '../../../../code/repository/files/last_commits.ts';
import { toCommitTitle } from '../../../../code/repository/commits/json.ts';
import { listFolder } from '../../../../code/repository/files/list_folder.ts';
import { loadSubmodules } from '../../../../code/repository/files/submodules.ts';
import { loadShownPipelines } from '../../parts/pipelines/load_shown_pipelines.ts';
import type { Commit, Oid, TreeEntry } from '../../../../platform/git/protocol_types.ts';
import { makeLruCache } from '../../../../platform/lru_cache.ts';
import { resolveRefPath } from '../../../../code/repository/refs/ref_path.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { hasAnonymousSlot, withAnonymousSlot } from '../../../../core/access/anonymous_slots.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { commitHeader, commitLink, signedTime } from '../../parts/code/commit_line.ts';
import { loadCommitPeople } from '../../parts/code/commit_people.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { pagesNav } from '../../parts/paging.ts';
import { submoduleUrl } from './submodule_link.ts';

/** Entries of one page of a folder. */
const maxEntries = 500;
/** The page of a folder of more entries loads their last commits afterwards. */
const maxInlineCommits = 100;
/** Milliseconds to find the last commits of entries: before the page is sent, and when the script requests them. */
const searchTimes = { inline: 250, later: 20_000 };

export type FolderOptions = {
  project: Project;
  /** Branch, tag, `HEAD` or commit id. */
  ref: string;
  /** Empty: the root. */
  path: string;
  /** Commit of the ref, where the caller has resolved it. */
  commit?: Oid;
  /** Page of a large folder, from 1. */
  page?: number;
  /** Waits for the last commits of all entries. */
  hasCommits?: boolean;
};

const executable = '100755';
const symlink = '120000';

/** Renders a submodule: a link to its repository, where that has an address of the web, and its commit. */
const submoduleCell = ({ name, id }: TreeEntry, target: ReturnType<typeof submoduleUrl>): Html => {
  const commit = html`@ ${id.slice(0, 8)}`;
  if (target === null)
    return html`${icon('submodule', 'Submodule')}<span>${name}</span> <code class="muted">${commit}</code>`;
  const { href, isOwn } = target;
  return html`${icon('submodule', 'Submodule')}<a href="${href}"${!isOwn && html` rel="nofollow noreferrer noopener"`}>${name}</a> <code class="muted">${
    isOwn ? html`<a href="${href}/tree/${id}">${commit}</a>` : commit
  }</code>`;
};

/** Renders the name of an entry: a link to its page, and its kind unless it is a plain file or folder. */
const nameCell = (project: Project, ref: string, { name, path, type, mode }: TreeEntry): Html => {
  const isFolder = type === 'tree';
  const note = mode === symlink ? 'symlink' : mode === executable ? 'executable' : null;
  const image = isFolder ? icon('folder', 'Folder') : icon(mode === symlink ? 'link' : 'file', 'File');
  return html`${image}<a href="${codePath(project, isFolder ? 'tree' : 'blob', ref, path)}">${name}</a>${
    note !== null && html` <span class="badge">${note}</span>`
  }`;
};

const commitCells = (project: Project, commit: Commit | undefined): Html => {
  if (commit === undefined) return html`<td></td><td></td>`;
  const title = toCommitTitle(commit.message);
  return html`<td>${commitLink(project, { id: commit.id, text: title, classes: 'muted' })}</td><td class="muted">${signedTime(commit.committer)}</td>`;
};

const parentRow = ({ project, ref, path }: FolderOptions): Html | null => {
  if (path === '') return null;
  const above = path.slice(0, Math.max(path.lastIndexOf('/'), 0));
  return html`<tr><td colspan="3"><a href="${codePath(project, 'tree', ref, above)}" aria-label="Parent folder">${icon('folder')}..</a></td></tr>
`;
};

/** Finds the last commit that changed the folder. */
const findLastCommit = async (
  { repository }: Code,
  commit: Oid,
  path: string,
): Promise<Commit | undefined> => {
  const { commits } = await repository.ask('commits.list', { from: [commit], path, skip: 0, limit: 1 });
  return commits[0];
};

/** The entries on one page of a folder, the same for every viewer. */
type Folder = {
  /** Rows of the table. */
  rows: Html;
  total: number;
  lastCommit: Commit | undefined;
  /** False: the last commits of some entries are not known yet. */
  isFinished: boolean;
};

const maxCachedCharacters = 16 * 1024 * 1024;

/** Complete folders by commit and by the addresses in their rows. */
const cache = makeLruCache<Folder>(maxCachedCharacters, ({ rows }) => rows.text.length + 1_000);

/** Searches of anonymous visitors use separate slots; a page with optional results does not wait for a slot. */
const findEntryCommits = async (
  visit: Visit,
  code: Code,
  { commit, path, hasCommits = false }: FolderOptions & { commit: Oid },
  entries: readonly TreeEntry[],
): Promise<LastCommits> => {
  const isLate = entries.length > maxInlineCommits || !hasAnonymousSlot(visit);
  if (!hasCommits && isLate) return { commits: new Map(), isFinished: false };
  const names = entries.map(({ name }) => name);
  const milliseconds = hasCommits ? searchTimes.later : searchTimes.inline;
  const lastCommits = await withAnonymousSlot(
    visit,
    async () => await findLastCommits(code, { commit, path, names, milliseconds }),
  );
  return hasCommits ? { ...lastCommits, isFinished: true } : lastCommits;
};

const readFolder = async (
  visit: Visit,
  code: Code,
  options: FolderOptions & { commit: Oid },
): Promise<Folder | null> => {
  const { project, ref, path, commit, page = 1 } = options;
  const offset = (page - 1) * maxEntries;
  const listing = await listFolder(code, { commit, path, offset, limit: maxEntries });
  if (listing === null) return null;
  const { entries, total } = listing;
  const [lastCommit, { commits, isFinished }] = await Promise.all([
    findLastCommit(code, commit, path),
    findEntryCommits(visit, code, options, entries),
  ]);
  const hasSubmodules = entries.some(({ type }) => type === 'commit');
  const submodules = hasSubmodules ? await loadSubmodules(code, commit) : new Map<string, string>();
  const cellFor = (entry: TreeEntry): Html => {
    if (entry.type !== 'commit') return nameCell(project, ref, entry);
    const url = submodules.get(entry.path);
    return submoduleCell(entry, url === undefined ? null : submoduleUrl(url, project, visit.call.baseUrl));
  };
  const rows = entries.map(
    (entry) =>
      html`<tr><td>${cellFor(entry)}</td>${commitCells(project, commits.get(entry.name))}</tr>
`,
  );
  return { rows: html`${rows}`, total, lastCommit, isFinished };
};

const loadFolder = async (visit: Visit, options: FolderOptions): Promise<Folder | null> => {
  const { project, ref, path, page = 1 } = options;
  const code = openCachedCode(visit.call, project);
  const commit = options.commit ?? (await resolveRefPath(code, ref))?.commit;
  if (commit === undefined) return null;
  const key = JSON.stringify([code.repository.path, project.full_path, commit, ref, path, page]);
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const folder = await readFolder(visit, code, { ...options, commit });
  if (folder?.isFinished === true) cache.set(key, folder);
  return folder;
};

const tableHead = html`<thead class="visually-hidden"><tr><th scope="col">Name</th><th scope="col">Last commit</th><th scope="col">Last change</th></tr></thead>
`;

const renderCard = async (visit: Visit, options: FolderOptions, folder: Folder): Promise<Html> => {
  const { project, ref, path, page = 1 } = options;
  const { rows, total, lastCommit, isFinished } = folder;
  const last = lastCommit === undefined ? [] : [lastCommit];
  const [pipelines, people] = await Promise.all([
    loadShownPipelines(
      visit,
      project,
      last.map(({ id }) => id),
    ),
    loadCommitPeople(
      visit,
      project,
      last.map(({ author }) => author),
    ),
  ]);
  const address = codePath(project, 'tree', ref, path);
  const later = `${address}?commits=1${page === 1 ? '' : `&page=${page}`}`;
  const nav = pagesNav({
    path: address,
    query: {},
    page: { page, per_page: maxEntries, limit: maxEntries, offset: (page - 1) * maxEntries },
    total,
    isFixedSize: true,
  });
  return html`<section class="card" id="files" aria-label="Files"${!isFinished && html` data-later="${later}"`}>${
    lastCommit !== undefined &&
    commitHeader(project, lastCommit, { pipeline: pipelines.get(lastCommit.id), people })
  }
${!isFinished && html`<p class="notice-line muted">The last commits of the entries are not shown yet. <a href="${later}">Show last commits</a></p>`}
<table class="files">${tableHead}<tbody>
${parentRow(options)}${rows}</tbody></table></section>
${nav}`;
};

/** Returns the card with the last commit and the entries of a folder; null if the ref or folder does not exist. */
export const treeCard = async (visit: Visit, options: FolderOptions): Promise<Html | null> => {
  const folder = await loadFolder(visit, options);
  return folder === null ? null : await renderCard(visit, options, folder);
};
