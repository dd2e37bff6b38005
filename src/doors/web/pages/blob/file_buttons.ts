/** The buttons in the header of a file. */
import type { LoadedFile } from '../../../../code/repository/files/find_file.ts';
import { getConfigPath } from '../../../../ci/pipelines/config/ci_files.ts';
import { may } from '../../../../core/access/may.ts';
import type { Visit } from '../../page.ts';
import { type CodeNoun, codePath } from '../../parts/code/code_path.ts';
import type { CodeLocation } from '../../parts/code/code_location.ts';
import { isInexactPath } from '../../parts/code/file_names.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { menu } from '../../parts/menu.ts';
import type { BlobKind } from './blob_kind.ts';

/** Switches between the source of a file, and what it shows. */
export const sourceSwitch = ({ project, ref, path }: CodeLocation, isPlain: boolean): Html => {
  const address = codePath(project, 'blob', ref, path);
  return html`<span class="segmented"><a class="button small" href="${address}?plain=1" data-source${isPlain && html` aria-current="true"`}>Source</a><a class="button small" href="${address}"${!isPlain && html` aria-current="true"`}>Rendered</a></span>`;
};

const editMenu = ({ call }: Visit, { project, ref, path }: CodeLocation): Html | null => {
  if (!may(call.viewer, 'push_code', project)) return null;
  const link = (noun: CodeNoun, text: string, image: 'upload' | 'trash' | 'pencil'): Html =>
    html`<a href="${codePath(project, noun, ref, path)}">${icon(image)} ${text}</a>
`;
  return menu(
    { summary: icon('dots'), label: 'More actions', classes: 'button small' },
    html`${link('edit', 'Rename or move', 'pencil')}${link('upload', 'Replace', 'upload')}${link('delete', 'Delete', 'trash')}`,
  );
};

/** Links the CI configuration of the project to the page that validates it. */
const validateButton = ({ call }: Visit, { project, ref, path }: CodeLocation): Html | null =>
  call.signedIn && path === getConfigPath(project)
    ? html`<a class="button small" href="${projectPagePath(project, 'ci/lint')}?${new URLSearchParams({ ref }).toString()}">Validate</a>`
    : null;

/** Renders the buttons. For users who cannot push, the page of the editor offers a fork. */
export const fileButtons = (
  visit: Visit,
  location: CodeLocation,
  [{ content }, kind]: [LoadedFile, BlobKind],
): Html => {
  const { project, ref, path, commit } = location;
  const raw = codePath(project, 'raw', ref, path);
  const hasText = 'text' in kind;
  const isExact = !isInexactPath(path);
  const link = (noun: CodeNoun, text: string): Html =>
    html`<a class="button small" href="${codePath(project, noun, ref, path)}">${text}</a>`;
  return html`${hasText && isExact && visit.call.signedIn && html`<a class="button small" href="${codePath(project, 'edit', ref, path)}" data-key="e">Edit</a>`}${validateButton(visit, location)}${hasText && isExact && link('blame', 'Blame')}${isExact && link('commits', 'History')}
<a class="button small" href="${codePath(project, 'blob', commit, path)}" data-key="y" data-key-name="Permalink" data-keep-hash>Permalink</a>
<a class="button small" href="${raw}">Raw</a>
${hasText && content !== null && html`<button type="button" class="small" data-copy-from="${raw}" hidden aria-label="Copy the content">${icon('copy')}</button>`}
<a class="button small" href="${raw}?inline=false" download aria-label="Download">${icon('download')}</a>${isExact && editMenu(visit, location)}`;
};
