/** Trims texts in linear time. A pattern such as `/\/+$/` reads a run again from each of its starts. */

/** Removes these characters from the end of a text. */
export const trimEnd = (text: string, characters: string): string => {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
};

/** Returns a path without slashes at its start and its end. */
export const trimSlashes = (path: string): string => trimEnd(path.replace(/^\/+/, ''), '/');
