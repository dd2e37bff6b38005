/** Expands CI variables (`$NAME`, `${NAME}`, `%NAME%`) in values that the service uses, not the runner. */

export type Values = { readonly [name: string]: string };

const reference = /\$\$|%%|\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\}|%([A-Za-z_]\w*)%/g;

/** Maximum characters that references insert into one text; the rest of the text is then left unchanged. */
const maxExpandedLength = 65_536;
const maxDepth = 20;
/** Maximum characters of all expanded values of one job; past it, values stay unexpanded. */
const maxTotalLength = 262_144;

const getValue = (values: Values, name: string): string | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

const replaceReferences = (text: string, replace: (name: string, whole: string) => string): string => {
  if (!text.includes('$') && !text.includes('%')) return text;
  const parts: string[] = [];
  let [end, length] = [0, 0];
  for (const match of text.matchAll(reference)) {
    const name = match[1] ?? match[2] ?? match[3];
    const value = name === undefined ? match[0] : replace(name, match[0]);
    length += value.length;
    if (length > maxExpandedLength) break;
    parts.push(text.slice(end, match.index), value);
    end = match.index + match[0].length;
  }
  return parts.join('') + text.slice(end);
};

/** Expands references; unknown references become empty. */
export const expandVariables = (text: string, values: Values): string =>
  replaceReferences(text, (name) => getValue(values, name) ?? '');

/** Expands known references; unknown references are left to the runner. */
export const expandKnownVariables = (text: string, values: Values): string =>
  replaceReferences(text, (name, whole) => getValue(values, name) ?? whole);

/** Expands values that refer to each other. References in a cycle stay, and `raw` values are not expanded. */
export const expandAll = (values: Values, raw: ReadonlySet<string>): Record<string, string> => {
  const resolvedValues = new Map<string, string>();
  let totalLength = 0;
  const visiting = new Set<string>();
  const resolveName = (name: string): string | undefined => {
    const value = getValue(values, name);
    if (value === undefined || raw.has(name) || visiting.size > maxDepth || totalLength > maxTotalLength)
      return value;
    const resolved = resolvedValues.get(name);
    if (resolved !== undefined) return resolved;
    visiting.add(name);
    const expanded = replaceReferences(value, (inner, whole) =>
      visiting.has(inner) ? whole : (resolveName(inner) ?? whole),
    );
    visiting.delete(name);
    totalLength += expanded.length;
    resolvedValues.set(name, expanded);
    return expanded;
  };
  return Object.fromEntries(Object.keys(values).map((name) => [name, resolveName(name) ?? '']));
};
