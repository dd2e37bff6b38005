import { likePattern } from '../../platform/db/contains_text.ts';
import { foldCase } from '../../platform/unicode.ts';

/** Returns the text that user searches match. Names have no line break, so no match spans both. */
export const searchText = ({ name, username }: { name: string; username: string }): string =>
  foldCase(`${name}\n${username}`);

/** Returns the pattern of `like ... escape '\\'` that finds a text anywhere. */
export const searchPattern = (text: string): string => likePattern(foldCase(text.trim()));
