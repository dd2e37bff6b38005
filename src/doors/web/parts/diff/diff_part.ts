/** The diffs of a commit or comparison: a summary, a switch for white space, the files. */
import type { Code } from '../../../../code/repository/find_code.ts';
import { type DiffRequest, type ReadDiff, readDiff } from '../../../../code/repository/commits/read_diff.ts';
import { oneFileLimits } from '../../../../code/repository/commits/diff_json.ts';
import type { FileDiff, Oid } from '../../../../platform/git/protocol_types.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { codePath } from '../code/code_path.ts';
import { type Html, html } from '../html.ts';
import { markFolded } from './folding/mark_folded.ts';
import { type DiffChoice, viewForm } from './diff_choice.ts';
import { type LineParts, diffFiles, diffSummary } from './diff_files.ts';
import type { ShownDiff } from './folding/collapse_reason.ts';
import { diffFileId } from './file_card.ts';
import { fileTree, orderFiles } from './file_tree.ts';

/** Files of the tree, which is in a page with all of them. */
const maxListed = 250;

/** Returns what to read of a diff. */
export const toDiffRequest = ({
  ignoresWhitespace,
  file,
  oldPath = file,
}: DiffChoice): Omit<DiffRequest, 'from' | 'to'> => ({
  ignore_whitespace: ignoresWhitespace,
  ...(file !== undefined && {
    paths: [...new Set([oldPath ?? file, file])],
    limits: oneFileLimits,
  }),
});

/** Reads the diffs that a page shows. */
export const readShownDiff = async (
  code: Code,
  [from, to]: [Oid | null, Oid],
  choice: DiffChoice,
): Promise<ReadDiff> => await readDiff(code, { ...toDiffRequest(choice), from, to });

type DiffPartOptions = {
  visit: Visit;
  code: Code;
  from: Oid | null;
  to: Oid;
  /** Address of the page. */
  address: string;
  /** Parameters of the page that its links keep. */
  query?: Record<string, string>;
  choice: DiffChoice;
  /** The files, where the page has read them with `readShownFiles`. */
  shown?: readonly ShownDiff[];
  linePartsOf?: (file: FileDiff) => LineParts;
};

/** Returns the address of a page with what it shows of a diff. */
export const addressWithChoice = (
  address: string,
  choice: DiffChoice,
  more: Record<string, string> = {},
): string => {
  const { file, oldPath, expand, isWhole = false } = choice;
  return withQuery(address, {
    ...choice.asked,
    ...(file !== undefined && { file }),
    ...(file !== undefined && oldPath !== undefined && { old_path: oldPath }),
    ...(expand !== undefined && { expand }),
    ...(isWhole && { whole: '1' }),
    ...more,
  });
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

/** Files to show: for a single file, not the remainder of its old path. */
const findShown = (diffs: readonly FileDiff[], { file, ignoresWhitespace }: DiffChoice): FileDiff[] => {
  const own = file === undefined ? diffs : diffs.filter(({ new_path }) => new_path === file);
  return orderFiles(
    ignoresWhitespace && file === undefined
      ? own.filter(({ diff, renamed_file }) => diff !== '' || renamed_file)
      : own,
  );
};

/** Returns the files that a page shows, in their order. @param to the commit after the changes */
export const readShownFiles = async (
  { repository }: Code,
  to: Oid,
  diffs: readonly FileDiff[],
  choice: DiffChoice,
): Promise<ShownDiff[]> => await markFolded(repository, to, findShown(diffs, choice));

/** Renders the switches of the view, and the way back from one file. */
const linksPart = ({ visit, address, query = {}, choice }: DiffPartOptions): Html => {
  const { file, oldPath } = choice;
  const fileQuery = {
    ...(file !== undefined && { file }),
    ...(oldPath !== undefined && { old_path: oldPath }),
  };
  const kept = { ...query, ...choice.asked };
  const allFilesLink =
    file !== undefined && html`<a class="button" href="${withQuery(address, kept)}#changes">All files</a>`;
  return html`<span class="row">${allFilesLink}${viewForm(visit, choice, { path: withQuery(address, { ...kept, ...fileQuery }), anchor: '#changes' })}</span>`;
};

export const diffPart = async (
  { diffs, files, overflow }: ReadDiff,
  options: DiffPartOptions,
): Promise<Html> => {
  const { visit, code, from, to, address, choice, query = {} } = options;
  const { project, repository } = code;
  const shown = options.shown ?? (await readShownFiles(code, to, diffs, choice));
  const onlyPath = (
    { old_path, new_path, renamed_file }: FileDiff,
    more: Record<string, string> = {},
  ): string =>
    withQuery(address, {
      ...query,
      ...choice.asked,
      file: new_path,
      ...(renamed_file && { old_path }),
      ...more,
    });
  const cards = await diffFiles(shown, {
    call: visit.call,
    repository,
    choice,
    rawPaths: (one) => rawPathsOf(project, [from, to], one),
    viewPath: ({ new_path }) => codePath(project, 'blob', to, new_path),
    onlyPath,
    linePartsOf: options.linePartsOf,
  });
  const tree =
    shown.length > 1
      ? fileTree({
          files: shown.slice(0, maxListed),
          total: shown.length,
          addressOf: (file) => `#${diffFileId(file)}`,
        })
      : null;
  const counts = overflow ? null : countLines(shown);
  return html`<div class="row between changes-bar" id="changes">${diffSummary(files, counts)}${linksPart(options)}</div>
${overflow && html`<p class="flash alert">The diff is too large to be shown as a whole.</p>`}
<div${tree !== null && html` class="changes"`}>${tree}<div class="stack" id="files" tabindex="-1">${cards}</div></div>`;
};
