import type { Call } from '../access/call.ts';
import { may } from '../access/may.ts';
import { forbidden, invalid } from '../errors.ts';
import type { Found } from '../issuables/target.ts';
import type { NoteRow } from './json.ts';

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
