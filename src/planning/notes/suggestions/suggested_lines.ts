/** The lines of a file that a suggestion replaces. */
import type { Call } from '../../../core/access/call.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { RepositoryLocation } from '../../../platform/git/repository.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import type { ParsedSuggestion } from './parse_suggestions.ts';

/** Largest file whose lines a suggestion may replace. */
const maxBytes = 1024 * 1024;

/** Returns the first and last line that a suggestion on a line replaces. */
export const suggestedLines = (
  line: number,
  { lines_above, lines_below }: Pick<ParsedSuggestion, 'lines_above' | 'lines_below'>,
): [first: number, last: number] => [Math.max(1, line - lines_above), line + lines_below];

/** Splits a text into lines with their ends. */
export const splitLines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Keeps the line ends of the lines that are replaced. */
const withLineEnds = (text: string, replaced: string): string =>
  replaced.endsWith('\r\n') ? text.replaceAll('\n', '\r\n') : text;

/** Returns the text that replaces lines, with their line ends; null if they have this text already. */
export const replaceText = (replaced: string, to: string): string | null => {
  const isWhole = replaced.endsWith('\n');
  const fresh = withLineEnds(isWhole ? to : to.replace(/\n$/, ''), replaced);
  return fresh === replaced ? null : fresh;
};

/** Reads a text file; null if it is missing, too large, or not UTF-8. */
export const readTextFile = async (
  { platform }: Pick<Call, 'platform'>,
  project: RepositoryLocation,
  commit: string,
  path: string,
): Promise<string | null> => {
  try {
    const repository = getRepository(platform, project);
    const { result, body } = await repository.read('blob.at', { commit, path, max: maxBytes });
    if (result === null || !result.whole || body.includes(0)) return null;
    const text = body.toString('utf8');
    return Buffer.from(text).equals(body) ? text : null;
  } catch (error) {
    if (isGitFailure(error, 'missing')) return null;
    throw error;
  }
};
