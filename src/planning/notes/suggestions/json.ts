/** Loads the suggestions of comments on lines, with what they replace and whether they can be applied. */
import type { Static } from 'typebox';
import type { Call } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { type RepositoryLocation, repositoryColumns } from '../../../platform/git/repository.ts';
import { bool, int, object, string } from '../../../platform/http/schema.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';
import type { NoteRow } from '../note_row.ts';
import { type TextPosition, parsePosition } from '../position.ts';
import { loadApplied } from './applied_suggestions.ts';
import { type ParsedSuggestion, parseSuggestions, toSuggestionId } from './parse_suggestions.ts';
import { readTextFile, replaceText, splitLines, suggestedLines } from './suggested_lines.ts';

export const suggestionShape = object({
  id: int,
  from_line: int,
  to_line: int,
  appliable: bool,
  applied: bool,
  from_content: string,
  to_content: string,
});

export type Suggestion = Static<typeof suggestionShape>;

/** A comment on a line of the new side, with its suggestions. */
export type SuggestingNote = {
  note: NoteRow;
  position: TextPosition & { new_line: number };
  suggestions: ParsedSuggestion[];
};

/** Parses the suggestions of a comment; null if it has none, or is not on a line of the new side. */
export const parseNote = (note: NoteRow): SuggestingNote | null => {
  if (note.target_type !== 'MergeRequest' || note.position === null) return null;
  const { suggestions } = parseSuggestions(note.body);
  if (suggestions.length === 0) return null;
  const position = parsePosition(note.position);
  if (position?.position_type !== 'text' || position.new_line === null) return null;
  return { note, position: { ...position, new_line: position.new_line }, suggestions };
};

type Request = RepositoryLocation & {
  merge_request_id: number;
  state: string;
  head_sha: string | null;
  source_project_id: number | null;
};

const loadRequests = async (db: Reader, ids: number[]): Promise<Map<number, Request>> => {
  const rows = await db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select(['merge_requests.id as merge_request_id', 'merge_requests.state', 'merge_requests.head_sha'])
    .select(['merge_requests.source_project_id', 'projects.id', ...repositoryColumns])
    .where('merge_requests.id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.merge_request_id, row]));
};

/** Lines of files by commit, which never change. */
const getLines = memoizePerStore((_platform: Platform) =>
  makeLruCache<string[]>(16 * 1_024 * 1_024, (lines) => lines.reduce((sum, line) => sum + line.length, 64)),
);

/** Makes a reader of the lines of files, which reads each file once. */
const makeLineReader = (call: Pick<Call, 'platform'>) => {
  const cache = getLines(call.platform);
  const reading = new Map<string, Promise<string[]>>();
  const read = async (key: string, target: Request, commit: string, path: string): Promise<string[]> => {
    const lines = splitLines((await readTextFile(call, target, commit, path)) ?? '');
    cache.set(key, lines);
    return lines;
  };
  return async (target: Request, commit: string, path: string): Promise<string[]> => {
    const key = `${target.id} ${commit} ${path}`;
    const lines = cache.get(key) ?? reading.get(key) ?? read(key, target, commit, path);
    if (lines instanceof Promise) reading.set(key, lines);
    return await lines;
  };
};

/**
 * Returns the suggestions of comments by the comments' ids. Reads files with the access of users who see the merge
 * request.
 */
export const loadSuggestions = async (
  call: Pick<Call, 'platform' | 'db'>,
  notes: readonly NoteRow[],
): Promise<Map<number, Suggestion[]>> => {
  const suggesting = notes.flatMap((note) => parseNote(note) ?? []);
  if (suggesting.length === 0) return new Map();
  const [requests, applied] = await Promise.all([
    loadRequests(call.db, [...new Set(suggesting.map(({ note }) => note.target_id))]),
    loadApplied(
      call.db,
      suggesting.map(({ note }) => note.id),
    ),
  ]);
  const readLines = makeLineReader(call);
  const shown = suggesting.map(async ({ note, position, suggestions }) => {
    const request = requests.get(note.target_id);
    const { head_sha, new_path, new_line } = position;
    const lines = request === undefined ? [] : await readLines(request, head_sha, new_path);
    const isCurrent =
      request?.state === 'opened' && request.head_sha === head_sha && request.source_project_id !== null;
    const parts = suggestions.map((suggestion, index): Suggestion => {
      const [first, last] = suggestedLines(new_line, suggestion);
      const from_content = lines.slice(first - 1, last).join('');
      const id = toSuggestionId(note.id, index);
      const isApplied = applied.has(id);
      const isChange = first <= lines.length && replaceText(from_content, suggestion.to_content) !== null;
      return {
        id,
        from_line: first,
        to_line: last,
        appliable: isCurrent && isChange && !isApplied,
        applied: isApplied,
        from_content,
        to_content: suggestion.to_content,
      };
    });
    return [note.id, parts] as const;
  });
  return new Map(await Promise.all(shown));
};
