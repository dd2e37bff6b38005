/**
 * Lines of code: `#L10-20` marks lines, a click with shift marks a range. A part of a longer file is on another page of
 * it: `data-lines` says how many are on each.
 */
const hashPattern = /^#L(\d+)(?:-L?(\d+))?$/;

const readRange = (): [number, number] | null => {
  const [, first, last] = hashPattern.exec(location.hash) ?? [];
  if (first === undefined) return null;
  const [a, b] = [Number(first), Number(last ?? first)];
  return [Math.min(a, b), Math.max(a, b)];
};

const rowAt = (line: number): HTMLElement | null => document.querySelector<HTMLElement>(`#L${line}`);

/** Loads the page of the file that has the line. */
const openPageOf = (table: HTMLElement, line: number): void => {
  const size = Number(table.dataset['lines']);
  if (!(size > 0) || line > Number(table.dataset['total'])) return;
  const url = new URL(location.href);
  url.searchParams.set('page', String(Math.ceil(line / size)));
  location.replace(url);
};

/** Characters of code that an address of a form carries. */
const maxQuoted = 3_000;
/** Characters of an address: the service takes 8 KB. */
const maxAddress = 6_000;

const quoteCode = (code: string, most: number): string => {
  const fence = '`'.repeat(Math.max(3, ...[...code.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  const text = code.length > most ? `${code.slice(0, most)}\n…` : code;
  return `${fence}\n${text}\n${fence}\n`;
};

/** Returns the address of a form for an issue that quotes lines, as many as fit: some letters take nine characters. */
const issueAddress = (link: HTMLAnchorElement, name: string, permalink: string, code: string): string => {
  const url = new URL(link.href);
  const title = `${link.dataset['lineIssue'] ?? ''}: ${name.toLowerCase()}`;
  let most = maxQuoted;
  do {
    const description = `${permalink}\n\n${quoteCode(code, most)}`;
    url.search = new URLSearchParams({ 'issue[title]': title, 'issue[description]': description }).toString();
    most = Math.floor(most / 2);
  } while (url.href.length > maxAddress && most > 100);
  return url.href;
};

/** Shows what can be done with the marked lines, with links to them. */
const showMenu = (rows: readonly Element[]): void => {
  const menu = document.querySelector<HTMLElement>('[data-line-menu]');
  const range = readRange();
  if (menu === null) return;
  menu.hidden = range === null || rows.length === 0;
  if (range === null) return;
  const name = range[0] === range[1] ? `Line ${range[0]}` : `Lines ${range[0]}–${range[1]}`;
  const [title] = menu.querySelectorAll('[data-line-name]');
  if (title !== undefined) title.textContent = name;
  const links = menu.querySelectorAll<HTMLAnchorElement>('a[data-line-link]');
  for (const link of links) link.hash = location.hash;
  const issue = menu.querySelector<HTMLAnchorElement>('a[data-line-issue]');
  const code = rows.map((row) => row.lastElementChild?.textContent.replace(/\n$/, '') ?? '').join('\n');
  if (issue !== null) issue.href = issueAddress(issue, name, links[0]?.href ?? '', code);
};

const markRange = (table: HTMLElement, isScrolling: boolean): void => {
  for (const row of table.querySelectorAll('tr.marked')) row.classList.remove('marked');
  const range = readRange();
  if (range === null) return showMenu([]);
  const [first, last] = range;
  const start = rowAt(first);
  if (start === null) {
    openPageOf(table, first);
    return;
  }
  let row: Element | null = start;
  const marked: Element[] = [];
  for (let line = first; line <= last && row !== null; line += 1) {
    row.classList.add('marked');
    marked.push(row);
    row = row.nextElementSibling;
  }
  showMenu(marked);
  if (isScrolling) start.scrollIntoView({ block: 'center' });
};

const startTable = (table: HTMLElement): void => {
  let anchor = readRange()?.[0] ?? null;
  table.addEventListener('click', (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>('td.n a');
    const line = Number(link?.hash.slice(2));
    if (link === null || !(line > 0)) return;
    event.preventDefault();
    const isRange = event.shiftKey && anchor !== null;
    const [a, b] = isRange ? [Math.min(anchor ?? line, line), Math.max(anchor ?? line, line)] : [line, line];
    if (!isRange) anchor = line;
    history.replaceState(null, '', a === b ? `#L${a}` : `#L${a}-${b}`);
    markRange(table, false);
  });
  markRange(table, true);
  addEventListener('hashchange', () => markRange(table, true));
};

/** Shows the lines of a file that is rendered, such as an image or Markdown, if the address names some. */
const openSource = (): void => {
  const link = document.querySelector<HTMLAnchorElement>('a[data-source]');
  if (link === null || readRange() === null) return;
  link.hash = location.hash;
  location.replace(link.href);
};

/** Starts line highlighting, and makes links `[data-keep-hash]` point to the same lines. */
export const startLines = (): void => {
  const table = document.querySelector<HTMLElement>('table[data-lines]');
  if (table !== null) startTable(table);
  else openSource();
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-keep-hash]')) {
    link.addEventListener('click', () => (link.hash = location.hash));
  }
};
