/** Renders a part of a job's log: lines with links, and sections that fold and show their durations. */
import { parseTraceLine } from '../../../ci/artifacts/traces/line_timestamp.ts';
import { type Html, trusted } from '../parts/html.ts';
import { type Look, ansiMarkup, plainLook } from './ansi_colors.ts';
import { trimEnd } from '../../../platform/trim.ts';

// oxlint-disable-next-line no-control-regex -- a section mark ends with an erase-line sequence
const mark = /section_(start|end):(\d{1,12}):([\w.-]{1,255})(?:\[([^\]\r]{0,255})\])?\r(?:\x1b\[0?K)?/g;
const deepest = 16;

export type LogPart = {
  /** Whole lines, except the last. */
  text: string;
  /** Number of the first line. */
  line: number;
  /** The part is the whole log. */
  isWhole: boolean;
  /** Shows the time of each line, if the runner wrote it. */
  showsTimes: boolean;
};

/** A line of the log, of one or more lines of its text. */
type Line = { text: string; time: string | null };

type Section = {
  name: string;
  began: number;
  /** Where the duration is inserted once it is known; -1: it is not shown. */
  slot: number;
};

/** `1:05`, `1:00:05` */
const clock = (seconds: number): string => {
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = two(seconds % 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
};

/** Returns the text after the last carriage return that does not end the line. */
const lastWritten = (text: string): string => {
  const ended = trimEnd(text, '\r');
  return ended.slice(ended.lastIndexOf('\r') + 1);
};

class Writer {
  readonly #parts: string[] = [];
  readonly #sections: Section[] = [];
  readonly #isWhole: boolean;
  readonly #showsTimes: boolean;
  #look: Look = plainLook;
  #line: number;
  #time: string | null = null;
  /** The current line has its number and link already. */
  #isNamed = false;

  constructor({ line, isWhole, showsTimes }: LogPart) {
    this.#line = line;
    this.#isWhole = isWhole;
    this.#showsTimes = showsTimes;
  }

  #text(text: string): string {
    const { markup, look } = ansiMarkup(lastWritten(text), this.#look);
    this.#look = look;
    return markup;
  }

  #id(): string {
    const id = this.#isNamed ? '' : ` id="L${this.#line}"`;
    this.#isNamed = true;
    return id;
  }

  /** Renders the cell of the time; the pattern of a timestamp lets nothing in that needs escaping. */
  #timeCell(): string {
    const time = this.#showsTimes ? this.#time : null;
    return time === null ? '' : `<time datetime="${time}">${time.slice(11, 19)}</time>`;
  }

  #open([, , time, name = '', options = '']: RegExpExecArray, header: string): void {
    const words = options.split(',');
    const shown = header.trim() === '' ? name.replaceAll('_', ' ') : header;
    const open = words.includes('collapsed=true') ? '' : ' open';
    this.#parts.push(
      `<details${open}><summary class="line"${this.#id()}><b>${this.#line}</b>${this.#timeCell()}<span>`,
    );
    this.#parts.push(this.#text(shown), '</span>', '', '</summary>\n');
    const slot = words.includes('hide_duration=true') ? -1 : this.#parts.length - 2;
    this.#sections.push({ name, began: Number(time), slot });
  }

  /** Ends the section and open sections within it. Ignores an end without a start. */
  #close([, , time, name]: RegExpExecArray): void {
    if (!this.#sections.some((one) => one.name === name)) return;
    for (let ended = this.#sections.pop(); ended !== undefined; ended = this.#sections.pop()) {
      this.#parts.push('</details>\n');
      const seconds = Math.max(0, Number(time) - ended.began);
      if (ended.slot !== -1) this.#parts[ended.slot] = `<time>${clock(seconds)}</time>`;
      if (ended.name === name) return;
    }
  }

  #plain(text: string): void {
    const line = this.#line;
    const address = this.#isWhole ? '' : `?line=${line}`;
    const link = `<a href="${address}#L${line}" aria-label="Line ${line}">${line}</a>`;
    this.#parts.push(`<div class="line"${this.#id()}>${link}${this.#timeCell()}<span>`);
    this.#parts.push(this.#text(text), '</span></div>\n');
  }

  /** Adds a line. @param count number of source lines */
  add({ text: line, time }: Line, count: number): void {
    this.#time = time;
    const marks = line.includes('section_') ? [...line.matchAll(mark)] : [];
    let [from, isHeader] = [0, false];
    for (const [at, found] of marks.entries()) {
      const before = line.slice(from, found.index);
      if (!isHeader && before.trim() !== '') this.#plain(before);
      from = found.index + found[0].length;
      const header = line.slice(from, marks[at + 1]?.index);
      isHeader = found[1] === 'start' && this.#sections.length < deepest;
      if (isHeader) this.#open(found, header);
      else if (found[1] === 'end') this.#close(found);
    }
    const rest = line.slice(from);
    if (!isHeader && (marks.length === 0 || rest.trim() !== '')) this.#plain(rest);
    this.#line += count;
    this.#isNamed = false;
  }

  end(): Html {
    return trusted(this.#parts.join('') + '</details>'.repeat(this.#sections.length));
  }
}

/** Joins lines that continue others. */
const joinLines = function* joinLines(text: string): Generator<{ line: Line; count: number }> {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  let [held, count]: [Line | null, number] = [null, 0];
  for (const raw of lines) {
    const { continuesLine, ...line } = parseTraceLine(raw);
    if (held !== null && continuesLine) held.text += line.text;
    else {
      if (held !== null) yield { line: held, count };
      [held, count] = [line, 0];
    }
    count += 1;
  }
  if (held !== null) yield { line: held, count };
};

export const logMarkup = (part: LogPart): Html => {
  const writer = new Writer(part);
  for (const { line, count } of joinLines(part.text)) writer.add(line, count);
  return writer.end();
};
