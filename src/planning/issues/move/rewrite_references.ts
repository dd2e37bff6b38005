/** Rewrites the short references (`#3`, `!4`) of a text that moves to another project. */
import { splitPieces } from '../../issuables/text/code_blocks.ts';
import { writtenReference } from '../../issuables/text/references.ts';

type Short = { mark: '#' | '!'; iid: number };
type Parts = { path?: string; mark?: string; digits?: string } | undefined;

/** Parses a short reference; null for an address or a reference that names its project. */
const parseShort = ({ path, mark, digits }: Parts = {}): Short | null =>
  path === '' && (mark === '#' || mark === '!') ? { mark, iid: Number(digits) } : null;

/** Lists the iids of issues that a text references as `#3`. */
export const listReferencedIids = (text: string): number[] => {
  if (!text.includes('#')) return [];
  const iids = splitPieces(text)
    .filter(({ isCode }) => !isCode)
    .flatMap((piece) => [...piece.text.matchAll(writtenReference)])
    .map(({ groups }) => parseShort(groups))
    .flatMap((short) => (short?.mark === '#' ? [short.iid] : []));
  return [...new Set(iids)];
};

/**
 * Expands the short references of a moved text (`group/project#3`), so that they still name the same
 * record. `#3` counts only if the issue exists.
 */
export const rewriteReferences = (text: string, projectPath: string, iids: ReadonlySet<number>): string => {
  if (!text.includes('#') && !text.includes('!')) return text;
  const rewritten = (piece: string): string =>
    piece.replaceAll(writtenReference, (whole: string, ...rest: unknown[]) => {
      const short = parseShort(rest.at(-1) as Parts);
      if (short === null || (short.mark === '#' && !iids.has(short.iid))) return whole;
      return `${projectPath}${whole}`;
    });
  return splitPieces(text)
    .map(({ text: piece, isCode }) => (isCode ? piece : rewritten(piece)))
    .join('');
};
