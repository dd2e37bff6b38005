const voids = new Set([
  'br',
  'hr',
  'img',
  'input',
  'wbr',
  'area',
  'base',
  'col',
  'embed',
  'link',
  'meta',
  'source',
]);

const tag = /<(\/?)([a-z][^\s/>]*)/gi;

/**
 * Returns whether more than `limit` elements are open at the same time in unsanitized HTML. The sanitizer takes
 * quadratic time for them. Counts at least as many as it would: a closing tag closes one element of its name.
 */
export const isNestedDeeper = (html: string, limit: number): boolean => {
  const open = new Map<string, number>();
  let depth = 0;
  for (const [, slash, written = ''] of html.matchAll(tag)) {
    const name = written.toLowerCase();
    if (voids.has(name)) continue;
    const count = open.get(name) ?? 0;
    if (slash === '/' && count === 0) continue;
    const step = slash === '/' ? -1 : 1;
    open.set(name, count + step);
    depth += step;
    if (depth > limit) return true;
  }
  return false;
};
