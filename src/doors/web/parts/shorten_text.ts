/** Shortens texts for lists and link previews. */

const maxLength = 200;
/** Only this much of a text is read; its first 200 characters without Markdown syntax should come from it. */
const maxRead = 2_000;

/** Returns the start of a plain text, cut at a word boundary. */
export const shortenText = (text: string): string => {
  const plain = text.slice(0, maxRead).replaceAll(/\s+/g, ' ').trim();
  if (plain.length <= maxLength) return plain;
  const cut = plain.slice(0, maxLength);
  const end = cut.lastIndexOf(' ');
  return `${cut
    .slice(0, end > maxLength / 2 ? end : maxLength)
    .trimEnd()
    .toWellFormed()}…`;
};

/** Returns the start of a Markdown text with most of the syntax removed, cut at a word boundary. */
export const shortenMarkdown = (text: string): string =>
  shortenText(
    text
      .slice(0, maxRead)
      .replaceAll(/<!--[^]*?(?:-->|$)/g, ' ')
      .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/^[ \t]*(?:#{1,6}|[-*+>]|```\w*)[ \t]*/gm, '')
      .replaceAll(/[`*]|~~/g, ''),
  );
