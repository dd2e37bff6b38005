/**
 * Returns whether a path was given with replacement characters, because its bytes are not UTF-8. Its content can be
 * read; git cannot be asked for its history, nor the path be changed.
 */
export const isInexactPath = (path: string): boolean => path.includes('\uFFFD');

/** Checks by its name whether a file is shown as Markdown. */
export const isMarkdownFile = (path: string): boolean => /\.(?:md|markdown|mdown|mkdn|mkd)$/i.test(path);
