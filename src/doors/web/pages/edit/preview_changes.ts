/** The preview of a text that is not committed: its changes, and a Markdown file as it will look. */
import type { Visit } from '../../page.ts';
import { isMarkdownFile } from '../../parts/code/file_names.ts';
import { compareTexts } from '../../parts/diff/compare_texts.ts';
import { diffStats } from '../../parts/diff/file_card.ts';
import { highlightedRows } from '../../parts/diff/prepare_rows.ts';
import { writeUnified } from '../../parts/diff/write_unified.ts';
import { type Html, html } from '../../parts/html.ts';
import { markdown } from '../../parts/markdown.ts';
import type { EditTarget } from './edit_target.ts';

/** More rows are left out. */
const maxRows = 3_000;

/** The button of the form that asks for the preview. Drafts of the text stay. */
export const previewButton = html`<button name="preview" value="1" formnovalidate data-keeps-draft>Preview changes</button>`;

type Texts = {
  /** Path of the file after the change. */
  path: string;
  /** Text of the file on the branch; empty: it is new. */
  old: string;
  fresh: string;
};

const changesPart = async ({ call }: Visit, { path, old, fresh }: Texts): Promise<Html> => {
  const { rows, isCut, ...counts } = compareTexts(old, fresh, maxRows);
  if (rows.length === 0) return html`<p class="body">The text has no changes.</p>`;
  const table = writeUnified({
    rows: await highlightedRows(call, path, rows),
    fileId: 'preview',
    label: 'Your changes',
  });
  return html`<header><h3>Your changes</h3>${diffStats(counts)}</header>
<div class="diff-body">${table}</div>${isCut && html`<p class="body muted">The first ${maxRows} lines are shown.</p>`}`;
};

/** Renders the preview, before the form with the text. */
export const previewPart = async (
  visit: Visit,
  { project, ref }: EditTarget,
  texts: Texts,
): Promise<Html> => {
  const { path, fresh } = texts;
  const rendered = isMarkdownFile(path)
    ? html`<section class="card" aria-label="Rendered text"><header><h3>Rendered</h3></header>${await markdown(visit.call, fresh, { project, ref, path })}</section>`
    : null;
  return html`<section class="stack" id="preview" aria-labelledby="preview_title"><div class="row between"><h2 id="preview_title">Preview</h2><a href="#content">Back to the text</a></div>
<p class="flash notice" role="status">Nothing is committed yet.</p>
<section class="card diff-file" aria-label="Changes">${await changesPart(visit, texts)}</section>
${rendered}</section>
`;
};
