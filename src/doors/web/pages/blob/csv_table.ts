/** Shows a file of comma- or tab-separated values as a table. */
import { type Html, html } from '../../parts/html.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

const maxRows = 1_000;
const maxColumns = 100;
const maxCellCharacters = 1_000;

/** Returns the separator of a file by its name; null if it is not a table. */
export const separatorOf = (path: string): ',' | '\t' | null => {
  if (/\.csv$/i.test(path)) return ',';
  return /\.(?:tsv|tab)$/i.test(path) ? '\t' : null;
};

/** Files with semicolons are called CSV, too. */
const findSeparator = (path: string, text: string): string => {
  const separator = separatorOf(path) ?? ',';
  const first = text.slice(0, text.indexOf('\n') === -1 ? undefined : text.indexOf('\n'));
  return separator === ',' && !first.includes(',') && first.includes(';') ? ';' : separator;
};

type Table = { rows: string[][]; isCut: boolean };

/** Parses rows as RFC 4180 describes them: fields in quotes may have separators and line ends. Takes linear time. */
export const parseRows = (text: string, separator: string, limit: number): Table => {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  const end = text.length;
  const readQuoted = (): string => {
    let field = '';
    for (at += 1; at < end; at += 1) {
      const close = text.indexOf('"', at);
      if (close === -1) {
        field += text.slice(at);
        at = end;
        return field;
      }
      field += text.slice(at, close);
      at = close + 1;
      if (text[at] !== '"') return field;
      field += '"';
    }
    return field;
  };
  const readPlain = (): string => {
    const start = at;
    while (at < end && text[at] !== separator && text[at] !== '\n' && text[at] !== '\r') at += 1;
    return text.slice(start, at);
  };
  while (at < end && rows.length < limit) {
    const field = text[at] === '"' ? readQuoted() + readPlain() : readPlain();
    row.push(field);
    if (text[at] === separator) {
      at += 1;
      if (at < end) continue;
      row.push('');
    }
    if (text[at] === '\r' && text[at + 1] === '\n') at += 1;
    at += 1;
    rows.push(row);
    row = [];
  }
  return { rows, isCut: at < end };
};

const cell = (text = ''): string =>
  text.length > maxCellCharacters ? `${text.slice(0, maxCellCharacters)}…` : text;

/** Renders the table; its first row is the header. */
export const csvTable = (path: string, text: string): { content: Html; facts: string[] } => {
  const { rows, isCut } = parseRows(text, findSeparator(path, text), maxRows + 1);
  const [head = [], ...body] = rows;
  const width = Math.min(
    rows.reduce((most, row) => Math.max(most, row.length), 0),
    maxColumns,
  );
  const isWide = rows.some((row) => row.length > maxColumns);
  const columns = Array.from({ length: width }, (_column, at) => at);
  const limits = [isCut && `the first ${maxRows} rows`, isWide && `the first ${maxColumns} columns`].filter(
    (limit) => limit !== false,
  );
  const content = html`${limits.length > 0 && html`<p class="notice-line muted">This table shows ${limits.join(' and ')}. The source has all of them.</p>`}<div class="code-box" tabindex="0" role="region" aria-label="Table"><table class="data"><thead><tr><td class="n"></td>${columns.map((at) => html`<th scope="col">${cell(head[at])}</th>`)}</tr></thead><tbody>
${body.map(
  (row, index) =>
    html`<tr><td class="n">${index + 1}</td>${columns.map((at) => html`<td>${cell(row[at])}</td>`)}</tr>
`,
)}</tbody></table></div>`;
  return { content, facts: isCut ? [] : [spellCount(body.length, 'row')] };
};
