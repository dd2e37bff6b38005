/** Trailers of commit messages: `Signed-off-by: Ada <ada@example.com>`. */

/** Splits a line at its first colon. An expression for the whole line would backtrack over long runs of spaces. */
const parseTrailer = (line: string): [name: string, value: string] | null => {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0)).trimEnd();
  return /^[A-Za-z0-9-]+$/.test(name) ? [name, line.slice(colon + 1).trim()] : null;
};

/** Reads the trailers of a message: its last paragraph, if all of its lines are trailers. Names may repeat. */
export const readTrailers = (message: string): [name: string, value: string][] => {
  const paragraphs = message.trimEnd().split(/\n\s*\n/);
  const lines = paragraphs.length < 2 ? [] : (paragraphs.at(-1) ?? '').split('\n');
  const trailers: [string, string][] = [];
  for (const line of lines) {
    const trailer = parseTrailer(line);
    const last = trailers.at(-1);
    if (trailer !== null) trailers.push(trailer);
    else if (/^\s/.test(line) && last !== undefined) last[1] += ` ${line.trim()}`;
    else if (!line.startsWith('(cherry picked from commit')) return [];
  }
  return trailers;
};
