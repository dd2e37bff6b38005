/** Prepares the suggestions of comments for the page. */
import { may } from '../../../../../core/access/may.ts';
import type { Suggestion } from '../../../../../planning/notes/suggestions/json.ts';
import { splitLines } from '../../../../../planning/notes/suggestions/suggested_lines.ts';
import { findSource } from '../../../../../review/merge_requests/suggestions/apply.ts';
import type { Visit } from '../../../page.ts';
import type { DiffRow } from '../../../parts/diff/parse_lines.ts';
import { type PreparedRow, highlightedRows } from '../../../parts/diff/prepare_rows.ts';
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';

export type ShownSuggestion = {
  id: number;
  rows: PreparedRow[];
  isApplied: boolean;
  mayApply: boolean;
};

const toRows = ({ from_line: first, from_content, to_content }: Suggestion): DiffRow[] => {
  const text = (line: string): string => line.replace(/\r?\n$/, '');
  const replaced = splitLines(from_content);
  return [
    ...replaced.map((line, at) => ({ kind: 'del' as const, old: first + at, new: first, text: text(line) })),
    ...splitLines(to_content).map((line, at) => ({
      kind: 'add' as const,
      old: first + replaced.length,
      new: first + at,
      text: text(line),
    })),
  ];
};

const mayPush = async ({ call }: Visit, loaded: LoadedMergeRequest): Promise<boolean> => {
  if (!call.signedIn) return false;
  const source = await findSource(call, loaded);
  return source !== null && may(call.viewer, 'push_code', source);
};

/** A comment as the API shows it. */
type NoteJson = {
  id: number;
  position?: { new_path: string } | null;
  suggestions?: readonly Suggestion[];
};

/** Prepares the suggestions of comments, by comment. */
export const prepareSuggestions = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  notes: readonly NoteJson[],
): Promise<Map<number, ShownSuggestion[]>> => {
  const suggesting = notes.filter(({ suggestions = [] }) => suggestions.length > 0);
  if (suggesting.length === 0) return new Map();
  const canPush = await mayPush(visit, loaded);
  const shown = suggesting.map(async ({ id: noteId, position, suggestions = [] }) => {
    const parts = suggestions.map(async (one): Promise<ShownSuggestion> => ({
      id: one.id,
      rows: await highlightedRows(visit.call, position?.new_path ?? '', toRows(one)),
      isApplied: one.applied,
      mayApply: canPush && one.appliable,
    }));
    return [noteId, await Promise.all(parts)] as const;
  });
  return new Map(await Promise.all(shown));
};
