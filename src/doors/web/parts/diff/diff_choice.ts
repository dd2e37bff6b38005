/** How diffs are shown: the parameters of their pages, what this browser prefers, and the links that change it. */
import { boolean, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import type { Visit } from '../../page.ts';
import { type DiffView, diffViews } from '../../request/preferences.ts';
import { type Html, html } from '../html.ts';
import { maxRangesLength } from './line_ranges.ts';

/** Absent: what the browser prefers. */
export const viewParams = {
  view: optional(oneOf(diffViews)),
  w: optional(boolean({ description: 'hide changes of white space only' })),
};

/** Parameters of one file that a page shows alone, with lines around its changes. */
export const fileParams = {
  file: optional(text({ maxLength: 4_096, description: 'new path of the only file to show' })),
  expand: optional(text({ maxLength: maxRangesLength, description: 'further lines to show: `10-29,50-69`' })),
  whole: optional(boolean({ description: 'show the whole file, with the lines that did not change' })),
};

export const diffParams = {
  ...viewParams,
  ...fileParams,
  old_path: optional(text({ maxLength: 4_096, description: 'old path of that file, if it was renamed' })),
};

type SentView = { view?: DiffView | undefined; w?: boolean | undefined };

/** Returns what the address chooses, and else the browser. */
export const preferredView = ({ preferences }: Visit, { view, w }: SentView): Required<SentView> => ({
  view: view ?? preferences.diffView,
  w: w ?? preferences.hidesWhitespace,
});

/** Remembers in this browser what the address chooses. */
export const keepView = (visit: Visit, { view, w }: SentView): void => {
  const { diffView, hidesWhitespace } = visit.preferences;
  const chosen = { diffView: view ?? diffView, hidesWhitespace: w ?? hidesWhitespace };
  if (chosen.diffView === diffView && chosen.hidesWhitespace === hidesWhitespace) return;
  visit.changePreferences({ ...visit.preferences, ...chosen });
};

/** What a page shows of a diff. */
export type DiffChoice = {
  view: DiffView;
  ignoresWhitespace: boolean;
  /** New path of the only file to show; undefined: all. */
  file?: string | undefined;
  /** Its old path, if it was renamed. */
  oldPath?: string | undefined;
  /** Further lines of that file, as in an address. */
  expand?: string | undefined;
  /** That file is shown with all of its lines. */
  isWhole?: boolean | undefined;
};

type SentChoice = SentView & {
  file?: string | undefined;
  old_path?: string | undefined;
  expand?: string | undefined;
  whole?: boolean | undefined;
};

/** Reads what an address chooses, and remembers how the browser prefers diffs. */
export const readDiffChoice = (visit: Visit, sent: SentChoice): DiffChoice => {
  keepView(visit, sent);
  const { view = 'unified', w = false } = preferredView(visit, sent);
  const { file, old_path, expand, whole } = sent;
  return { view, ignoresWhitespace: w, file, oldPath: old_path, expand, isWhole: whole };
};

/** Renders the links to both views. */
export const viewSwitch = (current: DiffView, pathTo: (view: DiffView) => string): Html => {
  const link = (view: DiffView, name: string): Html =>
    html`<a class="button" href="${pathTo(view)}"${view === current && html` aria-current="true"`}>${name}</a>`;
  return html`<span class="segments">${link('unified', 'Unified')}${link('split', 'Split')}</span>`;
};

/** Renders the link that hides changes of white space only, or shows them again. */
export const whitespaceLink = (isHidden: boolean, path: string): Html =>
  html`<a class="button" href="${path}">${isHidden ? 'Show whitespace' : 'Hide whitespace'}</a>`;
