/** The page of a file, and its raw content. */
import type { Readable } from 'node:stream';
import { loadFile } from '../../../../code/repository/files/find_file.ts';
import { listFolder } from '../../../../code/repository/files/list_folder.ts';
import { serveFile } from '../../../../code/repository/files/serve_file.ts';
import { maxBytesInMemory } from '../../../../code/repository/limits.ts';
import { loadShownPipelines } from '../../parts/pipelines/load_shown_pipelines.ts';
import { loadCommits } from '../../../../code/repository/refs/resolve.ts';
import { notFound, unavailable } from '../../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { formatDisposition } from '../../../../platform/http/range.ts';
import { boolean, integer, object, optional } from '../../../../platform/http/schema.ts';
import { loadNotebook } from '../../../markdown/notebooks/load_notebook.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { type CodeLocation, codeParams, findLocation } from '../../parts/code/code_location.ts';
import { commitHeader } from '../../parts/code/commit_line.ts';
import { loadCommitPeople } from '../../parts/code/commit_people.ts';
import { pathCrumbs } from '../../parts/code/path_crumbs.ts';
import { projectLinkPreview } from '../../parts/projects/project_link_preview.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { refMenu } from '../../parts/ref_menu.ts';
import { RawPage, type Redirect, type View, type Visit, page, redirect } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { isMediaFile, isNotebookFile, shownHeaders } from './blob_kind.ts';
import { blobCard } from './file_card.ts';

/** Maximum bytes of a file to show; larger files are only served raw. */
const maxShownBytes = 5 * 1024 * 1024;

type PageQuery = { page: number; isPlain: boolean };

/** Redirects to the page of a folder, because links in Markdown do not tell files from folders. */
const toFolder = async ({ code, project, ref, commit, path }: CodeLocation): Promise<Redirect> => {
  if (path !== '' && (await listFolder(code, { commit, path, offset: 0, limit: 1 })) === null)
    throw notFound('File');
  return redirect(codePath(project, 'tree', ref, path));
};

const blobView = async (visit: Visit, location: CodeLocation, query: PageQuery): Promise<View | Redirect> => {
  const { code, project, ref, commit, path } = location;
  const loaded = path === '' ? null : await loadFile(code, { commit, path, ref }, maxShownBytes);
  if (loaded === null) return await toFolder(location);
  const { last_commit_id: last } = loaded.file;
  const [commits, pipelines, menu, card] = await Promise.all([
    loadCommits(code.repository, [last]),
    loadShownPipelines(visit, project, [last]),
    refMenu(visit, { project, ref, pathFor: (other) => codePath(project, 'blob', other, path) }),
    blobCard(visit, location, loaded, query),
  ]);
  const lastCommit = commits.get(last);
  const people = await loadCommitPeople(visit, project, lastCommit === undefined ? [] : [lastCommit.author]);
  const view = projectView(
    visit,
    {
      project,
      title: `${path} · ${ref}`,
      noun: 'blob',
      hasHeading: true,
      view: projectLinkPreview(visit, project, { action: 'read_code', noIndex: true }),
    },
    html`<div class="row between"><div class="row">${menu}${pathCrumbs(project, ref, path)}</div>
<a class="button" href="${codePath(project, 'find_file', ref)}" data-key="t" data-key-name="Find file">${icon('search')} Find file <kbd>t</kbd></a></div>
${lastCommit !== undefined && html`<section class="card" aria-label="Last commit">${commitHeader(project, lastCommit, { pipeline: pipelines.get(last), people })}</section>`}
${card}`,
  );
  return { ...view, hasMedia: isMediaFile(path) };
};

const blobPage = page({
  method: 'GET',
  path: `${projectRoot}/blob/:rest`,
  audience: 'visitor',
  params: object({ ...codeParams, page: pageParams.page, plain: optional(boolean()) }),
  handle: async (visit, { page: sent, plain: isPlain = false, ...params }) => {
    const location = await findLocation(visit, params);
    return await blobView(visit, location, { page: pageRequest({ page: sent }).page, isPlain });
  },
});

/** Serves an image of the output of a notebook cell. */
const serveNotebookImage = async (
  { call }: Visit,
  location: CodeLocation,
  index: number,
): Promise<RawPage> => {
  const { code, commit, path, ref } = location;
  const loaded = isNotebookFile(path) ? await loadFile(code, { commit, path, ref }, maxShownBytes) : null;
  if (!loaded?.content) throw notFound('File');
  const outcome = await loadNotebook(call, loaded.file.blob_id, loaded.content);
  if (outcome.kind === 'busy') throw unavailable();
  const image = outcome.kind === 'done' ? outcome.result?.images[index] : undefined;
  if (image === undefined) throw notFound('File');
  return new RawPage(Buffer.from(image.data, 'base64'), {
    'content-type': image.type,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  });
};

const rawPage = page({
  method: 'GET',
  path: `${projectRoot}/raw/:rest`,
  audience: 'visitor',
  params: object({
    ...codeParams,
    inline: boolean({ default: true }),
    notebook_image: optional(integer({ minimum: 0, description: 'an image of a Jupyter notebook, from 0' })),
  }),
  handle: async (visit, { inline, notebook_image: image, ...params }) => {
    const location = await findLocation(visit, params);
    if (image !== undefined) return await serveNotebookImage(visit, location, image);
    const { code, commit, path, ref } = location;
    const loaded = await loadFile(code, { commit, path, ref }, maxBytesInMemory);
    if (loaded === null) throw notFound('File');
    const { file_name: name } = loaded.file;
    const { body, headers } = await serveFile(visit.call, code, loaded, {
      ...shownHeaders(path, loaded.content),
      ...(!inline && { 'content-disposition': formatDisposition('attachment', name) }),
    });
    return new RawPage(body as Buffer | Readable, headers);
  },
});

export const pages = [blobPage, rawPage];
