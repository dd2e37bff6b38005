/** Shows what somebody saved in a snippet while its form was open. */
import type { Visibility } from '../../../../platform/db/schema/column_types.ts';
import type { SnippetFile } from '../../../../projects/snippets/files.ts';
import type { SnippetRow } from '../../../../projects/snippets/snippet_row.ts';
import type { Html } from '../../parts/html.ts';
import { fingerprintValues } from '../../parts/timeline/edit_conflicts.ts';
import { discardLink, savedMeanwhileCard } from '../../parts/fields/saved_meanwhile.ts';
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

/** Renders the saved values that differ from the form. @param typed the form as it was sent */
export const conflictCard = (stored: StoredSnippet, typed: Filled, editPath: string): Html => {
  const saved = fromStored(stored);
  const typedFiles = new Map(typed.files.map((row) => [row.previous ?? row.path, row.content]));
  const savedFiles = new Map(saved.files.map(({ path, content }) => [path, content]));
  const paths = [...new Set([...savedFiles.keys(), ...typedFiles.keys()])];
  return savedMeanwhileCard(
    [
      { label: 'Title', saved: saved.title, typed: typed.title },
      { label: 'Description', saved: saved.description, typed: typed.description },
      { label: 'Visibility', saved: saved.visibility, typed: typed.visibility },
      ...paths.map((path) => ({
        label: path === '' ? 'File' : path,
        saved: savedFiles.get(path) ?? '',
        typed: typedFiles.get(path) ?? '',
        isCode: true as const,
      })),
    ],
    discardLink(editPath),
  );
};
