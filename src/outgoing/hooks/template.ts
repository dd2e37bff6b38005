/** Templates of payloads: JSON with placeholders such as `{{project.name}}`, which insert payload values. */

type Part = { text: string } | { path: string[]; isInText: boolean };

const placeholder = /\{\{\s*([\w-]+(?:\.[\w-]+)*)\s*\}\}/g;

/** Returns whether a text ends within a JSON string, given whether it starts in one. */
const endsInString = (text: string, startsInString: boolean): boolean => {
  let isInside = startsInString;
  for (let at = 0; at < text.length; at += 1) {
    if (isInside && text[at] === '\\') at += 1;
    else if (text[at] === '"') isInside = !isInside;
  }
  return isInside;
};

const split = (template: string): Part[] => {
  const parts: Part[] = [];
  let [at, isInText] = [0, false];
  for (const match of template.matchAll(placeholder)) {
    const text = template.slice(at, match.index);
    isInText = endsInString(text, isInText);
    parts.push({ text }, { path: (match[1] ?? '').split('.'), isInText });
    at = match.index + match[0].length;
  }
  return [...parts, { text: template.slice(at) }];
};

const valueAt = (payload: unknown, path: readonly string[]): unknown => {
  let value = payload;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
};

const renderParts = (parts: readonly Part[], payload: unknown): string =>
  parts
    .map((part) => {
      if ('text' in part) return part.text;
      const value = valueAt(payload, part.path);
      if (!part.isInText) return JSON.stringify(value ?? null);
      const text =
        typeof value === 'string'
          ? value
          : value === undefined || value === null
            ? ''
            : JSON.stringify(value);
      return JSON.stringify(text).slice(1, -1);
    })
    .join('');

/** Parses a template. Returns null if it would not be JSON. */
export const parseTemplate = (template: string): ((payload: unknown) => string) | null => {
  const parts = split(template);
  try {
    JSON.parse(renderParts(parts, {}));
  } catch {
    return null;
  }
  return (payload) => renderParts(parts, payload);
};
