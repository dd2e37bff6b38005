/** The README of a folder, below its entries. */
import { openCachedCode } from '../../../../code/repository/read_cache.ts';
import { loadReadmeAndLicense } from '../../../../code/repository/files/readme_and_license.ts';
import type { Oid } from '../../../../platform/git/protocol_types.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { isMarkdownFile } from '../../parts/code/file_names.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { markdown } from '../../parts/markdown.ts';

type ReadmeFolder = {
  project: Project;
  ref: string;
  /** Folder; empty: the root. */
  path: string;
  commit: Oid;
};

/** Returns a card with the README of a folder; null if it has none. */
export const readmeCard = async (visit: Visit, folder: ReadmeFolder): Promise<Html | null> => {
  const { project, ref, path, commit } = folder;
  const { readme } = await loadReadmeAndLicense(openCachedCode(visit.call, project), commit, path);
  if (readme === null) return null;
  const { path: file, text } = readme;
  const content =
    text === null
      ? html`<p class="body">The file is too large to be shown here, or is not text.</p>`
      : isMarkdownFile(file)
        ? await markdown(visit.call, text, { project, ref, path: file })
        : html`<pre class="plain-text">${text}</pre>`;
  const name = file.slice(file.lastIndexOf('/') + 1);
  return html`<section class="card" aria-labelledby="readme"><header>${icon('book')}<h2 id="readme"><a href="${codePath(project, 'blob', ref, file)}">${name}</a></h2></header>
${content}</section>`;
};
