/** Parses the text of a file in which git marked conflicts, and joins it again as somebody chose. Pure. */

/** Lines of a file, each with its line end. `ours`: of the source branch; `theirs`: of the target branch. */
export type Segment =
  | { isConflict: false; lines: string[] }
  | { isConflict: true; ours: string[]; theirs: string[] };

export type Conflict = Extract<Segment, { isConflict: true }>;

/** Resolution of a conflict; `both`: the lines of the source branch, then the lines of the target branch. */
export const sides = ['ours', 'theirs', 'both'] as const;
export type Side = (typeof sides)[number];

/** Names of both sides in the marks. */
export type Labels = { ours: string; theirs: string };

const splitLines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const withoutEnd = (line: string): string => line.replace(/\r?\n$/, '');

const middle = '=======';

/** Returns whether git marked a renamed file: it adds the path to the label. */
export const isOfRename = (text: string, { ours, theirs }: Labels): boolean =>
  splitLines(text).some(
    (line) => line.startsWith(`<<<<<<< ${ours}:`) || line.startsWith(`>>>>>>> ${theirs}:`),
  );

/**
 * Splits a text at its conflicts; null if its own lines look like conflict marks, so that they cannot be distinguished.
 */
export const parseConflicts = (text: string, { ours, theirs }: Labels): Segment[] | null => {
  const [start, end] = [`<<<<<<< ${ours}`, `>>>>>>> ${theirs}`];
  const segments: Segment[] = [];
  let open: Conflict | null = null;
  let isSecond = false;
  for (const line of splitLines(text)) {
    const mark = withoutEnd(line);
    if (mark === start) {
      if (open !== null) return null;
      [open, isSecond] = [{ isConflict: true, ours: [], theirs: [] }, false];
    } else if (mark === end) {
      if (open === null || !isSecond) return null;
      segments.push(open);
      open = null;
    } else if (open === null) {
      const last = segments.at(-1);
      if (last?.isConflict === false) last.lines.push(line);
      else segments.push({ isConflict: false, lines: [line] });
    } else if (mark === middle) {
      if (isSecond) return null;
      isSecond = true;
    } else (isSecond ? open.theirs : open.ours).push(line);
  }
  return open === null ? segments : null;
};

/** Replaces the labels of all marks. */
export const renameLabels = (text: string, from: Labels, to: Labels): string =>
  splitLines(text)
    .map((line) => {
      const mark = withoutEnd(line);
      const end = line.slice(mark.length);
      if (mark === `<<<<<<< ${from.ours}`) return `<<<<<<< ${to.ours}${end}`;
      return mark === `>>>>>>> ${from.theirs}` ? `>>>>>>> ${to.theirs}${end}` : line;
    })
    .join('');

/** Returns whether a text still contains a conflict mark. */
export const hasMarks = (text: string, { ours, theirs }: Labels): boolean =>
  splitLines(text).some((line) => [`<<<<<<< ${ours}`, `>>>>>>> ${theirs}`].includes(withoutEnd(line)));

const getLines = ({ ours, theirs }: Conflict, side: Side): string[] => {
  if (side === 'both') return [...ours, ...theirs];
  return side === 'ours' ? ours : theirs;
};

/** Joins the segments with the chosen side of each conflict; null if a choice is missing. */
export const joinSegments = (
  segments: readonly Segment[],
  choices: readonly (Side | undefined)[],
): string | null => {
  const texts: string[] = [];
  let at = 0;
  for (const segment of segments) {
    if (!segment.isConflict) texts.push(segment.lines.join(''));
    else {
      const side = choices[at];
      if (side === undefined) return null;
      texts.push(getLines(segment, side).join(''));
      at += 1;
    }
  }
  return texts.join('');
};
