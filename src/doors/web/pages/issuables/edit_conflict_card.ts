/** Shows what somebody saved while a form was open, with the choice between both texts. */
import { type Html, html } from '../../parts/html.ts';
import { type Texts, fingerprintTexts } from '../../parts/timeline/edit_conflicts.ts';

/** Texts that were saved since a form was opened, and the texts of the form. */
export type EditConflict = { saved: Texts; typed: Texts };

/** @param base fingerprint of the texts that the form was opened with */
export const findConflict = (base: string, saved: Texts, typed: Texts): EditConflict | null =>
  base === fingerprintTexts(saved) ? null : { saved, typed };

/** Returns the label of the button: after a conflict, the form overwrites what was saved. */
export const submitLabel = (conflict: EditConflict | null): string =>
  conflict === null ? 'Save changes' : 'Overwrite with my version';

const savedText = (label: string, text: string): Html =>
  html`<h3>${label}</h3><p class="lines">${text === '' ? 'None' : text}</p>`;

/**
 * Renders the saved texts that differ from the texts of the form.
 * @param editPath path of the form to edit the saved texts
 */
export const conflictCard = (
  conflict: EditConflict | null,
  editPath: string,
  label = 'Description',
): Html | null => {
  if (conflict === null) return null;
  const { saved, typed } = conflict;
  const [before, now] = [saved.description ?? '', typed.description ?? ''];
  return html`<section class="card" aria-labelledby="saved_meanwhile"><header><h2 id="saved_meanwhile">Saved meanwhile</h2><span class="end"><a class="button small" href="${editPath}" data-edit>Discard mine, continue with this</a></span></header><div class="body">${
    saved.title !== typed.title && savedText('Title', saved.title)
  }${before.replaceAll('\r\n', '\n') !== now && savedText(label, before)}</div></section>`;
};
