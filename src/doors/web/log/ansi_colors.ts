/**
 * Converts terminal colors in a text to CSS classes. Everything else is escaped: the text adds no markup and no
 * styles.
 */
import { escapeHtml } from '../../../platform/escape_html.ts';

/** Style of text at a position; colors are 0 to 15, null for the default. */
export type Look = {
  front: number | null;
  back: number | null;
  bold: boolean;
  faint: boolean;
  italic: boolean;
  underlined: boolean;
  struck: boolean;
  inverse: boolean;
};

export const plainLook: Look = {
  front: null,
  back: null,
  bold: false,
  faint: false,
  italic: false,
  underlined: false,
  struck: false,
  inverse: false,
};

/** Red, green and blue of the 16 terminal colors. */
const palette: readonly (readonly [number, number, number])[] = [
  [0, 0, 0],
  [205, 0, 0],
  [0, 205, 0],
  [205, 205, 0],
  [0, 0, 238],
  [205, 0, 205],
  [0, 205, 205],
  [229, 229, 229],
  [127, 127, 127],
  [255, 0, 0],
  [0, 255, 0],
  [255, 255, 0],
  [92, 92, 255],
  [255, 0, 255],
  [0, 255, 255],
  [255, 255, 255],
];

/** Finds the nearest of the 16 colors, all of which are readable. */
const nearest = (red: number, green: number, blue: number): number => {
  const distances = palette.map(([r, g, b]) => (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2);
  return distances.indexOf(Math.min(...distances));
};

/** Maps one of 256 colors: the 16, a cube of 6 by 6 by 6, 24 greys. */
const ofMany = (index: number): number => {
  if (index < 16) return index;
  if (index > 231) return nearest(...grey(8 + (index - 232) * 10));
  const step = (at: number): number => (at === 0 ? 0 : 55 + at * 40);
  const at = index - 16;
  return nearest(step(Math.floor(at / 36)), step(Math.floor(at / 6) % 6), step(at % 6));
};

const grey = (value: number): [number, number, number] => [value, value, value];

const byte = (value: number | undefined): number => Math.min(Math.max(value ?? 0, 0), 255);

/** Parses `38;5;n` and `38;2;r;g;b`: the color, and how many numbers it took. */
const extended = (codes: readonly number[], at: number): { color: number | null; taken: number } => {
  const [kind, a, b, c] = codes.slice(at + 1, at + 5);
  if (kind === 5) return { color: ofMany(byte(a)), taken: 2 };
  if (kind === 2) return { color: nearest(byte(a), byte(b), byte(c)), taken: 4 };
  return { color: null, taken: codes.length };
};

const switches: Record<number, Partial<Look>> = {
  0: plainLook,
  1: { bold: true },
  2: { faint: true },
  3: { italic: true },
  4: { underlined: true },
  7: { inverse: true },
  9: { struck: true },
  21: { bold: false },
  22: { bold: false, faint: false },
  23: { italic: false },
  24: { underlined: false },
  27: { inverse: false },
  29: { struck: false },
  39: { front: null },
  49: { back: null },
};

const colored = (code: number): Partial<Look> => {
  if (code >= 30 && code <= 37) return { front: code - 30 };
  if (code >= 40 && code <= 47) return { back: code - 40 };
  if (code >= 90 && code <= 97) return { front: code - 82 };
  return code >= 100 && code <= 107 ? { back: code - 92 } : {};
};

/** Applies `ESC [ numbers m` to a style. */
const changed = (before: Look, numbers: string): Look => {
  const codes = numbers.split(/[;:]/).map(Number);
  let look = before;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const { color, taken } = extended(codes, at);
      look = { ...look, ...(code === 38 ? { front: color } : { back: color }) };
      at += taken;
    } else look = { ...look, ...(switches[code] ?? colored(code)) };
  }
  return look;
};

const classesOf = (look: Look): string => {
  const { front, back } = look;
  // The sheet shows bold text in dark colors as bright, as terminals do.
  const names = [
    front !== null && `f${front}`,
    back !== null && `b${back % 8}`,
    ...(['bold', 'faint', 'italic', 'underlined', 'struck', 'inverse'] as const).map(
      (name) => look[name] && name,
    ),
  ];
  return names.filter((name) => name !== false).join(' ');
};

// oxlint-disable-next-line no-control-regex -- this matches escape sequences
const control = /\x1b\[([0-9;:]*)m|\x1b\[[0-9;?<=>]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?/g;
// oxlint-disable-next-line no-control-regex -- all control characters but tabs, and bidirectional overrides
const unseen = /[\x00-\x08\x0a-\x1f\x7f\u202a-\u202e\u2066-\u2069]/g;

const span = (text: string, look: Look): string => {
  const seen = text.replace(unseen, '');
  if (seen === '') return '';
  const classes = classesOf(look);
  return classes === '' ? escapeHtml(seen) : `<span class="${classes}">${escapeHtml(seen)}</span>`;
};

/** Converts a piece of a line to markup. Also returns the style that continues after it. */
export const ansiMarkup = (text: string, before: Look): { markup: string; look: Look } => {
  if (!text.includes('\x1b')) return { markup: span(text, before), look: before };
  let [markup, look, from] = ['', before, 0];
  for (const match of text.matchAll(control)) {
    markup += span(text.slice(from, match.index), look);
    from = match.index + match[0].length;
    if (match[1] !== undefined) look = changed(look, match[1]);
  }
  return { markup: markup + span(text.slice(from), look), look };
};
