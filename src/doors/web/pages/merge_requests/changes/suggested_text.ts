/** Writes the block of a suggestion with the lines that a comment is on, ready to be edited. */
import { getRepository } from '../../../../../code/repository/get_repository.ts';
import { maxSuggestedLines } from '../../../../../planning/notes/suggestions/parse_suggestions.ts';
import { may } from '../../../../../core/access/may.ts';
import type { FileDiff } from '../../../../../platform/git/protocol_types.ts';
import type { Cards } from './card_context.ts';

/** Largest file that is read. */
const maxBytes = 1024 * 1024;

export const mayReadCode = ({ visit, changes }: Cards): boolean =>
  may(visit.call.viewer, 'read_code', changes.loaded.project);

/** Reads the lines of the new file; null: it is too large, or not a text. */
export const readLines = async ({ visit, changes }: Cards, file: FileDiff): Promise<string[] | null> => {
  if (file.deleted_file) return null;
  const repository = getRepository(visit.call.platform, changes.loaded.project);
  const params = { id: file.new_id, max: maxBytes };
  const { result, body } = await repository.read('blob.get', params);
  if (result === null || !result.whole) return null;
  const lines = body.toString('utf8').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
};

/** Returns a fence longer than any in the lines. */
const fenceAround = (lines: readonly string[]): string => {
  const longest = Math.max(2, ...lines.map((line) => /^\s*(`{3,})/.exec(line)?.[1]?.length ?? 0));
  return '`'.repeat(longest + 1);
};

type Lines = { line: string | null; from?: number | undefined };

/** Returns the block for the lines; null: a suggestion cannot replace them. */
export const suggestedText = async (
  cards: Cards,
  file: FileDiff,
  { line, from }: Lines,
): Promise<string | null> => {
  const [side, number] = line?.split('_') ?? [];
  if (side !== 'new' || file.binary || !mayReadCode(cards)) return null;
  const last = Number(number);
  const above = last - (from ?? last);
  const lines = above < 0 || above > maxSuggestedLines ? null : await readLines(cards, file);
  if (lines === null || last > lines.length) return null;
  const chosen = lines.slice(last - above - 1, last).map((one) => one.replace(/\r$/, ''));
  const fence = fenceAround(chosen);
  return `${fence}suggestion:-${above}+0\n${chosen.join('\n')}\n${fence}`;
};
