/** Finds the reference, emoji or quick action that is being typed before the caret. */
export type Kind = 'user' | 'issue' | 'merge_request' | 'label' | 'milestone' | 'emoji' | 'command';

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

/** A quick action is the first word of a line. */
const command = /^\/([a-z_]{0,30})$/i;

/** Characters before the caret that may belong to a reference. */
const longest = 80;

export const findTrigger = ({
  value,
  selectionStart,
  selectionEnd,
}: Pick<HTMLTextAreaElement, 'value' | 'selectionStart' | 'selectionEnd'>): Trigger | null => {
  if (selectionStart !== selectionEnd) return null;
  const line = value.lastIndexOf('\n', selectionStart - 1) + 1;
  const [, search] = command.exec(value.slice(line, selectionStart)) ?? [];
  if (search !== undefined) return { kind: 'command', start: line, search };
  const from = Math.max(line, selectionStart - longest);
  const match = pattern.exec(value.slice(from, selectionStart));
  if (match === null) return null;
  const { sign = '', quoted, word, emoji } = match.groups ?? {};
  return {
    kind: kinds.get(sign) ?? 'emoji',
    start: from + match.index,
    search: quoted ?? word ?? emoji ?? '',
  };
};
