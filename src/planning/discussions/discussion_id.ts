import { hash } from 'node:crypto';

const idPattern = /^[0-9a-f]{40}$/;
const checkLength = 26;
/** Digits that hold any id of a note. */
const numberLength = 14;

/** Comments on commits have a separate id sequence. */
type Kind = 'note' | 'commit comment';

const computeCheck = (noteId: number, kind: Kind): string =>
  hash('sha1', `${kind} ${noteId}`).slice(0, checkLength);

/** Returns the discussion id of a standalone comment, derived from its note id. A reply does not change it. */
export const toIndividualId = (noteId: number, kind: Kind = 'note'): string =>
  computeCheck(noteId, kind) + noteId.toString(16).padStart(numberLength, '0');

/** Returns the id of the standalone comment with this discussion id; null if it is not such an id. */
export const parseIndividualId = (id: string, kind: Kind = 'note'): number | null => {
  if (!idPattern.test(id)) return null;
  const noteId = Number.parseInt(id.slice(checkLength), 16);
  return Number.isSafeInteger(noteId) && id.startsWith(computeCheck(noteId, kind)) ? noteId : null;
};
