/** The short references of a text (`#3`, `!4`), as they read when it moves to another project. */
import { piecesOf } from '../issuables/code_pieces.ts';
import { writtenReference } from '../issuables/references.ts';

type Short = { mark: '#' | '!'; iid: number };
type Parts = { path?: string; mark?: string; digits?: string } | undefined;

/** null: an address, or a reference that names its project. */
const shortOf = ({ path, mark, digits }: Parts = {}): Short | null =>
  path === '' && (mark === '#' || mark === '!') ? { mark, iid: Number(digits) } : null;

/** The iids of the issues that a text names by `#3`. */
export const referredIids = (text: string): number[] => {
  if (!text.includes('#')) return [];
  const iids = piecesOf(text)
    .filter(({ isCode }) => !isCode)
    .flatMap((piece) => [...piece.text.matchAll(writtenReference)])
    .map(({ groups }) => shortOf(groups))
    .flatMap((short) => (short?.mark === '#' ? [short.iid] : []));
  return [...new Set(iids)];
};

/**
 * Makes the short references of a moved text full ones (`group/project#3`), so that they go on naming what they
 * named. `#3` is one only if there is such an issue.
 */
export const rewriteReferences = (text: string, projectPath: string, iids: ReadonlySet<number>): string => {
  if (!text.includes('#') && !text.includes('!')) return text;
  const rewritten = (piece: string): string =>
    piece.replaceAll(writtenReference, (whole: string, ...rest: unknown[]) => {
      const short = shortOf(rest.at(-1) as Parts);
      if (short === null || (short.mark === '#' && !iids.has(short.iid))) return whole;
      return `${projectPath}${whole}`;
    });
  return piecesOf(text)
    .map(({ text: piece, isCode }) => (isCode ? piece : rewritten(piece)))
    .join('');
};
