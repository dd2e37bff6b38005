/** Trailers of commit messages: `Signed-off-by: Ada <ada@example.com>`. */

const trailerLine = /^([A-Za-z0-9-]+)\s*:\s*(.*)$/;

/** Reads the trailers of a message: its last paragraph, if all of its lines are trailers. Names may repeat. */
export const readTrailers = (message: string): [name: string, value: string][] => {
  const paragraphs = message.trimEnd().split(/\n\s*\n/);
  const lines = paragraphs.length < 2 ? [] : (paragraphs.at(-1) ?? '').split('\n');
  const trailers: [string, string][] = [];
  for (const line of lines) {
    const [, name, value = ''] = trailerLine.exec(line) ?? [];
    const last = trailers.at(-1);
    if (name !== undefined) trailers.push([name, value.trim()]);
    else if (/^\s/.test(line) && last !== undefined) last[1] += ` ${line.trim()}`;
    else if (!line.startsWith('(cherry picked from commit')) return [];
  }
  return trailers;
};
