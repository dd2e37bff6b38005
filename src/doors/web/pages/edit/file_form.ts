/** The form of a file: its path and its text. */
import type { Html } from '../../parts/html.ts';
import { html } from '../../parts/html.ts';
import { type FormProblems, hidden, input, fieldParts } from '../../parts/form.ts';
import { longText, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { type CommitFields, commitParams } from './commit_form.ts';

export const fileParams = {
  ...commitParams,
  file_path: optional(text({ maxLength: 4_096 })),
  content: optional(longText()),
  /** How lines of the file end; browsers send CR and LF always. */
  line_ends: oneOf(['lf', 'crlf'], { default: 'lf' }),
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
}): Buffer => {
  const plain = content.replaceAll('\r\n', '\n');
  return Buffer.from(line_ends === 'crlf' ? plain.replaceAll('\n', '\r\n') : plain);
};

/** Renders the text in a fixed-width font. */
const codeArea = (value: string, problems: FormProblems): Html => {
  const { id, attributes, error } = fieldParts({ name: 'content', label: 'Content', problems });
  // Browsers drop the first newline after the tag.
  return html`<div class="field"><label for="${id}">Content</label>
<textarea class="code" data-draft id="${id}" name="content" rows="24" spellcheck="false" autocapitalize="off"${attributes}>
${value}</textarea>
${error}</div>
`;
};

/** Renders the fields of a file. */
export const fileFields = (fields: FileFields, problems: FormProblems): Html =>
  html`${input({
    name: 'file_path',
    label: 'Path',
    hint: 'From the root of the repository; slashes separate folders.',
    value: fields.file_path,
    required: true,
    problems,
  })}${fields.content !== null && codeArea(fields.content, problems)}${hidden('line_ends', fields.line_ends)}`;
