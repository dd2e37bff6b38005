import names from 'markdown-it-emoji/lib/data/full.mjs';

/** Replaces names such as `:tada:` by their emoji. */
export const replaceEmoji = (text: string): string =>
  text.includes(':')
    ? text.replaceAll(/:([\w+-]{1,60}):/g, (whole, name: string) =>
        Object.hasOwn(names, name) ? (names[name] ?? whole) : whole,
      )
    : text;

/** Lists the names that begin with a text, then those that contain it, with their emoji. */
export const findEmoji = (search: string, limit: number): { name: string; emoji: string }[] => {
  const matches = Object.keys(names).filter((name) => name.includes(search));
  const first = matches.filter((name) => name.startsWith(search));
  const rest = matches.filter((name) => !name.startsWith(search));
  return [...first, ...rest].slice(0, limit).map((name) => ({ name, emoji: names[name] ?? '' }));
};
