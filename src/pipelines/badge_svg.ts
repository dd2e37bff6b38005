/** The little sign with two fields that a project shows of itself. Pure. */

/** How wide each character of 11 pixels of Verdana is, about: narrow ones, wide ones, all others. */
const widthOf = (text: string): number => {
  const widths = [...text].map((one) =>
    /[ijl!'.,:;|I[\]() ]/.test(one) ? 4 : /[mwMW%@]/.test(one) ? 10 : 7,
  );
  return widths.reduce((sum, width) => sum + width, 0);
};

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escape = (text: string): string => text.replace(/[&<>"']/g, (one) => escapes[one] ?? one);

/** What an XML document may not have at all. */
// oxlint-disable-next-line no-control-regex -- these are meant
const withoutControls = (text: string): string => text.replace(/[\u0000-\u001f\u007f\ufffe\uffff]/g, '');

export type Badge = {
  key: string;
  value: string;
  /** `#4c1` */
  color: string;
  /** Of the first field, in pixels. */
  keyWidth?: number | undefined;
  isSquare?: boolean;
};

const room = 10;

const words = (text: string, middle: number): string =>
  `<text x="${middle}" y="15" fill="#010101" fill-opacity=".3">${text}</text>` +
  `<text x="${middle}" y="14">${text}</text>`;

export const badgeSvg = ({ key, value, color, keyWidth, isSquare = false }: Badge): string => {
  const [left, right] = [keyWidth ?? widthOf(key) + room, widthOf(value) + room];
  const width = left + right;
  const [title, said] = [escape(withoutControls(key)), escape(withoutControls(value))];
  const round = isSquare ? '' : ' rx="3"';
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${title}: ${said}">` +
    `<title>${title}: ${said}</title>` +
    '<linearGradient id="b" x2="0" y2="100%"><stop offset="0" stop-color="#bbb" stop-opacity=".1"/>' +
    '<stop offset="1" stop-opacity=".1"/></linearGradient>' +
    `<clipPath id="a"><rect width="${width}" height="20"${round} fill="#fff"/></clipPath>` +
    `<g clip-path="url(#a)"><path fill="#555" d="M0 0h${left}v20H0z"/>` +
    `<path fill="${color}" d="M${left} 0h${right}v20H${left}z"/>` +
    `${isSquare ? '' : `<path fill="url(#b)" d="M0 0h${width}v20H0z"/>`}</g>` +
    '<g fill="#fff" text-anchor="middle" font-family="DejaVu Sans,Verdana,Geneva,sans-serif" font-size="11">' +
    `${words(title, left / 2)}${words(said, left + right / 2)}</g></svg>`
  );
};
