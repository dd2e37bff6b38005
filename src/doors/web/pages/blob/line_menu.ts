/** Actions on the lines that a link marks. Only the client script marks lines, so it shows this part. */
import { may } from '../../../../core/access/may.ts';
import type { Visit } from '../../page.ts';
import type { CodeLocation } from '../../parts/code/code_location.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { isInexactPath } from '../../parts/code/file_names.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';

/** Renders the part, hidden: `client/code_lines.ts` adds the lines to its links and shows it. */
export const lineMenu = ({ call }: Visit, { project, commit, path }: CodeLocation): Html => {
  const plain = codePath(project, 'blob', commit, path);
  const canOpenIssue = call.signedIn && may(call.viewer, 'create_issue', project);
  return html`<div class="line-menu" data-line-menu role="group" aria-label="Marked lines" hidden><span data-line-name></span>
<a class="button small" data-line-link href="${plain}?plain=1">Permalink</a>
${!isInexactPath(path) && html`<a class="button small" data-line-link href="${codePath(project, 'blame', commit, path)}">Blame</a>`}
${canOpenIssue && html`<a class="button small" data-line-issue="${path}" href="${projectPagePath(project, 'issues')}/new">New issue</a>`}</div>`;
};
