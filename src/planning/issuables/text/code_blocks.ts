/** Splits a Markdown text into code (fenced blocks, inline code) and the rest. Takes linear time. */

/** A part of a text. All parts one after another are the text. */
export type Piece = { text: string; isCode: boolean };

const LIST_MARKER = /(?:[-*+]|\d{1,9}[.)])[ \t]/y;
const FENCE = /`{3,}|~{3,}/y;

/** Replaces a piece of code. It neither joins words nor lets the rest of the line count as a line's start. */
const CODE = '`';

const prose = (text: string): Piece => ({ text, isCode: false });
const code = (text: string): Piece => ({ text, isCode: true });

/** Each line of a fenced block, with its fences, is a piece of code, and so is each inline one with its marks. */
export const splitPieces = (text: string): Piece[] => {
  if (!text.includes('`') && !text.includes('~~~')) return [prose(text)];
  const pieces: Piece[] = [];
  const add = (more: Piece[]) => {
    if (pieces.length > 0) pieces.push(prose('\n'));
    for (const piece of more) pieces.push(piece);
  };
  /** Lines of one paragraph, which may share inline code. */
  let paragraph: string[] = [];
  const endParagraph = () => {
    if (paragraph.length > 0) add(piecesOfParagraph(paragraph.join('\n')));
    paragraph = [];
  };
  let fence: string | null = null;
  for (const line of text.split('\n')) {
    if (fence !== null) {
      add([code(line)]);
      if (closesFence(line, fence)) fence = null;
      continue;
    }
    const { at, inList } = contentStart(line);
    const blank = at === line.length;
    fence = openingFence(line, at);
    if (fence !== null || inList || blank) endParagraph();
    if (fence !== null) add([code(line)]);
    else if (blank) add([prose(line)]);
    else paragraph.push(line);
  }
  endParagraph();
  return pieces;
};

/** Replaces each piece of code in a text by one mark. */
export const withoutCode = (text: string): string => {
  return splitPieces(text)
    .map((piece) => (piece.isCode ? CODE : piece.text))
    .join('');
};

/** Finds where a line's own text begins, after blanks, quotation marks and list markers. */
const contentStart = (line: string): { at: number; inList: boolean } => {
  let at = 0;
  let inList = false;
  for (;;) {
    while (line[at] === ' ' || line[at] === '\t' || line[at] === '\r' || line[at] === '>') at++;
    LIST_MARKER.lastIndex = at;
    if (!LIST_MARKER.test(line)) return { at, inList };
    at = LIST_MARKER.lastIndex;
    inList = true;
  }
};

/** The run of backticks or tildes that opens a fenced block, if one does. */
const openingFence = (line: string, at: number): string | null => {
  FENCE.lastIndex = at;
  const run = FENCE.exec(line)?.[0];
  if (run === undefined) return null;
  return run.startsWith('`') && line.includes('`', at + run.length) ? null : run;
};

/** A block ends with a run of the same kind, at least as long, alone on its line. */
const closesFence = (line: string, fence: string): boolean => {
  let at = 0;
  while (line[at] === ' ' || line[at] === '\t' || line[at] === '>') at++;
  const rest = line.slice(at).trimEnd();
  return rest.length >= fence.length && rest === fence.charAt(0).repeat(rest.length);
};

/** Inline code stands between two runs of equally many backticks; a run without its like is plain text. */
const piecesOfParagraph = (text: string): Piece[] => {
  const { starts, ends, nextLike } = backtickRuns(text);
  const pieces: Piece[] = [];
  let from = 0;
  for (let run = 0; run < starts.length; run++) {
    const start = starts[run] ?? 0;
    const closing = nextLike[run] ?? -1;
    if (closing === -1 || isEscaped(text, start)) continue;
    const end = ends[closing] ?? text.length;
    pieces.push(prose(text.slice(from, start)), code(text.slice(start, end)));
    from = end;
    run = closing;
  }
  return [...pieces, prose(text.slice(from))];
};

/** Each run of backticks, with the index of the next run as long as it (-1 if there is none). */
const backtickRuns = (text: string): { starts: number[]; ends: number[]; nextLike: number[] } => {
  const starts: number[] = [];
  const ends: number[] = [];
  const nextLike: number[] = [];
  /** Length of a run -> the last one seen. */
  const waiting = new Map<number, number>();
  for (let at = text.indexOf('`'); at !== -1; at = text.indexOf('`', at)) {
    const run = starts.push(at) - 1;
    while (text[at] === '`') at++;
    ends.push(at);
    nextLike.push(-1);
    const length = at - (starts[run] ?? at);
    const alike = waiting.get(length);
    if (alike !== undefined) nextLike[alike] = run;
    waiting.set(length, run);
  }
  return { starts, ends, nextLike };
};

const isEscaped = (text: string, at: number): boolean => {
  let start = at;
  while (text[start - 1] === '\\') start--;
  return (at - start) % 2 === 1;
};
