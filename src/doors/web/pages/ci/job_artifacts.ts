/** Renders a job's artifacts, and the folders of its archive. */
import { readPath } from '../../../../ci/artifacts/archives/serve_archive_file.ts';
import { findArchiveOfJob } from '../../../../ci/artifacts/archives/find_archive.ts';
import { type FolderEntry, listFolder } from '../../../../ci/artifacts/archives/list_folder.ts';
import { formatBytes } from '../../../../platform/format_bytes.ts';
import { id, object, optional, text } from '../../../../platform/http/schema.ts';
import { findJob } from '../../../../ci/jobs/find.ts';
import type { jobJson } from '../../../../ci/jobs/json.ts';
import { type Html, html } from '../../parts/html.ts';
import { page } from '../../page.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';

type Json = Awaited<ReturnType<typeof jobJson>>;

export const artifactsApiPath = (projectId: number, jobId: number): string =>
  `/api/v4/projects/${projectId}/jobs/${jobId}/artifacts`;

/** @param path path of the job's page */
export const artifactsPart = (path: string, projectId: number, json: Json): Html | null => {
  const files = json.artifacts.filter(({ file_type }) => file_type !== 'trace');
  if (files.length === 0) return null;
  const { artifacts_expire_at: ends } = json;
  const links = html` <a class="button small" href="${artifactsApiPath(projectId, json.id)}">Download</a> <a class="button small" href="${path}/artifacts/browse">Browse</a>`;
  return html`<h2>Artifacts</h2>
<p>${ends === null ? 'They do not expire.' : html`They are removed at <time datetime="${ends}">${ends.slice(0, 16).replace('T', ' ')} UTC</time>.`}</p>
<ul class="list plain-list">${files.map(
    ({ file_type, filename, size }) =>
      html`<li>${filename} <span class="quiet">(${file_type.replaceAll('_', ' ')}, ${formatBytes(size)})</span>${
        file_type === 'archive' && links
      }</li>
`,
  )}</ul>`;
};

export const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

type ArtifactPaths = { base: string; api: string; folder: string };

const line = ({ base, api, folder }: ArtifactPaths, { name, kind, size }: FolderEntry): Html => {
  const path = encoded(folder === '' ? name : `${folder}/${name}`);
  const links = {
    folder: html`<a href="${base}/${path}">${name}/</a>`,
    file: html`<a href="${api}/${path}">${name}</a> <span class="quiet">${formatBytes(size)}</span>`,
    other: html`${name} <span class="quiet">no file</span>`,
  };
  return html`<li>${links[kind]}</li>
`;
};

const upward = ({ base, folder }: ArtifactPaths): Html | null => {
  if (folder === '') return null;
  const above = folder.includes('/') ? `/${encoded(folder.slice(0, folder.lastIndexOf('/')))}` : '';
  return html`<p><a href="${base}${above}">Up</a> <code>${folder}/</code></p>`;
};

const browser = (path: string) =>
  page({
    method: 'GET',
    path: `${projectRoot}/jobs/:id/artifacts/browse${path}`,
    audience: 'user',
    params: object({ ...projectPath, id: id(), path: optional(text()) }),
    handle: async (visit, params) => {
      const { call } = visit;
      const { code, job } = await findJob(call, params.project, params.id);
      const artifact = await findArchiveOfJob(call, code.project.id, job.id);
      const folder = params.path === undefined ? '' : readPath(params.path);
      const { entries, total } = await listFolder(call.platform, artifact, folder);
      const ofJob = projectPagePath(code.project, `jobs/${job.id}`);
      const paths = {
        base: `${ofJob}/artifacts/browse`,
        api: artifactsApiPath(code.project.id, job.id),
        folder,
      };
      const content = html`<p><a href="${ofJob}">Job #${job.id}: ${job.name}</a></p>
${upward(paths)}
<ul class="list">${entries.map((one) => line(paths, one))}</ul>
${total > entries.length && html`<p>${entries.length} of ${total} are shown.</p>`}`;
      return projectView(visit, { project: code.project, title: 'Artifacts', noun: 'pipelines' }, content);
    },
  });

export const browsePages = [browser(''), browser('/:path')];
