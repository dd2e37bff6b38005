/** Loads what the suggestions of comments change. */
import { may } from '../../../../../core/access/may.ts';
import type { NoteRow } from '../../../../../planning/notes/note_row.ts';
import { parsePosition } from '../../../../../planning/notes/position.ts';
import { findSource } from '../../../../../review/merge_requests/suggestions/apply.ts';
import { parseSuggestions } from '../../../../../review/merge_requests/suggestions/parse_suggestions.ts';
import {
  readTextFile,
  splitLines,
  suggestedLines,
} from '../../../../../review/merge_requests/suggestions/suggested_lines.ts';
import type { Visit } from '../../../page.ts';
import type { DiffRow } from '../../../parts/diff/parse_lines.ts';
import { type PreparedRow, highlightedRows } from '../../../parts/diff/prepare_rows.ts';
import type { Changes } from './load_changes.ts';

export type ShownSuggestion = {
  /** Which suggestion of the comment it is, from 0. */
  index: number;
  rows: PreparedRow[];
  mayApply: boolean;
};

const toRows = (first: number, replaced: readonly string[], to: string): DiffRow[] => {
  const text = (line: string): string => line.replace(/\r?\n$/, '');
  return [
    ...replaced.map((line, at) => ({ kind: 'del' as const, old: first + at, new: first, text: text(line) })),
    ...splitLines(to).map((line, at) => ({
      kind: 'add' as const,
      old: first + replaced.length,
      new: first + at,
      text: text(line),
    })),
  ];
};

/** Makes a reader of files of the merge request, which reads each file once. */
const fileReader = ({ call }: Visit, { loaded }: Changes) => {
  const files = new Map<string, Promise<string | null>>();
  return async (commit: string, path: string): Promise<string | null> => {
    const key = `${commit} ${path}`;
    const file = files.get(key) ?? readTextFile(call, loaded.project, commit, path);
    files.set(key, file);
    return await file;
  };
};

const mayPush = async ({ call }: Visit, { loaded }: Changes): Promise<boolean> => {
  if (!call.signedIn) return false;
  const source = await findSource(call, loaded);
  return source !== null && may(call.viewer, 'push_code', source);
};

/** Loads what the suggestions of comments change, by comment. */
export const loadSuggestions = async (
  visit: Visit,
  changes: Changes,
  notes: readonly NoteRow[],
): Promise<Map<number, ShownSuggestion[]>> => {
  const suggesting = notes.flatMap((note) => {
    const { suggestions } = parseSuggestions(note.body);
    const position = parsePosition(note.position);
    const isOnLine = position?.position_type === 'text' && position.new_line !== null;
    return suggestions.length > 0 && isOnLine ? [{ note, suggestions, position }] : [];
  });
  if (suggesting.length === 0) return new Map();
  const read = fileReader(visit, changes);
  const canPush = await mayPush(visit, changes);
  const shown = suggesting.map(async ({ note, suggestions, position }) => {
    const { head_sha, new_path, new_line } = position;
    const lines = splitLines((await read(head_sha, new_path)) ?? '');
    const parts = suggestions.map(async (suggestion, index): Promise<ShownSuggestion> => {
      const [first, last] = suggestedLines(new_line ?? 1, suggestion);
      const rows = toRows(first, lines.slice(first - 1, last), suggestion.to_content);
      const isCurrent = head_sha === changes.loaded.merge_request.head_sha;
      return {
        index,
        rows: await highlightedRows(visit.call, new_path, rows),
        mayApply: canPush && isCurrent && lines.length > 0,
      };
    });
    return [note.id, await Promise.all(parts)] as const;
  });
  return new Map(await Promise.all(shown));
};
