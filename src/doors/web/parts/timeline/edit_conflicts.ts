/** Detects that the texts of a record changed between the load of a form and its submission. */
import { createHash } from 'node:crypto';
import { type Failure, conflict } from '../../../../platform/errors.ts';

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

/** @throws Failure 409 if the texts have changed since the form was shown. @param word `issue` */
export const requireUnchanged = (base: string, texts: Texts, word: string): void => {
  if (base !== fingerprintTexts(texts)) throw editedMeanwhile(word);
};
