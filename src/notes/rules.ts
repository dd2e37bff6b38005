import type { Call } from '../access/call.ts';
import { may } from '../access/may.ts';
import { forbidden, invalid } from '../errors.ts';
import { boolean, longText, optional, time } from '../http/schema.ts';
import type { Found } from '../issuables/target.ts';
import type { NoteRow } from './json.ts';

/** What a new comment is given. */
export const newNoteParams = {
  body: longText(),
  created_at: optional(time('by owners and administrators')),
  internal: optional(boolean({ description: 'only false: all who see the rest see a comment' })),
  confidential: optional(boolean({ description: 'the same, of old' })),
};

/** @throws Failure 400 for what is meant for some alone: here, everybody would read it */
export const requireOpen = (given: {
  internal?: boolean | undefined;
  confidential?: boolean | undefined;
}): void => {
  for (const name of ['internal', 'confidential'] as const)
    if (given[name] === true) throw invalid({ [name]: ['is not supported'] });
};

/** @throws Failure 400 for a text of nothing but blanks */
export const checkBody = (body: string): string => {
  if (body.trim() === '') throw invalid({ note: ["can't be blank"] });
  return body;
};

/** @throws Failure 403 for one who may not comment */
export const requireCommenter = ({ viewer }: Call, { project }: Found): void => {
  if (!may(viewer, 'create_note', project)) throw forbidden();
};

/**
 * A comment is edited and deleted by its author and by masters; what the service noted itself stays.
 * @throws Failure 403
 */
export const requireNoteAdmin = ({ viewer }: Call, { project }: Found, note: NoteRow): void => {
  if (note.system === 1 || !may(viewer, 'admin_note', project, note)) throw forbidden();
};
