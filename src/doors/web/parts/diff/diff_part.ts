/** The diffs of a commit or comparison: a summary, a switch for white space, the files. */
import type { Call } from '../../../../core/access/call.ts';
import type { Code } from '../../../../code/repository/find_code.ts';
import { type DiffRequest, type ReadDiff, readDiff } from '../../../../code/repository/commits/read_diff.ts';
import { diffLimits } from '../../../../code/repository/commits/diff_json.ts';
import type { FileDiff, Oid } from '../../../../platform/git/protocol_types.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { codePath } from '../code/code_path.ts';
import { type Html, html } from '../html.ts';
import { diffFiles, diffSummary } from './diff_files.ts';

export type DiffChoice = {
  ignoresWhitespace: boolean;
  /** New path of the only file to show; undefined: all. */
  file?: string | undefined;
};

/** Limit of the text of a file that is shown alone. */
const maxFileCharacters = 2 * 1024 * 1024;

/** Returns what to read of a diff. */
export const toDiffRequest = ({ ignoresWhitespace, file }: DiffChoice): Omit<DiffRequest, 'from' | 'to'> => ({
  ignore_whitespace: ignoresWhitespace,
  ...(file !== undefined && {
    paths: [file],
    limits: { ...diffLimits, file_bytes: maxFileCharacters },
  }),
});

/** Reads the diffs that a page shows. */
export const readShownDiff = async (
  code: Code,
  [from, to]: [Oid | null, Oid],
  choice: DiffChoice,
): Promise<ReadDiff> => await readDiff(code, { ...toDiffRequest(choice), from, to });

type Given = {
  call: Call;
  code: Code;
  from: Oid | null;
  to: Oid;
  /** Address of the page. */
  address: string;
  /** Parameters of the page that its links keep. */
  query?: Record<string, string>;
  choice: DiffChoice;
};

const withQuery = (address: string, query: Record<string, string>): string => {
  const sent = new URLSearchParams(query).toString();
  return sent === '' ? address : `${address}?${sent}`;
};

const countLines = (diffs: readonly FileDiff[]): { additions: number; deletions: number } => ({
  additions: diffs.reduce((sum, { additions }) => sum + additions, 0),
  deletions: diffs.reduce((sum, { deletions }) => sum + deletions, 0),
});

/** Returns the addresses of a file's content at both ends of a diff. */
export const rawPathsOf = (
  project: Pick<Project, 'full_path'>,
  [from, to]: [Oid | null, Oid],
  { new_file, deleted_file, old_path, new_path }: FileDiff,
): { old: string | null; fresh: string | null } => ({
  old: new_file || from === null ? null : codePath(project, 'raw', from, old_path),
  fresh: deleted_file ? null : codePath(project, 'raw', to, new_path),
});

/** Renders the diffs. */
export const diffPart = async ({ diffs, files, overflow }: ReadDiff, given: Given): Promise<Html> => {
  const { call, code, from, to, address, choice, query = {} } = given;
  const { ignoresWhitespace, file } = choice;
  const kept: Record<string, string> = { ...query, ...(ignoresWhitespace && { w: '1' }) };
  const other = withQuery(address, {
    ...query,
    ...(!ignoresWhitespace && { w: '1' }),
    ...(file !== undefined && { file }),
  });
  const { project } = code;
  const cards = await diffFiles(diffs, {
    call,
    view: 'unified',
    rawPaths: (one) => rawPathsOf(project, [from, to], one),
    viewPath: ({ new_path }) => codePath(project, 'blob', to, new_path),
    onlyPath: file === undefined ? ({ new_path }) => withQuery(address, { ...kept, file: new_path }) : null,
  });
  const shown = ignoresWhitespace
    ? diffs.filter(({ diff, renamed_file }) => diff !== '' || renamed_file)
    : diffs;
  return html`<div class="row between" id="changes">${diffSummary(files, overflow ? null : countLines(shown))}
<span class="row">${file !== undefined && html`<a class="button small" href="${withQuery(address, kept)}">All files</a>`}
<a class="button small" href="${other}">${ignoresWhitespace ? 'Show white space' : 'Ignore white space'}</a></span></div>
${overflow && html`<p class="flash alert">The diff is too large to be shown as a whole.</p>`}
${cards}`;
};
