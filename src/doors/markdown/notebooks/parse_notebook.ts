/** Reads Jupyter notebooks. The content is data: nothing runs, and HTML and scripts are removed. */

const maxCells = 200;
const maxOutputs = 50;
/** Images of a notebook; the page loads each with a request. */
const maxImages = 100;
/** Characters of a text of a cell, and of those of all cells. */
const maxText = 100_000;
const maxTexts = 500_000;

export type NotebookImage = { type: 'image/png' | 'image/jpeg'; data: string };

export type NotebookOutput =
  | { kind: 'text'; text: string }
  | { kind: 'error'; text: string }
  /** Index among the images of the notebook. */
  | { kind: 'image'; index: number }
  | { kind: 'omitted'; type: string };

export type NotebookCell = {
  kind: 'markdown' | 'code' | 'raw';
  text: string;
  /** Number in which the cell ran; null if it did not. */
  count: number | null;
  outputs: NotebookOutput[];
};

export type Notebook = {
  /** Language of code cells. */
  language: string;
  cells: NotebookCell[];
  images: NotebookImage[];
  /** The file has more cells. */
  isCut: boolean;
};

type Values = Record<string, unknown>;

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Returns a text that may be written as a list of lines. */
const joinLines = (value: unknown): string => {
  const text = Array.isArray(value) ? value.filter((line) => typeof line === 'string').join('') : value;
  return typeof text === 'string' ? text : '';
};

const readText = (value: unknown): string => joinLines(value).slice(0, maxText);

/** Removes the escape sequences that color the output of terminals. */
const removeColors = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- the escape character is meant
  text.replaceAll(/\u001B\[[\d;]*[A-Za-z]/g, '');

const imageTypes = ['image/png', 'image/jpeg'] as const;

/** Returns the best form of a result that can be shown. */
const readData = (data: Values, images: NotebookImage[]): NotebookOutput => {
  for (const type of imageTypes) {
    if (!(type in data) || images.length >= maxImages) continue;
    // Not `readText`: an image is longer.
    const content = joinLines(data[type]).replaceAll(/\s/g, '');
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(content)) continue;
    images.push({ type, data: content });
    return { kind: 'image', index: images.length - 1 };
  }
  const text = readText(data['text/plain']);
  if (text !== '') return { kind: 'text', text };
  return { kind: 'omitted', type: (Object.keys(data)[0] ?? 'unknown').slice(0, 100) };
};

const readOutput = (output: unknown, images: NotebookImage[]): NotebookOutput[] => {
  if (!isObject(output)) return [];
  const { output_type: type, data } = output;
  if (type === 'stream') return [{ kind: 'text', text: removeColors(readText(output['text'])) }];
  if (type === 'error') {
    const trace = listOf(output['traceback']).filter((line) => typeof line === 'string');
    const text =
      trace.length > 0 ? trace.join('\n') : `${readText(output['ename'])}: ${readText(output['evalue'])}`;
    return [{ kind: 'error', text: removeColors(text.slice(0, maxText)) }];
  }
  if (!isObject(data)) return [];
  const hasHtml = 'text/html' in data && !imageTypes.some((image) => image in data);
  const shown = readData(data, images);
  return hasHtml && shown.kind !== 'omitted' ? [shown, { kind: 'omitted', type: 'text/html' }] : [shown];
};

const kinds = new Map<unknown, NotebookCell['kind']>([
  ['markdown', 'markdown'],
  ['code', 'code'],
  ['raw', 'raw'],
]);

const readCell = (cell: unknown, images: NotebookImage[]): NotebookCell[] => {
  const kind = isObject(cell) ? kinds.get(cell['cell_type']) : undefined;
  if (!isObject(cell) || kind === undefined) return [];
  const { execution_count: count } = cell;
  const outputs = kind === 'code' ? listOf(cell['outputs']).slice(0, maxOutputs) : [];
  return [
    {
      kind,
      text: readText(cell['source']),
      count: typeof count === 'number' ? count : null,
      outputs: outputs.flatMap((output) => readOutput(output, images)),
    },
  ];
};

const readLanguage = (metadata: unknown): string => {
  const { language_info: info, kernelspec } = isObject(metadata) ? metadata : {};
  const name = (isObject(info) && info['name']) || (isObject(kernelspec) && kernelspec['language']);
  return typeof name === 'string' && /^[\w+#-]{1,30}$/.test(name) ? name : 'python';
};

/** Returns the first cells, with as much text as is shown. */
const takeCells = (cells: readonly NotebookCell[]): NotebookCell[] => {
  let left = maxTexts;
  return cells.filter(({ text }) => (left -= text.length) >= 0);
};

/** Parses a notebook of format 4. @returns null if the file is not one */
export const parseNotebook = (text: string): Notebook | null => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(parsed) || !Array.isArray(parsed['cells'])) return null;
  const images: NotebookImage[] = [];
  const readCells = parsed['cells'].slice(0, maxCells).flatMap((cell) => readCell(cell, images));
  const cells = takeCells(readCells);
  const isCut = parsed['cells'].length > maxCells || cells.length < readCells.length;
  return { language: readLanguage(parsed['metadata']), cells, images, isCut };
};
