import { createHash } from 'node:crypto';

const idPattern = /^[0-9a-f]{40}$/;
const checkLength = 26;
/** Enough for any id of a note. */
const numberLength = 14;

/** Comments on commits have ids of their own. */
type Kind = 'note' | 'commit comment';

const checkOf = (noteId: number, kind: Kind): string =>
  createHash('sha1').update(`${kind} ${noteId}`).digest('hex').slice(0, checkLength);

/** The id of the discussion that a comment of its own is: it follows from the comment's, and stays when it is replied to. */
export const individualId = (noteId: number, kind: Kind = 'note'): string =>
  checkOf(noteId, kind) + noteId.toString(16).padStart(numberLength, '0');

/** Which comment has this id as a discussion of its own; null: none can. */
export const noteOfId = (id: string, kind: Kind = 'note'): number | null => {
  if (!idPattern.test(id)) return null;
  const noteId = Number.parseInt(id.slice(checkLength), 16);
  return Number.isSafeInteger(noteId) && id.startsWith(checkOf(noteId, kind)) ? noteId : null;
};
