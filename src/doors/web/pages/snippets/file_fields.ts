/** Fields of the files of a snippet. Works without scripts: fields for another file unfold. */
import { type FileAction, maxFiles } from '../../../../projects/snippets/apply_file_actions.ts';
import type { SnippetFile } from '../../../../projects/snippets/files.ts';
import { checkbox, hidden, input, textArea } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { fieldText, isTicked } from '../../parts/fields/field_text.ts';

export type FileRow = SnippetFile & {
  /** Name of the stored file that the row is about; null: a new file. */
  previous: string | null;
  isRemoved: boolean;
};

const isBlank = ({ path, content, previous }: FileRow): boolean =>
  previous === null && path.trim() === '' && content === '';

export const toRows = (files: readonly SnippetFile[]): FileRow[] =>
  files.map((file) => ({ ...file, previous: file.path, isRemoved: false }));

const blankRow: FileRow = { path: '', content: '', previous: null, isRemoved: false };

/** Reads the rows of a form that are not blank; at least one. */
export const readRows = (sent: unknown): FileRow[] => {
  const parts = typeof sent === 'object' && sent !== null ? Object.values(sent) : [];
  const rows = parts.slice(0, maxFiles * 2).map((part): FileRow => {
    const { file_path, content, stored, previous_path, remove } = (part ?? {}) as Record<string, unknown>;
    return {
      path: fieldText(file_path),
      content: fieldText(content),
      previous: isTicked(stored) ? fieldText(previous_path) : null,
      isRemoved: isTicked(remove),
    };
  });
  const filled = rows.filter((row) => !isBlank(row));
  return filled.length === 0 ? [blankRow] : filled;
};

const toAction = ({ path, content, previous }: FileRow): FileAction => {
  if (previous === null) return { action: 'create', file_path: path, content, previous_path: undefined };
  return path.trim() === previous
    ? { action: 'update', file_path: path, content, previous_path: undefined }
    : { action: 'move', file_path: path, content, previous_path: previous };
};

/** Converts rows to changes of the files. Removals come first, so that another file can take the name. */
export const toFileActions = (rows: readonly FileRow[]): FileAction[] => [
  ...rows.flatMap(({ previous, isRemoved }): FileAction[] =>
    isRemoved && previous !== null
      ? [{ action: 'delete', file_path: previous, content: undefined, previous_path: undefined }]
      : [],
  ),
  ...rows.filter(({ isRemoved }) => !isRemoved).map(toAction),
];

/** The names of the fields of a row, in problems of the operation. */
const sentName = (at: number, part: 'file_path' | 'content'): string => `files[${at}][${part}]`;

/** Names the problems of files by their rows: the operation counts the files that remain. */
export const toRowProblems = ({ text, fields }: FormProblems, rows: readonly FileRow[]): FormProblems => {
  const remaining = rows.flatMap(({ isRemoved }, at) => (isRemoved ? [] : [at]));
  const { file_name, content, files, ...others } = fields;
  const renamed = Object.entries(others).map(([name, problems]) => {
    const [, at, part] = /^files\[(\d+)\](.+)$/.exec(name) ?? [];
    return [at === undefined ? name : `files[${remaining[Number(at)] ?? at}]${part}`, problems] as const;
  });
  const only = remaining[0] ?? 0;
  return {
    text: files === undefined ? text : `Files ${files.join('. ')}.`,
    fields: {
      ...Object.fromEntries(renamed),
      ...(file_name !== undefined && { [sentName(only, 'file_path')]: file_name }),
      ...(content !== undefined && { [sentName(only, 'content')]: content }),
    },
  };
};

type FileFieldsOptions = { problems: FormProblems; isRemovable: boolean };

const rowFields = ({ problems, isRemovable }: FileFieldsOptions, row: FileRow, at: number): Html => {
  const of = (part: string): string => `files[${at}][${part}]`;
  const { path, content, previous, isRemoved } = row;
  return html`<fieldset class="snippet-file"><legend>File ${at + 1}</legend>${
    previous !== null && html`${hidden(of('stored'), '1')}${hidden(of('previous_path'), previous)}`
  }${input({
    name: of('file_path'),
    label: 'File name',
    hint: 'Its extension selects the language, such as fix.sh.',
    value: path,
    problems,
  })}${textArea({ name: of('content'), label: 'Content', value: content, rows: 16, keepsDraft: true, problems })}${
    isRemovable && checkbox({ name: of('remove'), label: 'Remove this file', checked: isRemoved })
  }</fieldset>
`;
};

/** Fields for one more file, and within them for another one, as long as the snippet may have more. */
const moreFields = (options: FileFieldsOptions, at: number): Html | null =>
  at >= maxFiles
    ? null
    : html`<details class="another-file"><summary>Add another file</summary>
${rowFields({ ...options, isRemovable: false }, blankRow, at)}${moreFields(options, at + 1)}</details>
`;

export const fileFields = (rows: readonly FileRow[], problems: FormProblems): Html => {
  const shared = { problems, isRemovable: rows.length > 1 };
  return html`${rows.map((row, at) => rowFields(shared, row, at))}${moreFields(shared, rows.length)}`;
};
