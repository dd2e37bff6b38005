/** Shows what somebody saved in a snippet while its form was open. */
import type { Visibility } from '../../../../platform/db/schema/column_types.ts';
import type { SnippetFile } from '../../../../projects/snippets/files.ts';
import type { SnippetRow } from '../../../../projects/snippets/snippet_row.ts';
import type { Html } from '../../parts/html.ts';
import { fingerprintValues } from '../../parts/timeline/edit_conflicts.ts';
import {
  type SavedValue,
  discardLink,
  isDifferent,
  savedMeanwhileCard,
} from '../../parts/fields/saved_meanwhile.ts';
import { visibilityOptions } from '../../parts/fields/visibility.ts';
import { type FileRow, toRows } from './file_fields.ts';

/** The values of the form. */
export type Filled = {
  title: string;
  description: string;
  files: FileRow[];
  visibility: Visibility;
};

export type StoredSnippet = { snippet: SnippetRow; files: readonly SnippetFile[] };

/** Returns the values of the form for a stored snippet. */
export const fromStored = ({ snippet, files }: StoredSnippet): Filled => ({
  title: snippet.title,
  description: snippet.description ?? '',
  visibility: snippet.visibility,
  files: toRows(files),
});

/** Returns a fingerprint of the values of the form. */
export const fingerprint = (stored: StoredSnippet): string => {
  const { title, description, visibility, files } = fromStored(stored);
  return fingerprintValues([
    title,
    description,
    visibility,
    files.map(({ path, content }) => [path, content]),
  ]);
};

/** Makes files new that somebody removed meanwhile, so that the form saves them again. */
export const withoutRemovedFiles = (filled: Filled, { files }: StoredSnippet): Filled => {
  const stored = new Set(files.map(({ path }) => path));
  const renew = (row: FileRow): FileRow =>
    row.previous === null || stored.has(row.previous) ? row : { ...row, previous: null };
  return { ...filled, files: filled.files.map(renew) };
};

const listPaths = (files: readonly Pick<SnippetFile, 'path'>[]): string =>
  files
    .map(({ path }) => path.trim())
    .toSorted()
    .join(', ');

const compareFiles = (saved: readonly FileRow[], typed: readonly FileRow[]): SavedValue[] => {
  const savedFiles = new Map(saved.map(({ path, content }) => [path, content]));
  // A file that the form renames is compared with the one that has the name, or else with the one that had it.
  const keyOf = ({ path, previous }: FileRow): string =>
    savedFiles.has(path.trim()) ? path.trim() : (previous ?? path);
  const typedFiles = new Map(typed.map((row) => [keyOf(row), row.content]));
  const paths = [...new Set([...savedFiles.keys(), ...typedFiles.keys()])];
  return paths.map((path) => ({
    label: path === '' ? 'File' : path,
    saved: savedFiles.get(path) ?? '',
    typed: typedFiles.get(path) ?? '',
    isCode: true,
  }));
};

/** Returns the saved values that differ from the form. @param typed the form as it was sent */
export const findDifferences = (stored: StoredSnippet, typed: Filled): SavedValue[] => {
  const saved = fromStored(stored);
  const kept = typed.files.filter(({ isRemoved }) => !isRemoved);
  return [
    { label: 'Title', saved: saved.title, typed: typed.title },
    { label: 'Description', saved: saved.description, typed: typed.description },
    {
      label: 'Visibility',
      saved: saved.visibility,
      typed: typed.visibility,
      shown: visibilityOptions.find(([one]) => one === saved.visibility)?.[1] ?? saved.visibility,
    },
    { label: 'Files', saved: listPaths(saved.files), typed: listPaths(kept) },
    ...compareFiles(saved.files, kept),
  ].filter(isDifferent);
};

/** Renders the saved values that differ from the form. */
export const conflictCard = (differences: readonly SavedValue[], editPath: string): Html =>
  savedMeanwhileCard(differences, discardLink(editPath));
