/** `$NAME`, `${NAME}` and `%NAME%` in the values that the service itself reads. */

export type Values = { readonly [name: string]: string };

const reference = /\$\$|%%|\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\}|%([A-Za-z_]\w*)%/g;

/** A text may not grow past this by what it names. */
const longestExpanded = 65_536;
const deepest = 20;
/** Of all values of one job. */
const mostGrown = 262_144;

const valueOf = (values: Values, name: string): string | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

const expandBy = (text: string, replace: (name: string, whole: string) => string): string => {
  if (!text.includes('$') && !text.includes('%')) return text;
  const parts: string[] = [];
  let [end, length] = [0, 0];
  for (const found of text.matchAll(reference)) {
    const name = found[1] ?? found[2] ?? found[3];
    const value = name === undefined ? found[0] : replace(name, found[0]);
    length += value.length;
    if (length > longestExpanded) break;
    parts.push(text.slice(end, found.index), value);
    end = found.index + found[0].length;
  }
  return parts.join('') + text.slice(end);
};

/** What has no value becomes nothing. */
export const expand = (text: string, values: Values): string =>
  expandBy(text, (name) => valueOf(values, name) ?? '');

/** What has no value stays as it is, for whoever knows more. */
export const expandKnown = (text: string, values: Values): string =>
  expandBy(text, (name, whole) => valueOf(values, name) ?? whole);

/** Values that name others, each with them put in; of a circle, the names stay. `raw` ones are left alone. */
export const expandAll = (values: Values, raw: ReadonlySet<string>): Record<string, string> => {
  const done = new Map<string, string>();
  let grown = 0;
  const onTheWay = new Set<string>();
  const valueOfName = (name: string): string | undefined => {
    const value = valueOf(values, name);
    if (value === undefined || raw.has(name) || onTheWay.size > deepest || grown > mostGrown) return value;
    const known = done.get(name);
    if (known !== undefined) return known;
    onTheWay.add(name);
    const expanded = expandBy(value, (inner, whole) =>
      onTheWay.has(inner) ? whole : (valueOfName(inner) ?? whole),
    );
    onTheWay.delete(name);
    grown += expanded.length;
    done.set(name, expanded);
    return expanded;
  };
  return Object.fromEntries(Object.keys(values).map((name) => [name, valueOfName(name) ?? '']));
};
