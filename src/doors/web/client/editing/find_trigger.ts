/** Finds the reference or emoji that is being typed before the caret. */
export type Kind = 'user' | 'issue' | 'merge_request' | 'label' | 'milestone' | 'emoji';

/** @property start of the reference, with its sign @property search what follows the sign */
export type Trigger = { kind: Kind; start: number; search: string };

const kinds = new Map<string, Kind>([
  ['@', 'user'],
  ['#', 'issue'],
  ['!', 'merge_request'],
  ['~', 'label'],
  ['%', 'milestone'],
]);

/** A sign at the start of a word, and a part of a name; of an emoji, at least two characters. */
const pattern =
  /(?<=^|[\s([{,;'"*_>|])(?:(?<sign>[@#!~%])(?:"(?<quoted>[^"]{0,60})|(?<word>[\p{L}\p{N}_.:&?-]{0,60}))|:(?<emoji>[a-z\d_+-]{2,30}))$/u;

/** Characters before the caret that may belong to a reference. */
const longest = 80;

export const findTrigger = ({
  value,
  selectionStart,
  selectionEnd,
}: Pick<HTMLTextAreaElement, 'value' | 'selectionStart' | 'selectionEnd'>): Trigger | null => {
  if (selectionStart !== selectionEnd) return null;
  const from = Math.max(value.lastIndexOf('\n', selectionStart - 1) + 1, selectionStart - longest);
  const match = pattern.exec(value.slice(from, selectionStart));
  if (match === null) return null;
  const { sign = '', quoted, word, emoji } = match.groups ?? {};
  return {
    kind: kinds.get(sign) ?? 'emoji',
    start: from + match.index,
    search: quoted ?? word ?? emoji ?? '',
  };
};
