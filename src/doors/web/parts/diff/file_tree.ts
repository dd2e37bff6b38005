/** The tree of changed files. */
import type { FileDiff } from '../../../../platform/git/protocol_types.ts';
import { diffFileId, diffStats } from './file_card.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';

type FileTreeOptions = {
  files: readonly FileDiff[];
  /** Number of all files, where these are the first; default: they are all. */
  total?: number;
  /** Address of a file's card. */
  addressOf: (file: FileDiff) => string;
  isViewed?: (file: FileDiff) => boolean;
  /** Unresolved threads by path. */
  threads?: ReadonlyMap<string, number>;
};

type Folder = { folders: Map<string, Folder>; files: FileDiff[] };

const newFolder = (): Folder => ({ folders: new Map(), files: [] });

const grow = (files: readonly FileDiff[]): Folder => {
  const root = newFolder();
  for (const file of files) {
    let folder = root;
    for (const name of file.new_path.split('/').slice(0, -1)) {
      const inner = folder.folders.get(name) ?? newFolder();
      folder.folders.set(name, inner);
      folder = inner;
    }
    folder.files.push(file);
  }
  return root;
};

const flatten = ({ folders, files }: Folder): FileDiff[] => [
  ...[...folders.values()].flatMap(flatten),
  ...files,
];

/** Returns the files in the order of the tree: folders first. */
export const orderFiles = <File extends FileDiff>(files: readonly File[]): File[] =>
  // A tree has the files that it was grown of.
  flatten(grow(files)) as File[];

const nameOf = ({ new_path }: FileDiff): string => new_path.slice(new_path.lastIndexOf('/') + 1);

const fileItem = (file: FileDiff, { addressOf, isViewed, threads }: FileTreeOptions): Html => {
  const open = threads?.get(file.new_path) ?? 0;
  return html`<li data-file="${diffFileId(file)}" data-path="${file.new_path}"><a href="${addressOf(file)}" title="${file.new_path}">${
    isViewed?.(file) === true ? icon('check', 'viewed') : icon('file')
  }<span class="name">${nameOf(file)}</span>${open > 0 && html`<span class="count" aria-label="${open} unresolved">${open}</span>`}${diffStats(file)}</a></li>`;
};

/** Joins folders that contain only one folder. */
const folderItem = (name: string, folder: Folder, options: FileTreeOptions, above = ''): Html => {
  const [only, ...others] = folder.folders;
  if (only !== undefined && others.length === 0 && folder.files.length === 0) {
    return folderItem(`${name}/${only[0]}`, only[1], options, above);
  }
  const path = `${above}${name}/`;
  return html`<li><details open data-folder="${path}"><summary class="folder">${icon('folder')}<span class="name">${name}</span></summary><ul>${folderItems(folder, options, path)}</ul></details></li>`;
};

const folderItems = ({ folders, files }: Folder, options: FileTreeOptions, path = ''): Html =>
  html`${[...folders].map(([name, inner]) => folderItem(name, inner, options, path))}${files.map((file) => fileItem(file, options))}`;

/** Renders the tree. The script filters it and marks the file that is read. */
export const fileTree = (options: FileTreeOptions): Html => {
  const { files, total = files.length } = options;
  return html`<nav class="card file-tree" aria-label="Changed files"><details open><summary>Files</summary><input type="search" class="needs-script" placeholder="Filter files" aria-label="Filter files" data-filter-tree><ul>${folderItems(grow(options.files), options)}</ul>${total > files.length && html`<p class="muted body">The first ${files.length} of ${total} files are listed.</p>`}</details></nav>`;
};
