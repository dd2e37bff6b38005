/** Renders a badge with two fields as SVG. Pure. */

import { escapeHtml } from '../../../platform/escape_html.ts';

/** Estimates the width of a text in 11 px Verdana, in pixels. */
const estimateTextWidth = (text: string): number => {
  const widths = [...text].map((one) =>
    /[ijl!'.,:;|I[\]() ]/.test(one) ? 4 : /[mwMW%@]/.test(one) ? 10 : 7,
  );
  return widths.reduce((sum, width) => sum + width, 0);
};

/** Removes characters that XML does not allow. */
// oxlint-disable-next-line no-control-regex -- control characters are removed on purpose
const withoutControls = (text: string): string => text.replace(/[\u0000-\u001f\u007f\ufffe\uffff]/g, '');

export type Badge = {
  key: string;
  value: string;
  /** `#4c1` */
  color: string;
  /** Width of the left field in pixels. */
  keyWidth?: number | undefined;
  isSquare?: boolean;
};

const padding = 10;

const textElement = (text: string, middle: number): string =>
  `<text x="${middle}" y="15" fill="#010101" fill-opacity=".3">${text}</text>` +
  `<text x="${middle}" y="14">${text}</text>`;

export const badgeSvg = ({ key, value, color, keyWidth, isSquare = false }: Badge): string => {
  const [keyWidthPixels, valueWidthPixels] = [
    keyWidth ?? estimateTextWidth(key) + padding,
    estimateTextWidth(value) + padding,
  ];
  const width = keyWidthPixels + valueWidthPixels;
  const [title, label] = [escapeHtml(withoutControls(key)), escapeHtml(withoutControls(value))];
  const corners = isSquare ? '' : ' rx="3"';
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${title}: ${label}">` +
    `<title>${title}: ${label}</title>` +
    '<linearGradient id="b" x2="0" y2="100%"><stop offset="0" stop-color="#bbb" stop-opacity=".1"/>' +
    '<stop offset="1" stop-opacity=".1"/></linearGradient>' +
    `<clipPath id="a"><rect width="${width}" height="20"${corners} fill="#fff"/></clipPath>` +
    `<g clip-path="url(#a)"><path fill="#555" d="M0 0h${keyWidthPixels}v20H0z"/>` +
    `<path fill="${color}" d="M${keyWidthPixels} 0h${valueWidthPixels}v20H${keyWidthPixels}z"/>` +
    `${isSquare ? '' : `<path fill="url(#b)" d="M0 0h${width}v20H0z"/>`}</g>` +
    '<g fill="#fff" text-anchor="middle" font-family="DejaVu Sans,Verdana,Geneva,sans-serif" font-size="11">' +
    `${textElement(title, keyWidthPixels / 2)}${textElement(label, keyWidthPixels + valueWidthPixels / 2)}</g></svg>`
  );
};
