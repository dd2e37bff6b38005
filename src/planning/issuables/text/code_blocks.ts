/** Splits a Markdown text into code (fenced blocks, inline code) and the rest. Takes linear time. */

/** A part of a text. Concatenated, the pieces give the text. */
export type Piece = { text: string; isCode: boolean };

const listMarker = /(?:[-*+]|\d{1,9}[.)])[ \t]/y;
const fenceRun = /`{3,}|~{3,}/y;

/** Replaces a piece of code. It neither joins words nor makes the rest of the line its start. */
const codeMark = '`';

const prose = (text: string): Piece => ({ text, isCode: false });
const code = (text: string): Piece => ({ text, isCode: true });

/** Splits a text. Each line of a fenced block, fences included, is a piece, and so is inline code with its marks. */
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
    if (paragraph.length > 0) add(splitParagraph(paragraph.join('\n')));
    paragraph = [];
  };
  let fence: string | null = null;
  for (const line of text.split('\n')) {
    if (fence !== null) {
      add([code(line)]);
      if (closesFence(line, fence)) fence = null;
      continue;
    }
    const { at, inList } = findContentStart(line);
    const blank = at === line.length;
    fence = readOpeningFence(line, at);
    if (fence !== null || inList || blank) endParagraph();
    if (fence !== null) add([code(line)]);
    else if (blank) add([prose(line)]);
    else paragraph.push(line);
  }
  endParagraph();
  return pieces;
};

/** Replaces each piece of code in a text by one mark. */
export const withoutCode = (text: string): string =>
  splitPieces(text)
    .map((piece) => (piece.isCode ? codeMark : piece.text))
    .join('');

/** Returns the start of a line's text, after blanks, quotation marks and list markers. */
const findContentStart = (line: string): { at: number; inList: boolean } => {
  let at = 0;
  let inList = false;
  for (;;) {
    while (line[at] === ' ' || line[at] === '\t' || line[at] === '\r' || line[at] === '>') at += 1;
    listMarker.lastIndex = at;
    if (!listMarker.test(line)) return { at, inList };
    at = listMarker.lastIndex;
    inList = true;
  }
};

/** Reads the run of backticks or tildes that opens a fenced block; null if there is none. */
const readOpeningFence = (line: string, at: number): string | null => {
  fenceRun.lastIndex = at;
  const run = fenceRun.exec(line)?.[0];
  if (run === undefined) return null;
  return run.startsWith('`') && line.includes('`', at + run.length) ? null : run;
};

/** Returns whether a line ends a block: a run of the same kind, at least as long, alone on its line. */
const closesFence = (line: string, fence: string): boolean => {
  let at = 0;
  while (line[at] === ' ' || line[at] === '\t' || line[at] === '>') at += 1;
  const run = line.slice(at).trimEnd();
  return run.length >= fence.length && run === fence.charAt(0).repeat(run.length);
};

/** Splits a paragraph. Inline code is between two runs of equally many backticks; an unpaired run is plain text. */
const splitParagraph = (text: string): Piece[] => {
  const { starts, ends, nextLike } = findBacktickRuns(text);
  const pieces: Piece[] = [];
  let from = 0;
  for (let run = 0; run < starts.length; run += 1) {
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

/** Returns the runs of backticks, each with the index of the next run of the same length; -1 if there is none. */
const findBacktickRuns = (text: string): { starts: number[]; ends: number[]; nextLike: number[] } => {
  const starts: number[] = [];
  const ends: number[] = [];
  const nextLike: number[] = [];
  /** Last run by length. */
  const waiting = new Map<number, number>();
  for (let at = text.indexOf('`'); at !== -1; at = text.indexOf('`', at)) {
    const run = starts.push(at) - 1;
    while (text[at] === '`') at += 1;
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
  while (text[start - 1] === '\\') start -= 1;
  return (at - start) % 2 === 1;
};
