/** Files that a search of code found, with marked lines. */
import { projectsById } from '../../../../projects/projects/find.ts';
import { parseCodeQuery } from '../../../search/code_query.ts';
import type { FoundBlob } from '../../../search/search_indexed_code.ts';
import type { Visit } from '../../page.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { isRenderedFile } from '../blob/blob_kind.ts';
import { markText } from './mark_text.ts';

const fileCard = (blob: FoundBlob, full_path: string, text: string): Html => {
  const { path, data, startline, ref } = blob;
  const address = codePath({ full_path }, 'blob', ref, path);
  const linesAddress = isRenderedFile(path) ? `${address}?plain=1` : address;
  const lines = data.replace(/\n$/, '').split('\n');
  const row = (line: string, at: number): Html => {
    const number = startline + at;
    return html`<tr><td class="n"><a href="${linesAddress}#L${number}">${number}</a></td><td>${markText(line, [text])}
</td></tr>`;
  };
  return html`<section class="card"><header><h2 class="file-name">${icon('file')} <a href="${address}" data-row>${markText(path, [text])}</a></h2><a class="muted" href="/${full_path}">${full_path}</a></header>${
    data !== '' &&
    html`<div class="code-box" tabindex="0" role="region" aria-label="Lines of ${path} in ${full_path}"><table class="blob"><tbody>${lines.map(row)}</tbody></table></div>`
  }</section>
`;
};

/** Renders the files of a page of results. */
export const codeResults = async (
  { call }: Visit,
  blobs: readonly FoundBlob[],
  search: string,
): Promise<Html> => {
  const ids = [...new Set(blobs.map(({ project_id }) => project_id))];
  const projects = ids.length === 0 ? new Map() : await projectsById(call.db, ids);
  const { text } = parseCodeQuery(search);
  return html`${blobs.map((blob) => fileCard(blob, projects.get(blob.project_id)?.full_path ?? '', text))}`;
};
