/** Shows what somebody saved while a form was open, with the choice between both texts. */
import { type Html, html } from '../../parts/html.ts';
import { discardText, savedMeanwhileCard } from '../../parts/fields/saved_meanwhile.ts';
import { type Texts, areSameTexts, fingerprintTexts } from '../../parts/timeline/edit_conflicts.ts';

/** Texts that were saved since a form was opened, and the texts of the form. */
export type EditConflict = { saved: Texts; typed: Texts };

/**
 * Returns null if nothing was saved meanwhile, or what the form has.
 * @param base fingerprint of the texts that the form was opened with
 */
export const findConflict = (base: string, saved: Texts, typed: Texts): EditConflict | null =>
  base === fingerprintTexts(saved) || areSameTexts(saved, typed) ? null : { saved, typed };

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
  return savedMeanwhileCard(
    [
      { label: 'Title', saved: saved.title, typed: typed.title },
      { label, saved: saved.description ?? '', typed: typed.description ?? '' },
    ],
    html`<a class="button small" href="${editPath}" data-edit>${discardText}</a>`,
  );
};
