const format = new Intl.NumberFormat('en');

/** `1 issue`, `1,204 issues` @param plural where it is not the noun with an s */
export const spellCount = (count: number, noun: string, plural = `${noun}s`): string =>
  `${format.format(count)} ${count === 1 ? noun : plural}`;
