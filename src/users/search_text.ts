import { foldCase } from '../unicode.ts';

/** What a search for a user looks in. A name has no line break, so no match crosses from one to the other. */
export const searchText = ({ name, username }: { name: string; username: string }): string =>
  foldCase(`${name}\n${username}`);

/** The pattern of `like ... escape '\\'` that finds a text anywhere in it. */
export const searchPattern = (text: string): string =>
  `%${foldCase(text.trim()).replace(/[%_\\]/g, String.raw`\$&`)}%`;
