/** Says why conflicts cannot be resolved on the page, file by file, and how to resolve them elsewhere. */
import type { Conflicts } from '../../../../../review/merge_requests/conflicts/load_conflicts.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import type { ConflictKind } from '../../../../../platform/git/protocol_types.ts';
import type { Visit } from '../../../page.ts';
import { type Html, html } from '../../../parts/html.ts';
import { resolveCommands } from '../show/conflict_text.ts';

const reasons: Record<ConflictKind, string> = {
  text: 'conflicts in its text',
  binary: 'is a binary file',
  deleted: 'was deleted in one branch and changed in the other',
  renamed: 'was renamed or moved',
  mode: 'is a link, or has another type or mode in each branch',
  submodule: 'is a submodule',
  encoding: 'is not UTF-8 text with LF or CRLF line endings',
  too_large: 'is too large to be edited here',
  other: 'has a conflict that is not in its text',
};

export const refusedPart = (
  visit: Visit,
  ends: { loaded: LoadedMergeRequest; source: Project },
  { files, total }: Conflicts,
): Html => {
  const more = total - files.length;
  return html`<p>These conflicts cannot be resolved on this page. Resolve them with git, and push the result.</p>
${files.length > 0 && html`<ul class="file-names">${files.map(({ path, kind }) => html`<li><code>${path}</code> ${reasons[kind]}</li>`)}${more > 0 && html`<li>and ${more} more: at most ${files.length} files can be resolved here</li>`}</ul>`}
<pre tabindex="0" aria-label="Commands">${resolveCommands(visit, ends).join('\n')}</pre>`;
};
