import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { forbidden, invalid } from '../../platform/errors.ts';
import { boolean, longText, optional, time } from '../../platform/http/schema.ts';
import { isLockedFor } from '../issuables/locked_discussion.ts';
import type { LoadedNoteable } from '../issuables/target.ts';
import type { NoteRow } from './note_row.ts';

/** Parameters of a new comment. */
export const newNoteParams = {
  body: longText(),
  created_at: optional(time('set by owners and administrators')),
  internal: optional(boolean({ description: 'visible to reporters and higher roles only' })),
  confidential: optional(boolean({ description: 'deprecated name of internal' })),
};

/** Returns whether a comment is to be internal. `internal` takes precedence over `confidential`. */
export const readInternal = (input: {
  internal?: boolean | undefined;
  confidential?: boolean | undefined;
}): boolean => input.internal ?? input.confidential ?? false;

/**
 * @throws Failure 403 if the caller may not write internal comments: nobody else may read what was meant to be hidden
 */
export const requireInternalWriter = (
  { viewer }: Pick<Call, 'viewer'>,
  { project }: LoadedNoteable,
): void => {
  if (!may(viewer, 'internal_note', project)) throw forbidden();
};

/** @throws Failure 400 for a blank text */
export const checkBody = (body: string): string => {
  if (body.trim() === '') throw invalid({ note: ["can't be blank"] });
  return body;
};

export const mayComment = ({ viewer }: Pick<Call, 'viewer'>, loaded: LoadedNoteable): boolean =>
  may(viewer, 'create_note', loaded.project) && !isLockedFor(viewer, loaded);

/** @throws Failure 403 if the caller may not comment */
export const requireCommenter = (call: Pick<Call, 'viewer'>, loaded: LoadedNoteable): void => {
  if (!mayComment(call, loaded)) throw forbidden();
};

/**
 * Returns whether the caller may edit and delete the note: its author and maintainers may; nobody may change a system
 * note.
 */
export const mayAdminNote = (
  { viewer }: Pick<Call, 'viewer'>,
  loaded: LoadedNoteable,
  note: NoteRow,
): boolean =>
  note.system === 0 && may(viewer, 'admin_note', loaded.project, note) && !isLockedFor(viewer, loaded);

/** @throws Failure 403 if the caller may not edit and delete the note */
export const requireNoteAdmin = (call: Pick<Call, 'viewer'>, loaded: LoadedNoteable, note: NoteRow): void => {
  if (!mayAdminNote(call, loaded, note)) throw forbidden();
};
