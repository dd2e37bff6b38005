/** Detects that an issue's texts changed between the load of a form and its submission. */
import { createHash } from 'node:crypto';
import { conflict } from '../../../../platform/errors.ts';

type Texts = { title: string; description: string | null };

/** Returns a fingerprint of the texts, which forms send back. */
export const baseOf = ({ title, description }: Texts): string =>
  createHash('sha256')
    .update(JSON.stringify([title, description]))
    .digest('base64url')
    .slice(0, 22);

/** @throws Failure 409 if the texts are no longer those that the form showed */
export const requireBase = (base: string, { issue }: { issue: Texts }): void => {
  if (base !== baseOf(issue)) {
    throw conflict('Somebody edited this issue meanwhile. Check the current text before you save yours.');
  }
};
