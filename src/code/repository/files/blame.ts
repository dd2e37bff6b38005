/** Blames a file: the commits that last changed its lines. */
import type { Call } from '../../../core/access/call.ts';
import { invalid, notFound } from '../../../platform/errors.ts';
import type { Commit } from '../../../platform/git/protocol_types.ts';
import { type Code, getWebUrl } from '../find_code.ts';
import { commitJson } from '../commits/json.ts';
import { type LoadedFile, findFile, toFileHeaders } from './find_file.ts';
import { maxBlamedBytes } from '../limits.ts';
import { tooLarge } from '../../../platform/http/failure.ts';

/** `range[start]=2&range[end]=4` -> [2, 4]. */
const readRange = (sent: unknown): [number, number] | undefined => {
  if (sent === undefined || sent === null || sent === '') return undefined;
  const input = (typeof sent === 'object' ? sent : {}) as { start?: unknown; end?: unknown };
  const [start, end] = [Number(input.start ?? NaN), Number(input.end ?? NaN)];
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 1) {
    throw invalid({ range: ['is invalid'] });
  }
  if (start > end) throw invalid({ 'range[start]': ['must be less than or equal to range[end]'] });
  return [start, end];
};

export type Blame = {
  /** Lines of the whole file. */
  lines: string[];
  /** In line order; `lines`: first and last line. */
  ranges: { lines: [number, number]; commit: Commit }[];
};

/** @property ignore_whitespace passes over commits that changed only white space of a line */
export type BlameOptions = { range?: [number, number] | undefined; ignore_whitespace?: boolean };

/** Finds the commits that last changed the lines of a file. @throws Failure 404, 413, 400 for a range outside of it */
export const loadBlame = async (
  { repository }: Pick<Code, 'repository'>,
  { file, content }: LoadedFile,
  { range, ignore_whitespace = false }: BlameOptions = {},
): Promise<Blame> => {
  if (content === null) throw tooLarge();
  const lines = content.toString('utf8').split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (range !== undefined && range[0] > lines.length) throw invalid({ range: ['is invalid'] });
  if (lines.length === 0) return { lines, ranges: [] };
  const result = await repository.ask('blame.file', {
    commit: file.commit_id,
    path: file.file_path,
    ...(ignore_whitespace && { ignore_whitespace }),
    ...(range !== undefined && { range: [range[0], Math.min(range[1], lines.length)] as [number, number] }),
  });
  if (result === null) throw notFound('File');
  const commits = new Map(result.commits.map((commit) => [commit.id, commit]));
  const ranges = result.ranges.flatMap(({ lines: between, commit: id }) => {
    const commit = commits.get(id);
    return commit === undefined ? [] : [{ lines: between, commit }];
  });
  return { lines, ranges };
};

/** @throws Failure 404 for an unknown file, 413 if it is too large, 400 for a range outside of it */
export const blameFile = async (
  call: Call,
  code: Code,
  request: { file_path: string; ref?: string | undefined },
  sentRange: unknown,
) => {
  const range = readRange(sentRange);
  const loaded = await findFile(code, request, maxBlamedBytes);
  const { lines, ranges } = await loadBlame(code, loaded, { range });
  const projectUrl = getWebUrl(call, code.project);
  const items = ranges.map(({ lines: [first, last], commit }) => ({
    commit: commitJson(commit, projectUrl),
    lines: lines.slice(first - 1, last),
  }));
  return { items, headers: toFileHeaders(loaded) };
};
