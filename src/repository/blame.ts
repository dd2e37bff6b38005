/** Who wrote which line of a file. */
import type { Call } from '../access/call.ts';
import { invalid, notFound } from '../errors.ts';
import { type Code, webUrlOf } from './code.ts';
import { commitJson } from './commit_json.ts';
import { findFile, headersOf } from './files.ts';
import { largestBlamed } from './limits.ts';
import { tooLarge } from '../http/failure.ts';

/** `range[start]=2&range[end]=4` -> [2, 4]. */
const readRange = (sent: unknown): [number, number] | undefined => {
  if (sent === undefined || sent === null || sent === '') return undefined;
  const given = (typeof sent === 'object' ? sent : {}) as { start?: unknown; end?: unknown };
  const [start, end] = [Number(given.start ?? NaN), Number(given.end ?? NaN)];
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 1) {
    throw invalid({ range: ['is invalid'] });
  }
  if (start > end) throw invalid({ 'range[start]': ['must be less than or equal to range[end]'] });
  return [start, end];
};

/** @throws Failure 404 for no such file, 413 for one too large, 400 for lines that it does not have */
export const blameFile = async (
  call: Call,
  code: Code,
  wanted: { file_path: string; ref?: string | undefined },
  sentRange: unknown,
) => {
  const range = readRange(sentRange);
  const found = await findFile(code, wanted, largestBlamed);
  const { file, content } = found;
  if (content === null) throw tooLarge();
  const lines = content.toString('utf8').split('\n');
  if (lines.at(-1) === '') lines.pop();
  const headers = headersOf(found);
  if (range !== undefined && range[0] > lines.length) throw invalid({ range: ['is invalid'] });
  if (lines.length === 0) return { items: [], headers };
  const result = await code.repository.ask('blame.file', {
    commit: file.commit_id,
    path: file.file_path,
    ...(range !== undefined && { range: [range[0], Math.min(range[1], lines.length)] as [number, number] }),
  });
  if (result === null) throw notFound('File');
  const commits = new Map(result.commits.map((commit) => [commit.id, commit]));
  const projectUrl = webUrlOf(call, code.project);
  const items = result.ranges.flatMap(({ lines: [first, last], commit: id }) => {
    const commit = commits.get(id);
    if (commit === undefined) return [];
    return [{ commit: commitJson(commit, projectUrl), lines: lines.slice(first - 1, last) }];
  });
  return { items, headers };
};
