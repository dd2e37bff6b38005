/** HTML that has been escaped where it had to be. Made by `html`, and by `trusted` alone. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | null | undefined | false | readonly Part[];

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For writers that are too many for templates, such as the lines of a log. */
export const escapeText = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (mark) => entities[mark] ?? mark);

const write = (part: Part): string => {
  if (part instanceof Html) return part.text;
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeText(String(part));
  return part.map(write).join('');
};

/** Markup that a library made and that holds nothing from outside, or in which all of that is escaped. */
export const trusted = (markup: string): Html => new Html(markup);

/**
 * A template whose values are escaped, for text and for quoted attributes. What is `Html` already goes in as it
 * is, a list as its parts, null and false as nothing.
 */
export const html = (texts: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(String.raw({ raw: texts }, ...parts.map(write)));
