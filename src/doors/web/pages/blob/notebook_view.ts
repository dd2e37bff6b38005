/** Shows the cells of a Jupyter notebook and their output. */
import type { Visit } from '../../page.ts';
import type { Notebook, NotebookCell, NotebookOutput } from '../../../markdown/notebooks/parse_notebook.ts';
import type { CodeLocation } from '../../parts/code/code_location.ts';
import { type Html, html } from '../../parts/html.ts';
import { markdownTexts } from '../../parts/markdown.ts';

/** Writes code as Markdown, in a fence that it cannot end. */
const toFence = (text: string, language: string): string => {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
};

const outputPart = (output: NotebookOutput, raw: string, cell: number): Html => {
  if (output.kind === 'image')
    return html`<p><img src="${raw}?notebook_image=${output.index}" alt="Output of cell ${cell}" loading="lazy"></p>`;
  if (output.kind === 'omitted')
    return html`<p class="muted">Output of type ${output.type} is not shown.</p>`;
  const look = output.kind === 'error' ? 'output-error' : 'output-text';
  return html`<pre class="${look}" tabindex="0">${output.text}</pre>`;
};

const cellPart = (
  { kind, count, outputs }: NotebookCell,
  content: Html,
  [raw, at]: [string, number],
): Html => {
  if (kind !== 'code')
    return html`<div class="cell">${content}</div>
`;
  const label = count === null ? '[ ]' : `[${count}]`;
  return html`<div class="cell code-cell" role="group" aria-label="Code cell ${at}"><span class="cell-count muted" aria-hidden="true">${label}</span><div>${content}${outputs.length > 0 && html`<div class="outputs" role="group" aria-label="Output of cell ${at}">${outputs.map((output) => outputPart(output, raw, at))}</div>`}</div></div>
`;
};

/** Renders a notebook. @param raw address of the file, which serves its images, too */
export const notebookView = async (
  { call }: Visit,
  { project, ref, path }: CodeLocation,
  { language, cells, isCut }: Notebook,
  raw: string,
): Promise<Html> => {
  const texts = cells.map(({ kind, text }) =>
    kind === 'markdown' ? text : toFence(text, kind === 'code' ? language : ''),
  );
  const contents = await markdownTexts(call, texts, { project, ref, path });
  return html`<div class="notebook">${cells.map((cell, at) => cellPart(cell, contents[at] ?? html``, [raw, at + 1]))}${
    cells.length === 0 && html`<p class="body">The notebook has no cells.</p>`
  }${isCut && html`<p class="body muted">The first ${cells.length} cells are shown.</p>`}</div>`;
};
