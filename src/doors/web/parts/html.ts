import { escapeHtml } from '../../../platform/escape_html.ts';

/** A text, or its bytes in UTF-8. */
type Piece = string | Buffer;

/** Escaped HTML. Created only by `html`, `trusted` and `encode`. */
export class Html {
  /** Several where a part is encoded. */
  readonly #pieces: string | readonly Piece[];

  constructor(pieces: string | readonly Piece[]) {
    this.#pieces = pieces;
  }

  get text(): string {
    return typeof this.#pieces === 'string' ? this.#pieces : this.#pieces.map(String).join('');
  }

  /** Adds this to markup that is being written. */
  appendTo(output: Output): void {
    if (typeof this.#pieces === 'string') output.text += this.#pieces;
    else for (const piece of this.#pieces) appendPiece(piece, output);
  }

  /** Bytes of the encoded parts. */
  get byteLength(): number {
    if (typeof this.#pieces === 'string') return 0;
    return this.#pieces.reduce((sum, piece) => sum + (typeof piece === 'string' ? 0 : piece.length), 0);
  }

  /** The whole in UTF-8; a string where no part is encoded. */
  get body(): string | Buffer {
    if (typeof this.#pieces === 'string') return this.#pieces;
    return Buffer.concat(
      this.#pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)),
    );
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
  else for (const one of part) write(one, output);
};

/** Marks markup as safe: it comes from a library without input, or all of its input is escaped. */
export const trusted = (markup: string): Html => new Html(markup);

/** Encodes a large part once, for pages that show it again. */
export const encode = (part: Html): Html => {
  const { text } = part;
  // In memory of its own: a short buffer would keep a whole slab.
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return new Html([bytes]);
};

/**
 * Template tag that escapes its values, for text and quoted attributes. `Html` goes in unchanged, a list as its parts,
 * null and false as nothing.
 */
export const html = (texts: TemplateStringsArray, ...parts: Part[]): Html => {
  const output: Output = { text: texts[0] ?? '', pieces: [] };
  for (let at = 0; at < parts.length; at += 1) {
    write(parts[at], output);
    output.text += texts[at + 1] ?? '';
  }
  return new Html(output.pieces.length === 0 ? output.text : [...output.pieces, output.text]);
};
