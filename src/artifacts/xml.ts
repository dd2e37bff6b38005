/**
 * Reads the XML of reports, element by element, in one pass. Entities but the five of XML are left as they are and a
 * document type is passed over, so nothing of a document can grow or be fetched.
 */
export type XmlHandler = {
  open: (name: string, attributes: ReadonlyMap<string, string>) => void;
  close: (name: string) => void;
  text: (text: string) => void;
};

/** What is wrong, and where. */
export class XmlFault extends Error {
  constructor(what: string, text: string, at: number) {
    super(`${what} at line ${text.slice(0, at).split('\n').length}`);
    this.name = 'XmlFault';
  }
}

const deepest = 100;
const mostAttributes = 100;

const opening = /<([^\s<>/"'=!?]+)/y;
const attribute = /\s+([^\s<>/"'=]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const ending = /\s*(\/?)>/y;
const closing = /<\/([^\s<>/"'=]+)\s*>/y;

const named: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

const characterOf = (whole: string, code: number): string =>
  code > 0 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff)
    ? String.fromCodePoint(code)
    : whole;

const decoded = (text: string): string =>
  text.includes('&')
    ? text.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{1,10}));/g, (whole, ten, sixteen, name) => {
        if (ten !== undefined) return characterOf(whole, Number(ten));
        if (sixteen !== undefined) return characterOf(whole, Number.parseInt(sixteen, 16));
        return named[name] ?? whole;
      })
    : text;

/** What is passed over, or taken as it stands: how it begins and ends. */
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

/** @returns whether there was one */
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

/** What stands in its brackets ends with the first that closes: what is passed over is looked at once. */
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
  if (whole === '' || name !== expected) throw new XmlFault(`</${name}> closes what is not open`, text, at);
  handler.close(name);
  reading.at += whole.length;
  return true;
};

const readAttributes = (reading: Reading): Map<string, string> => {
  const found = new Map<string, string>();
  for (let one = matchAt(attribute, reading); one !== null; one = matchAt(attribute, reading)) {
    const [whole, name = '', double, single = ''] = one;
    if (found.size >= mostAttributes) throw new XmlFault('too many attributes', reading.text, reading.at);
    found.set(name, decoded(double ?? single));
    reading.at += whole.length;
  }
  return found;
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
  if (open.length >= deepest) throw new XmlFault('too many elements in each other', text, at);
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
 * One document, or several one after another.
 * @throws XmlFault
 */
export const readXml = (text: string, handler: XmlHandler): void => {
  const reading: Reading = { text, at: 0, open: [], handler };
  while (reading.at < text.length) {
    if (text[reading.at] !== '<') readText(reading);
    else if (!readBlock(reading) && !readDoctype(reading) && !readClosing(reading)) readOpening(reading);
  }
  const left = reading.open.at(-1);
  if (left !== undefined) throw new XmlFault(`<${left}> is not closed`, text, text.length);
};
