/** The form of a file: its path and its text. */
import { getConfigPath } from '../../../../ci/pipelines/config/ci_files.ts';
import { boolean, longText, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { fieldParts, hidden, input } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import type { EditTarget } from './edit_target.ts';
import { type CommitFields, commitParams } from './commit_form.ts';

export const fileParams = {
  ...commitParams,
  file_path: optional(text({ maxLength: 4_096 })),
  content: optional(longText()),
  /** How lines of the file end. Those of a form end in LF. */
  line_ends: oneOf(['lf', 'crlf'], { default: 'lf' }),
  preview: boolean({ description: 'show the changes instead of committing them', default: false }),
};

export type FileFields = CommitFields & {
  file_path: string;
  /** null: the content stays. */
  content: string | null;
  line_ends: 'lf' | 'crlf';
};

/** Returns the text with the line ends of the file. */
export const toContent = ({
  content,
  line_ends,
}: {
  content: string;
  line_ends: FileFields['line_ends'];
}): Buffer => Buffer.from(line_ends === 'crlf' ? content.replaceAll('\n', '\r\n') : content);

/** Renders the text in a fixed-width font. */
const codeArea = (value: string, problems: FormProblems): Html => {
  const hint = html`<span class="needs-script">Tab indents. To leave the field by the keyboard, press Escape, then Tab.</span>`;
  const { id, attributes, error, ...parts } = fieldParts({
    name: 'content',
    label: 'Content',
    hint,
    problems,
  });
  // Browsers drop the first newline after the tag.
  return html`<div class="field"><label for="${id}">Content</label>${parts.hint}
<textarea class="code" data-draft data-code-editor id="${id}" name="content" rows="24" spellcheck="false" autocapitalize="off"${attributes}>
${value}</textarea>
${error}</div>
`;
};

export const fileFields = (fields: FileFields, problems: FormProblems): Html =>
  html`${input({
    name: 'file_path',
    label: 'Path',
    hint: 'From the root of the repository; slashes separate folders.',
    value: fields.file_path,
    required: true,
    problems,
  })}${fields.content !== null && codeArea(fields.content, problems)}${hidden('line_ends', fields.line_ends)}`;

/** The button that validates the text of the CI configuration in another window, so that the editor stays open. */
export const validateButton = (
  { project, ref }: EditTarget,
  { content, file_path }: Pick<FileFields, 'content' | 'file_path'>,
): Html | null =>
  content !== null && file_path === getConfigPath(project)
    ? html`<button class="plain" formaction="${projectPagePath(project, 'ci/lint')}?ref=${encodeURIComponent(ref)}" formtarget="_blank" formnovalidate data-keeps-draft>Validate</button>`
    : null;
