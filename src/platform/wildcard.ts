/** Returns whether a text matches a pattern, in which `*` matches any characters or none. Takes linear time. */
export const matchesWildcard = (pattern: string, text: string): boolean => {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts) {
    const index = text.indexOf(part, at);
    if (index === -1) return false;
    at = index + part.length;
  }
  return at <= end;
};
