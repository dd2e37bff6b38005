import names from 'markdown-it-emoji/lib/data/full.mjs';

/** Replaces names such as `:tada:` by their emoji. */
export const replaceEmoji = (text: string): string =>
  text.includes(':')
    ? text.replaceAll(/:([\w+-]{1,60}):/g, (whole, name: string) =>
        Object.hasOwn(names, name) ? (names[name] ?? whole) : whole,
      )
    : text;
