import { escapeHtml } from '../../../platform/escape_html.ts';

/** Escaped HTML. Created only by `html` and `trusted`. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | null | undefined | false | readonly Part[];

const write = (part: Part): string => {
  if (part instanceof Html) return part.text;
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'string') return escapeHtml(part);
  if (typeof part === 'number') return String(part);
  let text = '';
  for (const one of part) text += write(one);
  return text;
};

/** Marks markup as safe: it comes from a library without input, or all of its input is escaped. */
export const trusted = (markup: string): Html => new Html(markup);

/**
 * Template tag that escapes its values, for text and quoted attributes. `Html` goes in unchanged, a list as its parts,
 * null and false as nothing.
 */
export const html = (texts: TemplateStringsArray, ...parts: Part[]): Html => {
  let text = texts[0] ?? '';
  for (let at = 0; at < parts.length; at += 1) text += write(parts[at]) + (texts[at + 1] ?? '');
  return new Html(text);
};
