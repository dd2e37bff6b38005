/** Shows what somebody saved while a form was open. */
import { type Html, html } from '../html.ts';

/** Returns the label of the button: after a conflict, the form overwrites what was saved. */
export const submitLabel = (isConflict: boolean): string =>
  isConflict ? 'Overwrite with my version' : 'Save changes';

/**
 * A value of a form: what somebody saved meanwhile, and what the form has.
 * @property shown the saved value as people read it; absent: `saved`
 */
export type SavedValue = { label: string; saved: string; typed: string; shown?: string; isCode?: true };

const savedText = ({ label, saved, shown = saved, isCode }: SavedValue): Html =>
  html`<h3>${label}</h3><p class="lines${isCode === true && ' exact mono small'}">${shown === '' ? 'None' : shown}</p>`;

const toLines = (text: string): string => text.replaceAll('\r\n', '\n');

/** Returns whether two texts are the same: forms send CRLF, and operations trim. */
export const isSameText = (saved: string, typed: string): boolean =>
  toLines(saved).trim() === toLines(typed).trim();

/** Returns whether the form has another value than the record. */
export const isDifferent = ({ saved, typed, isCode }: SavedValue): boolean =>
  isCode === true ? toLines(saved) !== toLines(typed) : !isSameText(saved, typed);

/** Renders the saved values that differ from those of the form. @param discard link that discards the form's */
export const savedMeanwhileCard = (values: readonly SavedValue[], discard: Html): Html =>
  html`<section class="card" aria-labelledby="saved_meanwhile"><header><h2 id="saved_meanwhile">Saved meanwhile</h2><span class="end">${discard}</span></header><div class="body">${values.filter(isDifferent).map(savedText)}</div></section>`;

export const discardText = 'Discard mine, continue with this';

/** Renders the link to a form's page that discards what was typed. */
export const discardLink = (editPath: string): Html =>
  html`<a class="button small" href="${editPath}">${discardText}</a>`;
