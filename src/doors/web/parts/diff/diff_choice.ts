/**
 * Display options of diffs: the parameters of their pages, the visitor's preferences, and the buttons that change them.
 */
import { boolean, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import type { Visit } from '../../page.ts';
import { type DiffView, diffViews } from '../../request/preferences.ts';
import { choiceButton, preferenceForm } from '../fields/preference_form.ts';
import { type Html, html } from '../html.ts';
import { maxRangesLength } from './line_ranges.ts';

/** Absent: the visitor's preference. */
export const viewParams = {
  view: optional(oneOf(diffViews)),
  w: optional(boolean({ description: 'hide changes of white space only' })),
};

/** Parameters of a page with a single file and lines around its changes. */
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

/** Returns the options of the address, or the visitor's preferences where it has none. */
export const preferredView = (
  { preferences }: Visit,
  { view, w }: SentView,
): { view: DiffView; w: boolean } => ({
  view: view ?? preferences.diffView,
  w: w ?? preferences.hidesWhitespace,
});

/** Display options of a diff. */
export type DiffChoice = {
  view: DiffView;
  ignoresWhitespace: boolean;
  /** Options chosen by the URL, which links to the same diff keep. */
  asked: Readonly<Record<string, string>>;
  /** New path of the only file to show; undefined: all. */
  file?: string | undefined;
  /** Its old path, if it was renamed. */
  oldPath?: string | undefined;
  /** Further lines of that file, as in an address. */
  expand?: string | undefined;
  /** Shows that file with all of its lines. */
  isWhole?: boolean | undefined;
};

type SentChoice = SentView & {
  file?: string | undefined;
  old_path?: string | undefined;
  expand?: string | undefined;
  whole?: boolean | undefined;
};

const toViewParams = ({ view, w }: SentView): Record<string, string> => ({
  ...(view !== undefined && { view }),
  ...(w !== undefined && { w: w ? '1' : '0' }),
});

/** Reads the options of an address. The visitor's preferences replace those that it lacks. */
export const readDiffChoice = (visit: Visit, sent: SentChoice): DiffChoice => {
  const { view, w } = preferredView(visit, sent);
  const { file, old_path, expand, whole } = sent;
  const shown = { view, ignoresWhitespace: w, asked: toViewParams(sent) };
  return { ...shown, file, oldPath: old_path, expand, isWhole: whole };
};

/** Renders the buttons that choose the view, and whether changes of white space only are hidden. */
export const viewForm = (
  visit: Visit,
  { view, ignoresWhitespace }: Pick<DiffChoice, 'view' | 'ignoresWhitespace'>,
  target: { path: string; anchor?: string },
): Html => {
  const segment = (value: DiffView, label: string): Html =>
    choiceButton(['view', value], { label, isCurrent: value === view });
  return preferenceForm(
    visit,
    target,
    html`<span class="segmented" role="group" aria-label="View of changes">${segment('unified', 'Unified')}${segment('split', 'Split')}</span><button name="w" value="${ignoresWhitespace ? '0' : '1'}">${ignoresWhitespace ? 'Show whitespace' : 'Hide whitespace'}</button>`,
  );
};
