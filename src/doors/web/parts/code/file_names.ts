/** Checks by its name whether a file is shown as Markdown. */
export const isMarkdownFile = (path: string): boolean => /\.(?:md|markdown|mdown|mkdn|mkd)$/i.test(path);
