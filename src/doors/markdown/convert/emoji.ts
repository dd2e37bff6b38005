import names from 'markdown-it-emoji/lib/data/full.mjs';

/** Replaces names such as `:tada:` by their emoji. */
export const replaceEmoji = (text: string): string =>
  text.includes(':')
    ? text.replaceAll(/:([\w+-]{1,60}):/g, (whole, name: string) =>
        Object.hasOwn(names, name) ? (names[name] ?? whole) : whole,
      )
    : text;

/** @property name name found by a search @property first first of several names, used for reactions */
type NamedEmoji = { emoji: string; name: string; first: string };

/** All names of each emoji that reactions may have. */
let namesByEmoji: Map<string, string[]> | null = null;

const getNamesByEmoji = (): Map<string, string[]> => {
  if (namesByEmoji !== null) return namesByEmoji;
  namesByEmoji = new Map();
  for (const [name, emoji] of Object.entries(names)) {
    if (!/^[a-z0-9_-]+$/.test(name) || name.startsWith('-')) continue;
    const emojiNames = namesByEmoji.get(emoji);
    if (emojiNames === undefined) namesByEmoji.set(emoji, [name]);
    else emojiNames.push(name);
  }
  return namesByEmoji;
};

/** Returns all names of the emoji that has this name. */
export const listEmojiNames = (name: string): string[] => {
  const emoji = Object.hasOwn(names, name) ? names[name] : undefined;
  return (emoji === undefined ? undefined : getNamesByEmoji().get(emoji)) ?? [name];
};

/** Finds the emoji with a name that has all words of `search`; emoji whose name starts with it come first. */
export const findEmoji = (search: string): NamedEmoji[] => {
  const words = search.toLowerCase().split(/[\s_:]+/);
  const first = words[0] ?? '';
  const fits = (name: string): boolean => words.every((word) => name.includes(word));
  const rows = [...getNamesByEmoji()].flatMap(([emoji, known]) => {
    const name = known.find((one) => one.startsWith(first) && fits(one)) ?? known.find(fits);
    return name === undefined ? [] : [{ emoji, name, first: known[0] ?? name }];
  });
  const begins = ({ name }: NamedEmoji): boolean => name.startsWith(first);
  return [...rows.filter(begins), ...rows.filter((one) => !begins(one))];
};
