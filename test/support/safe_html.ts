/**
 * Checks the HTML of a text from outside: every character belongs to a tag of the list, or is escaped text. It shares
 * no code with what writes the HTML.
 */

const tags = new Set(
  (
    'a abbr b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 ' +
    'hr i img input ins kbd li mark ol p pre q rp rt ruby s samp section small span strike strong sub summary sup table ' +
    'tbody td tfoot th thead time tr tt u ul var wbr'
  ).split(' '),
);

/** Elements of MathML that neither link nor act nor contain HTML. */
const formulaTags = new Set(
  (
    'math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle msub ' +
    'msubsup msup mtable mtd mtext mtr munder munderover none'
  ).split(' '),
);

/** Attributes of these elements: plain words and lengths. */
const formulaValue = /^[\w.#% +-]*$/;

const attributes = new Set(
  (
    'id title lang dir class align colspan rowspan scope start reversed value open datetime href rel src alt width ' +
    'height loading type disabled checked data-line aria-label'
  ).split(' '),
);

const schemes = new Set(['http:', 'https:', 'mailto:', 'tel:', 'ftp:', 'irc:', 'ircs:', 'xmpp:']);

const decode = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

const findAttributeFault = (tag: string, name: string, value: string, origin: string): string | null => {
  if (!attributes.has(name)) return `attribute ${name}`;
  if (name === 'id' && !value.startsWith('user-content-')) return `id ${value}`;
  if (name !== 'href' && name !== 'src') return null;
  const url = URL.parse(decode(value), `${origin}/group/project/-/issues/1`);
  if (url === null) return `address ${value}`;
  if (!schemes.has(url.protocol)) return `scheme ${url.protocol}`;
  return tag === 'img' && url.origin !== origin ? `image of ${url.origin}` : null;
};

const findFormulaFault = (name: string, value: string): string | null =>
  /^(?:href|src|id|class|style|on.*|xmlns|encoding|actiontype)$/.test(name) || !formulaValue.test(value)
    ? `attribute ${name} of a formula`
    : null;

/** Returns what is wrong with the HTML; null: nothing. @param origin images come from it alone */
export const findUnsafeMarkup = (html: string, origin: string): string | null => {
  const piece = /[^<>]+|<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>/gy;
  while (piece.lastIndex < html.length) {
    const at = piece.lastIndex;
    const match = piece.exec(html);
    if (match === null) return `markup at ${html.slice(at, at + 80)}`;
    const [, close, tag, written = ''] = match;
    if (tag === undefined) continue;
    if (!tags.has(tag) && !formulaTags.has(tag)) return `element ${tag}`;
    if (close === '/' && written !== '') return `closing tag with attributes`;
    for (const [, name = '', value = ''] of written.matchAll(/ ([a-z-]+)(?:="([^"<>]*)")?/g)) {
      const fault = formulaTags.has(tag)
        ? findFormulaFault(name, value)
        : findAttributeFault(tag, name, value, origin);
      if (fault !== null) return fault;
    }
  }
  return null;
};
