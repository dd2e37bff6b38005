import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { forbidden, invalid } from '../../platform/errors.ts';
import { boolean, longText, optional, time } from '../../platform/http/schema.ts';
import { isLockedFor } from '../issuables/locked.ts';
import type { LoadedTarget } from '../issuables/target.ts';
import type { NoteRow } from './note_row.ts';

/** Parameters of a new comment. */
export const newNoteParams = {
  body: longText(),
  created_at: optional(time('by owners and administrators')),
  internal: optional(boolean({ description: 'only false: internal comments are not supported' })),
  confidential: optional(boolean({ description: 'deprecated name of internal' })),
};

/** @throws Failure 400 for an internal comment, because everyone who sees the target would read it */
export const requireOpen = (input: {
  internal?: boolean | undefined;
  confidential?: boolean | undefined;
}): void => {
  for (const name of ['internal', 'confidential'] as const)
    if (input[name] === true) throw invalid({ [name]: ['is not supported'] });
};

/** @throws Failure 400 for a blank text */
export const checkBody = (body: string): string => {
  if (body.trim() === '') throw invalid({ note: ["can't be blank"] });
  return body;
};

/** @throws Failure 403 if the caller may not comment */
export const requireCommenter = ({ viewer }: Call, loaded: LoadedTarget): void => {
  if (!may(viewer, 'create_note', loaded.project) || isLockedFor(viewer, loaded)) throw forbidden();
};

/**
 * Requires that the caller may edit and delete the note: its author and masters, and nobody for a system note.
 * @throws Failure 403
 */
export const requireNoteAdmin = ({ viewer }: Call, loaded: LoadedTarget, note: NoteRow): void => {
  if (note.system === 1 || !may(viewer, 'admin_note', loaded.project, note)) throw forbidden();
  if (isLockedFor(viewer, loaded)) throw forbidden();
};
