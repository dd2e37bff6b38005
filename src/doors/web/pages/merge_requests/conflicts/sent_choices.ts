/** Reads what somebody chose on the page that resolves conflicts, and makes the files of it. */
import {
  type Labels,
  type Side,
  hasMarks,
  joinSegments,
  sides,
} from '../../../../../review/merge_requests/conflicts/conflict_text.ts';
import {
  type TextConflict,
  countHunks,
} from '../../../../../review/merge_requests/conflicts/load_conflicts.ts';

/** Resolution of a file: conflict by conflict, or by its whole text. */
export type Way = 'hunks' | 'text';

export type FileChoice = {
  key: string;
  way: Way;
  hunks: (Side | undefined)[];
  text: string | null;
  /** Input for former conflicts of the file, which the page keeps showing; null if there is none. */
  lost: string | null;
};

/** The choices by path. */
export type Choices = ReadonlyMap<string, FileChoice>;

const maxFields = 1_000;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const listOf = (value: unknown): unknown[] =>
  isRecord(value) ? Object.values(value).slice(0, maxFields) : [];

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0') ? value : null;

const sideOf = (value: unknown): Side | undefined => sides.find((side) => side === value);

/** Reads the sides by the index of their conflict: browsers leave out those without a choice. */
const readHunks = (value: unknown): (Side | undefined)[] => {
  const hunks: (Side | undefined)[] = [];
  if (!isRecord(value)) return hunks;
  for (const [index, side] of Object.entries(value)) {
    if (/^\d{1,3}$/.test(index)) hunks[Number(index)] = sideOf(side);
  }
  return hunks;
};

const readFile = (sent: unknown): [string, FileChoice][] => {
  if (!isRecord(sent)) return [];
  const path = textOf(sent['path']);
  if (path === null) return [];
  return [
    [
      path,
      {
        key: textOf(sent['key']) ?? '',
        way: sent['way'] === 'text' ? 'text' : 'hunks',
        hunks: readHunks(sent['hunks']),
        text: textOf(sent['text']),
        lost: textOf(sent['lost']),
      },
    ],
  ];
};

/** Reads `files[0][path]=...&files[0][hunks][0]=ours`. */
export const readChoices = (sent: unknown): Choices => new Map(listOf(sent).flatMap(readFile));

/** Returns the choice for the current text of a file; undefined if there is none for this text. */
export const choiceFor = (choices: Choices, { path, key }: TextConflict): FileChoice | undefined => {
  const choice = choices.get(path);
  return choice?.key === key ? choice : undefined;
};

/** Returns what was typed for a file and has no place in the form; what was typed last comes first. */
const joinLost = ({ way, text, lost }: FileChoice, hasPlace: boolean): string | null => {
  const typed = !hasPlace && way === 'text' ? [text] : [];
  const texts = [...typed, lost].filter((one) => one !== null && one !== '');
  return texts.length === 0 ? null : texts.join('\n');
};

/** Returns the text that was typed into the field of a file whose conflicts are others by now; null: none was. */
export const lostText = (choices: Choices, { path, key }: TextConflict): string | null => {
  const choice = choices.get(path);
  return choice === undefined ? null : joinLost(choice, choice.key === key);
};

export type LostText = { path: string; text: string };

/** Returns the texts that were typed for files that the form does not have. */
export const lostElsewhere = (choices: Choices, files: readonly { path: string }[]): LostText[] => {
  const shown = new Set(files.map(({ path }) => path));
  return [...choices].flatMap(([path, choice]) => {
    const text = shown.has(path) ? null : joinLost(choice, false);
    return text === null ? [] : [{ path, text }];
  });
};

const isCrlf = (text: string): boolean => /^[^\n]*\r\n/.test(text);

const hasMixedEnds = (text: string): boolean => /\r\n/.test(text) && /(?:^|[^\r])\n/.test(text);

/** Lines of a form end in LF. */
const isEdited = ({ text: original }: TextConflict, { text }: FileChoice): boolean =>
  text !== null && text !== original.replaceAll('\r\n', '\n');

const fromText = (
  file: TextConflict,
  { text }: FileChoice,
  labels: Labels,
): { text: string } | { problem: string } => {
  if (text === null || hasMarks(text, labels)) {
    return {
      problem: 'The text still has marks of conflicts. Edit each marked place, and remove its marks.',
    };
  }
  if (hasMixedEnds(file.text)) {
    return {
      problem:
        'This file has mixed line endings, which the text field cannot keep. Choose for each conflict.',
    };
  }
  return { text: isCrlf(file.text) ? text.replaceAll('\n', '\r\n') : text };
};

/** Makes the text of a resolved file, or says what is missing. */
export const resolveFile = (
  file: TextConflict,
  choice: FileChoice | undefined,
  labels: Labels,
): { text: string } | { problem: string } => {
  const { segments } = file;
  if (choice === undefined) return { problem: 'Choose how to resolve this file.' };
  if (choice.way === 'text' || segments === null) return fromText(file, choice, labels);
  if (isEdited(file, choice)) {
    return {
      problem: 'You edited the text, but chose “Choose for each conflict”. Choose the text to use it.',
    };
  }
  const count = countHunks(segments);
  const text = joinSegments(segments, choice.hunks.slice(0, count));
  if (text !== null) return { text };
  return { problem: count === 1 ? 'Choose a side for the conflict.' : 'Choose a side for each conflict.' };
};
