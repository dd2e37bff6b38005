/** Prints results of commands, as text or as JSON for programs. */

/** Prints the result of a command: one line of JSON, or text. */
export const print = (options: { json?: boolean }, value: unknown, text: string): void => {
  process.stdout.write(`${options.json === true ? JSON.stringify(value) : text}\n`);
};

/** Formats rows as columns of equal width. */
export const columns = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
};
