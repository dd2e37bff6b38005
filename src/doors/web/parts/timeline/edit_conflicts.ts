/** Detects that the texts of a record changed between the load of a form and its submission. */
import { createHash } from 'node:crypto';
import { type Failure, conflict } from '../../../../platform/errors.ts';
import { isSameText } from '../fields/saved_meanwhile.ts';

export type Texts = { title: string; description: string | null };

/** Wraps the text of a comment for the check of conflicting edits. */
export const noteTexts = (body: string): Texts => ({ title: '', description: body });

/** Returns a fingerprint of what a form shows, which the form sends back. */
export const fingerprintValues = (values: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 22);

/** Returns a fingerprint of the texts, which forms send back. */
export const fingerprintTexts = ({ title, description }: Texts): string =>
  fingerprintValues([title, description]);

/** Error for a record that somebody edited since the form was shown. @param word `issue` */
export const editedMeanwhile = (word: string): Failure =>
  conflict(`Somebody edited this ${word} meanwhile. Check what they saved before you save yours.`);

/** Returns whether the texts of a form are those that are saved. */
export const areSameTexts = (saved: Texts, typed: Texts): boolean =>
  isSameText(saved.title, typed.title) && isSameText(saved.description ?? '', typed.description ?? '');

/**
 * @param word `issue`
 * @param typed texts of the form, which may be those that are saved, as when it is sent twice; absent: it has none
 * @throws Failure 409 if the texts have changed since the form was shown
 */
export const requireUnchanged = (base: string, saved: Texts, word: string, typed?: Texts): void => {
  if (base === fingerprintTexts(saved)) return;
  if (typed === undefined || !areSameTexts(saved, typed)) throw editedMeanwhile(word);
};
