/** Finds the suggestions in the text of a comment: blocks of code with the word `suggestion`. Pure. */

/** A change of lines that a comment proposes. */
export type ParsedSuggestion = {
  /** Lines above and below the commented line that it replaces, too. */
  lines_above: number;
  lines_below: number;
  /** New text of the lines; each line ends with a line feed. */
  to_content: string;
};

/** Suggestions of one comment that count; further suggestions remain code blocks. */
const maxSuggestions = 20;

/** Ids that belong to one comment: more than suggestions that count. */
const idsPerNote = 32;

/** Returns the id of a suggestion. @param index which suggestion of the comment, from 0 */
export const toSuggestionId = (noteId: number, index: number): number => noteId * idsPerNote + index;

export const parseSuggestionId = (id: number): { note_id: number; index: number } => ({
  note_id: Math.floor(id / idsPerNote),
  index: id % idsPerNote,
});
/** Lines on each side of the commented line that a suggestion may replace. */
export const maxSuggestedLines = 100;

const openingPattern = /^ {0,3}(`{3,}|~{3,})\s*(.*?)\s*$/;
const closingPattern = /^ {0,3}(`{3,}|~{3,})\s*$/;
const rangePattern = /^suggestion(?::-(\d{1,5})\+(\d{1,5}))?$/;

type OpenBlock = { fence: string; suggestion: ParsedSuggestion | null };

const openBlock = (line: string, isSuggestion: boolean): OpenBlock | null => {
  const [, fence, info = ''] = openingPattern.exec(line) ?? [];
  if (fence === undefined || (fence.startsWith('`') && info.includes('`'))) return null;
  const [word, above = '0', below = '0'] = rangePattern.exec(info) ?? [];
  const [lines_above, lines_below] = [
    Math.min(Number(above), maxSuggestedLines),
    Math.min(Number(below), maxSuggestedLines),
  ];
  const suggestion =
    word === undefined || !isSuggestion ? null : { lines_above, lines_below, to_content: '' };
  return { fence, suggestion };
};

const closes = (line: string, { fence }: OpenBlock): boolean => {
  const [, closing] = closingPattern.exec(line) ?? [];
  return closing !== undefined && closing[0] === fence[0] && closing.length >= fence.length;
};

/** Checks cheaply whether a text may have suggestions. */
const mayHaveSuggestions = (body: string): boolean => /[`~]{3,}\s*suggestion/.test(body);

/**
 * Returns the suggestions of a text, in their order, and the text without them: their lines are empty, so that the others
 * keep their numbers.
 */
export const parseSuggestions = (body: string): { suggestions: ParsedSuggestion[]; text: string } => {
  if (!mayHaveSuggestions(body)) return { suggestions: [], text: body };
  const suggestions: ParsedSuggestion[] = [];
  const kept: string[] = [];
  let block: OpenBlock | null = null;
  for (const line of body.split(/\r?\n/)) {
    const open: OpenBlock | null = block ?? openBlock(line, suggestions.length < maxSuggestions);
    const isEnd: boolean = block !== null && closes(line, block);
    if (isEnd && block?.suggestion) suggestions.push(block.suggestion);
    else if (block?.suggestion) block.suggestion.to_content += `${line}\n`;
    kept.push(open?.suggestion ? '' : line);
    block = isEnd ? null : open;
  }
  return { suggestions, text: kept.join('\n') };
};
