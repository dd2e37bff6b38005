import { escapeHtml } from '../../../platform/escape_html.ts';

/** A part that is rendered while the page is sent. */
class StreamedPart {
  readonly render: () => AsyncIterable<Html>;

  constructor(render: () => AsyncIterable<Html>) {
    this.render = render;
  }
}

/** A text, its bytes in UTF-8, or what is rendered later. */
type Piece = string | Buffer | StreamedPart;

const toText = (piece: Piece): string => {
  if (piece instanceof StreamedPart)
    throw new Error('a streamed part has no text: send the page as a stream');
  return String(piece);
};

/** Escaped HTML. Created only by `html`, `trusted`, `encode` and `streamed`. */
export class Html {
  /** Several where a part is encoded or streamed. */
  readonly #pieces: string | readonly Piece[];

  constructor(pieces: string | readonly Piece[]) {
    this.#pieces = pieces;
  }

  /** The whole as text; null if a part is encoded or streamed. */
  get plainText(): string | null {
    return typeof this.#pieces === 'string' ? this.#pieces : null;
  }

  get text(): string {
    return typeof this.#pieces === 'string' ? this.#pieces : this.#pieces.map(toText).join('');
  }

  /** Adds this to markup that is being written. */
  appendTo(output: Output): void {
    if (typeof this.#pieces === 'string') output.text += this.#pieces;
    else for (const piece of this.#pieces) appendPiece(piece, output);
  }

  /** Bytes of the encoded parts. */
  get byteLength(): number {
    if (typeof this.#pieces === 'string') return 0;
    return this.#pieces.reduce((sum, piece) => sum + (piece instanceof Buffer ? piece.length : 0), 0);
  }

  /** The whole in UTF-8; a string where no part is encoded. */
  get body(): string | Buffer {
    if (typeof this.#pieces === 'string') return this.#pieces;
    return Buffer.concat(
      this.#pieces.map((piece) => (piece instanceof Buffer ? piece : Buffer.from(toText(piece)))),
    );
  }

  /** True if a part is rendered while the page is sent. */
  get isStreamed(): boolean {
    return typeof this.#pieces !== 'string' && this.#pieces.some((piece) => piece instanceof StreamedPart);
  }

  /** Yields the markup in order; streamed parts are rendered as the reader takes them. */
  async *chunks(): AsyncGenerator<string | Buffer> {
    const pieces = typeof this.#pieces === 'string' ? [this.#pieces] : this.#pieces;
    for (const piece of pieces) {
      if (piece instanceof StreamedPart) for await (const part of piece.render()) yield* part.chunks();
      else if (piece.length > 0) yield piece;
    }
  }
}

/** Markup being written: the text after the last encoded part, and the pieces up to it. */
type Output = { text: string; pieces: Piece[] };

const appendPiece = (piece: Piece, output: Output): void => {
  if (typeof piece === 'string') {
    output.text += piece;
    return;
  }
  output.pieces.push(output.text, piece);
  output.text = '';
};

type Part = string | number | Html | null | undefined | false | readonly Part[];

const write = (part: Part, output: Output): void => {
  if (part === null || part === undefined || part === false) return;
  if (part instanceof Html) part.appendTo(output);
  else if (typeof part === 'string') output.text += escapeHtml(part);
  else if (typeof part === 'number') output.text += String(part);
  else for (const item of part) write(item, output);
};

/** Returns the markup of a part; null if a piece of it is encoded or streamed. */
const toMarkup = (part: Part): string | null => {
  if (typeof part === 'string') return escapeHtml(part);
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Html) return part.plainText;
  if (typeof part === 'number') return String(part);
  let text = '';
  for (const one of part) {
    const markup = toMarkup(one);
    if (markup === null) return null;
    text += markup;
  }
  return text;
};

/** Writes the parts from one on, some of which are encoded or streamed. @param text the markup before it */
const writePieces = (
  text: string,
  texts: TemplateStringsArray,
  parts: readonly Part[],
  from: number,
): Html => {
  const output: Output = { text, pieces: [] };
  for (let at = from; at < parts.length; at += 1) {
    write(parts[at], output);
    output.text += texts[at + 1] ?? '';
  }
  return new Html(output.pieces.length === 0 ? output.text : [...output.pieces, output.text]);
};

/** Marks markup as safe: it comes from a library without input, or all of its input is escaped. */
export const trusted = (markup: string): Html => new Html(markup);

/** Encodes a large part once, for pages that show it again. */
export const encode = (part: Html): Html => {
  const { text } = part;
  // In separate memory: a short buffer would keep a whole slab.
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return new Html([bytes]);
};

/** Marks a part that is rendered while the page is sent, so that the content before it is not delayed. */
export const streamed = (render: () => AsyncIterable<Html>): Html => new Html([new StreamedPart(render)]);

/**
 * Template tag that escapes its values, for text and quoted attributes. `Html` goes in unchanged, a list as its parts,
 * null and false as nothing.
 */
export const html = (texts: TemplateStringsArray, ...parts: Part[]): Html => {
  let text = texts[0] ?? '';
  // Most parts are all text: a page has a thousand of them.
  for (let at = 0; at < parts.length; at += 1) {
    const markup = toMarkup(parts[at]);
    if (markup === null) return writePieces(text, texts, parts, at);
    text += markup + (texts[at + 1] ?? '');
  }
  return new Html(text);
};
