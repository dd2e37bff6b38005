/** Adds unchanged lines around the hunks of a diff, and tells where more are hidden. Pure. */
import type { LineRange } from './line_ranges.ts';
import type { DiffRow } from './parse_lines.ts';

type Given = {
  /** Lines of the new file; null: they were not read, so none are added. */
  lines: readonly string[] | null;
  /** Lines to show, by their numbers in the new file. */
  ranges: readonly LineRange[] | 'all';
};

/** Unchanged lines that git puts around a change, if there are so many. */
const contextLines = 3;

/** Tells whether the file may go on after the last hunk: at its end, a hunk has less context. */
const mayGoOn = (rows: readonly DiffRow[]): boolean =>
  rows.length > contextLines && rows.slice(-contextLines).every(({ kind }) => kind === 'same');

class Expansion {
  readonly rows: DiffRow[] = [];
  /** Numbers of the next line. */
  #old = 1;
  #new = 1;
  readonly #given: Given;

  constructor(given: Given) {
    this.#given = given;
  }

  #isShown(line: number): boolean {
    const { ranges } = this.#given;
    return ranges === 'all' || ranges.some(([from, to]) => from <= line && line <= to);
  }

  /** Adds what is between two hunks: lines that are shown, and a row for those that are not. */
  addGap(end: number, header: string): void {
    const { lines } = this.#given;
    if (lines === null) {
      if (header !== '' || end > this.#new) this.#addHidden(this.#new, end, header);
      return;
    }
    let hiddenFrom = this.#new;
    for (let line = this.#new; line < end; line += 1) {
      if (!this.#isShown(line)) continue;
      if (line > hiddenFrom) this.#addHidden(hiddenFrom, line, '');
      const old = line + this.#old - this.#new;
      this.rows.push({ kind: 'same', old, new: line, text: lines[line - 1] ?? '', isExpanded: true });
      hiddenFrom = line + 1;
    }
    if (end > hiddenFrom) this.#addHidden(hiddenFrom, end, header);
  }

  #addHidden(from: number, end: number, text: string): void {
    this.rows.push({ kind: 'hunk', text, ...(end > from && { hidden: { from, to: end - 1 } }) });
  }

  addLine(row: Exclude<DiffRow, { kind: 'hunk' | 'note' }>): void {
    this.#old = row.old + (row.kind === 'add' ? 0 : 1);
    this.#new = row.new + (row.kind === 'del' ? 0 : 1);
    this.rows.push(row);
  }

  /** Adds what follows the last hunk. */
  addEnd(rows: readonly DiffRow[]): void {
    const { lines } = this.#given;
    if (lines !== null) this.addGap(lines.length + 1, '');
    else if (mayGoOn(rows)) this.rows.push({ kind: 'hunk', text: '', hidden: { from: this.#new, to: null } });
  }
}

/** Adds the unchanged lines of the ranges; rows of hunks tell which lines are still hidden. */
export const expandRows = (rows: readonly DiffRow[], given: Given): DiffRow[] => {
  const expansion = new Expansion(given);
  let header: string | null = null;
  for (const row of rows) {
    if (row.kind === 'hunk') header = row.text;
    else if (row.kind === 'note') expansion.rows.push(row);
    else {
      if (header !== null) expansion.addGap(row.new, header);
      header = null;
      expansion.addLine(row);
    }
  }
  expansion.addEnd(rows);
  return expansion.rows;
};
