/** Writes the block of a suggestion with the lines that a comment is on, ready to be edited. */
import { getRepository } from '../../../../../code/repository/get_repository.ts';
import { maxSuggestedLines } from '../../../../../planning/notes/suggestions/parse_suggestions.ts';
import { may } from '../../../../../core/access/may.ts';
import type { FileDiff } from '../../../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../../../platform/git/repository.ts';
import { readLines } from '../../../parts/diff/read_rows.ts';
import type { Cards } from './card_context.ts';

export const mayReadCode = ({ visit, changes }: Cards): boolean =>
  may(visit.call.viewer, 'read_code', changes.loaded.project);

export const repositoryOf = ({ visit, changes }: Cards): Repository =>
  getRepository(visit.call.platform, changes.loaded.project);

/** Returns a fence longer than any in the lines. */
const fenceAround = (lines: readonly string[]): string => {
  const longest = Math.max(2, ...lines.map((line) => /^\s*(`{3,})/.exec(line)?.[1]?.length ?? 0));
  return '`'.repeat(longest + 1);
};

type Lines = { line: string | null; from?: number | undefined };

/** Returns the block for the lines; null if a suggestion cannot replace them. */
export const suggestedText = async (
  cards: Cards,
  file: FileDiff,
  { line, from }: Lines,
): Promise<string | null> => {
  const [side, number] = line?.split('_') ?? [];
  if (side !== 'new' || file.binary || !mayReadCode(cards)) return null;
  const last = Number(number);
  const above = last - (from ?? last);
  const lines = above < 0 || above > maxSuggestedLines ? null : await readLines(repositoryOf(cards), file);
  if (lines === null || last > lines.length) return null;
  const chosen = lines.slice(last - above - 1, last).map((one) => one.replace(/\r$/, ''));
  const fence = fenceAround(chosen);
  return `${fence}suggestion:-${above}+0\n${chosen.join('\n')}\n${fence}`;
};
