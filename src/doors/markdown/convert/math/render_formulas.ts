/** Renders formulas in TeX as MathML. Loaded in the worker thread only, for texts with formulas. */
import sanitizeHtml from 'sanitize-html';
import temml from 'temml';
import type { RenderFormula } from './parse_formulas.ts';

/** Characters of the longest formula, and of all formulas of a text together; others stay as they were written. */
const maxCharacters = 2_000;
const maxCharactersOfText = 10_000;
/** Characters of the longest result. */
const maxResult = 64 * 1024;

const limits = { throwOnError: true, trust: false, maxExpand: 200, maxSize: [20, 20] as [number, number] };

/** Elements of MathML that show something, without those that link, act, or contain HTML. */
const elements =
  'math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle ' +
  'msub msubsup msup mtable mtd mtext mtr munder munderover none';

const attributes =
  'accent accentunder columnalign columnlines columnspacing columnspan depth display displaystyle fence form height ' +
  'largeop linethickness lspace mathbackground mathcolor mathvariant maxsize minsize movablelimits notation rowalign ' +
  'rowlines rowspacing rowspan rspace scriptlevel separator stretchy symmetric voffset width';

const options: Parameters<typeof sanitizeHtml>[1] = {
  allowedTags: elements.split(' '),
  allowedAttributes: { '*': attributes.split(' ') },
  allowedClasses: {},
  allowedSchemes: [],
  allowedSchemesAppliedToAttributes: [],
  allowProtocolRelative: false,
  disallowedTagsMode: 'discard',
  nonTextTags: [
    'script',
    'style',
    'textarea',
    'option',
    'xmp',
    'noscript',
    'noembed',
    'noframes',
    'template',
    'title',
  ],
  nestingLimit: 100,
  parseStyleAttributes: false,
};

const render = (tex: string, displayMode: boolean): string | null => {
  try {
    const html = temml.renderToString(tex, { ...limits, displayMode, macros: {} });
    return html.length > maxResult ? null : sanitizeHtml(html, options);
  } catch {
    // It is no TeX, needs an element that is not trusted, or is nested too deeply.
    return null;
  }
};

/** Makes the renderer of one text. */
export const makeFormulaRenderer = (): RenderFormula => {
  let left = maxCharactersOfText;
  return (tex, isDisplay) => {
    if (tex.length > Math.min(maxCharacters, left)) return null;
    left -= tex.length;
    return render(tex, isDisplay);
  };
};
