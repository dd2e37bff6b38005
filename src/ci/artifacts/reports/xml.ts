/**
 * Parses the XML of reports, element by element, in one pass. It expands only the five built-in entities and ignores
 * the DOCTYPE, so documents cannot expand entities or load external entities. It accepts concatenated documents and
 * terminal escapes in text, which strict parsers refuse (docs/decisions/0035-own-report-reader.md).
 */
export type XmlHandler = {
  open: (name: string, attributes: ReadonlyMap<string, string>) => void;
  close: (name: string) => void;
  text: (text: string) => void;
};

/** A syntax error and its position. */
export class XmlFault extends Error {
  constructor(what: string, text: string, at: number) {
    super(`${what} at line ${text.slice(0, at).split('\n').length}`);
    this.name = 'XmlFault';
  }
}

const maxDepth = 100;
const maxAttributes = 100;

const opening = /<([^\s<>/"'=!?]+)/y;
const attribute = /\s+([^\s<>/"'=]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const ending = /\s*(\/?)>/y;
const closing = /<\/([^\s<>/"'=]+)\s*>/y;

const named: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

const decodeEntity = (whole: string, code: number): string =>
  code > 0 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff)
    ? String.fromCodePoint(code)
    : whole;

const decoded = (text: string): string =>
  text.includes('&')
    ? text.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{1,10}));/g, (whole, ten, sixteen, name) => {
        if (ten !== undefined) return decodeEntity(whole, Number(ten));
        if (sixteen !== undefined) return decodeEntity(whole, Number.parseInt(sixteen, 16));
        return named[name] ?? whole;
      })
    : text;

/** Delimiters of blocks that are skipped or taken as text. */
const blocks = [
  { start: '<!--', end: '-->', isText: false },
  { start: '<![CDATA[', end: ']]>', isText: true },
  { start: '<?', end: '?>', isText: false },
] as const;

type Reading = { text: string; at: number; open: string[]; handler: XmlHandler };

const matchAt = (pattern: RegExp, { text, at }: Reading): RegExpExecArray | null => {
  pattern.lastIndex = at;
  return pattern.exec(text);
};

/** @returns whether a block was read */
const readBlock = (reading: Reading): boolean => {
  const { text, at, handler } = reading;
  const block = blocks.find(({ start }) => text.startsWith(start, at));
  if (block === undefined) return false;
  const end = text.indexOf(block.end, at + block.start.length);
  if (end === -1) throw new XmlFault(`${block.start} has no end`, text, at);
  if (block.isText) handler.text(text.slice(at + block.start.length, end));
  reading.at = end + block.end.length;
  return true;
};

/** Matches a declaration. An internal subset ends at its first `]`, so the match takes linear time. */
const declaration = /<!(?:[^>[]*|[^>[]*\[[^\]]*\][^>]*)>/y;

const readDoctype = (reading: Reading): boolean => {
  const { text, at } = reading;
  if (!text.startsWith('<!', at)) return false;
  const [whole] = matchAt(declaration, reading) ?? [];
  if (whole === undefined) throw new XmlFault('a declaration has no end', text, at);
  reading.at += whole.length;
  return true;
};

const readClosing = (reading: Reading): boolean => {
  const { text, at, open, handler } = reading;
  if (!text.startsWith('</', at)) return false;
  const [whole = '', name = ''] = matchAt(closing, reading) ?? [];
  const expected = open.pop();
  if (whole === '' || name !== expected)
    throw new XmlFault(`</${name}> closes an element that is not open`, text, at);
  handler.close(name);
  reading.at += whole.length;
  return true;
};

const readAttributes = (reading: Reading): Map<string, string> => {
  const values = new Map<string, string>();
  for (let match = matchAt(attribute, reading); match !== null; match = matchAt(attribute, reading)) {
    const [whole, name = '', double, single = ''] = match;
    if (values.size >= maxAttributes) throw new XmlFault('too many attributes', reading.text, reading.at);
    values.set(name, decoded(double ?? single));
    reading.at += whole.length;
  }
  return values;
};

const readOpening = (reading: Reading): void => {
  const { text, at, open, handler } = reading;
  const [whole, name = ''] = matchAt(opening, reading) ?? [];
  if (whole === undefined) throw new XmlFault('a tag has no name', text, at);
  reading.at += whole.length;
  const attributes = readAttributes(reading);
  const [end, slash] = matchAt(ending, reading) ?? [];
  if (end === undefined) throw new XmlFault(`<${name}> has no end`, text, at);
  reading.at += end.length;
  if (open.length >= maxDepth) throw new XmlFault('too many elements in each other', text, at);
  handler.open(name, attributes);
  if (slash === '/') handler.close(name);
  else open.push(name);
};

const readText = (reading: Reading): void => {
  const { text, at, open, handler } = reading;
  const next = text.indexOf('<', at);
  const end = next === -1 ? text.length : next;
  const plain = text.slice(at, end);
  if (open.length > 0) handler.text(decoded(plain));
  else if (plain.replaceAll('\u{feff}', '').trim() !== '')
    throw new XmlFault('text outside of all elements', text, at);
  reading.at = end;
};

/**
 * Parses one document, or several concatenated documents.
 * @throws XmlFault
 */
export const readXml = (text: string, handler: XmlHandler): void => {
  const reading: Reading = { text, at: 0, open: [], handler };
  while (reading.at < text.length) {
    if (text[reading.at] !== '<') readText(reading);
    else if (!readBlock(reading) && !readDoctype(reading) && !readClosing(reading)) readOpening(reading);
  }
  const top = reading.open.at(-1);
  if (top !== undefined) throw new XmlFault(`<${top}> is not closed`, text, text.length);
};
