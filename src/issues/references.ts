/** The short references of a text (`#3`, `!4`): those that Markdown would make links, so none in code. */

const fence = /^ {0,3}(`{3,}|~{3,})/;
/** `#3` or `!4` that is no part of a longer word, path or entity. */
const reference = /(?<![\p{L}\p{N}_/&.#!-])([#!])([1-9]\d{0,14})(?![\p{L}\p{N}_])/gu;

type Piece = { text: string; isCode: boolean };

const isFence = (line: string, open: string | null): boolean => {
  const marks = fence.exec(line)?.[1] ?? '';
  return open === null ? marks !== '' : marks.startsWith(open) && line.trim() === marks;
};

/** A line's parts between runs of backticks: code is what stands between two runs of one length. */
const piecesOfLine = (line: string): Piece[] => {
  if (!line.includes('`')) return [{ text: line, isCode: false }];
  const parts = line.split(/(`+)/);
  const lastOfLength = new Map<number, number>();
  for (let at = 1; at < parts.length; at += 2) lastOfLength.set(parts[at]?.length ?? 0, at);
  let open = 0;
  return parts.map((text, at) => {
    const isRun = at % 2 === 1;
    if (isRun && open === 0 && (lastOfLength.get(text.length) ?? 0) > at) open = text.length;
    else if (isRun && open === text.length) open = 0;
    return { text, isCode: isRun || open > 0 };
  });
};

const piecesOf = (text: string): Piece[] => {
  let open: string | null = null;
  return text.split(/(?<=\n)/).flatMap((line): Piece[] => {
    const isEdge = isFence(line, open);
    const isCode = isEdge || open !== null;
    if (isEdge) open = open === null ? (fence.exec(line)?.[1] ?? null) : null;
    return isCode ? [{ text: line, isCode }] : piecesOfLine(line);
  });
};

/** The iids of the issues that a text names by `#3`. */
export const referredIids = (text: string): number[] => {
  if (!text.includes('#')) return [];
  const found = piecesOf(text)
    .filter(({ isCode }) => !isCode)
    .flatMap((piece) => [...piece.text.matchAll(reference)])
    .filter(([, mark]) => mark === '#');
  return [...new Set(found.map(([, , digits]) => Number(digits)))];
};

/**
 * Makes the short references of a moved text full ones (`group/project#3`), so that they go on naming what they
 * named. `#3` is one only if there is such an issue.
 */
export const rewriteReferences = (text: string, projectPath: string, iids: ReadonlySet<number>): string => {
  if (!text.includes('#') && !text.includes('!')) return text;
  const rewritten = (piece: string): string =>
    piece.replaceAll(reference, (whole: string, mark: string, digits: string) =>
      mark === '#' && !iids.has(Number(digits)) ? whole : `${projectPath}${whole}`,
    );
  return piecesOf(text)
    .map(({ text: piece, isCode }) => (isCode ? piece : rewritten(piece)))
    .join('');
};
