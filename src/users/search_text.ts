/** One folding for the text and for what is looked for, the same on either store. */
const fold = (text: string): string => text.normalize('NFC').toLowerCase().normalize('NFC');

/** What a search for a user looks in. A name has no line break, so no match crosses from one to the other. */
export const searchText = ({ name, username }: { name: string; username: string }): string =>
  fold(`${name}\n${username}`);

/** The pattern of `like ... escape '\\'` that finds a text anywhere in it. */
export const searchPattern = (text: string): string =>
  `%${fold(text.trim()).replace(/[%_\\]/g, String.raw`\$&`)}%`;
