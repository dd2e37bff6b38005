/** Finds the users whose names are typed into the forms of assignees and reviewers. */
import { userIdByName } from '../../../../identity/users/queries.ts';
import type { Reader } from '../../../../platform/db/open.ts';
import { invalid } from '../../../../platform/errors.ts';
import { optional, text } from '../../../../platform/http/schema.ts';

/** Parameters of the fields, as `peopleField` renders them. */
export const namedUserParams = {
  assignee_username: optional(text()),
  reviewer_username: optional(text()),
};

/** Names that one field takes. */
const maxNames = 20;

const findUserIds = async (db: Reader, field: string, sent: string): Promise<number[]> => {
  const names = [...new Set(sent.split(/[\s,]+/).map((name) => name.replace(/^@/, '')))].filter(Boolean);
  if (names.length > maxNames) throw invalid({ [field]: [`is too long (maximum is ${maxNames} users)`] });
  const ids: number[] = [];
  for (const name of names) {
    const id = await userIdByName(db, name);
    if (id === undefined) throw invalid({ [field]: [`The user “${name}” does not exist`] });
    ids.push(id);
  }
  return ids;
};

type Sent = {
  assignee_ids?: number[] | undefined;
  reviewer_ids?: number[] | undefined;
  assignee_username?: string | undefined;
  reviewer_username?: string | undefined;
};

/**
 * Adds the users that a form names to the selected users.
 * @throws Failure 400 if a user does not exist
 */
export const withNamedUsers = async <E extends Sent>(
  db: Reader,
  { assignee_username = '', reviewer_username = '', ...edit }: E,
): Promise<Omit<E, 'assignee_username' | 'reviewer_username'>> => {
  const assignees = await findUserIds(db, 'assignee_username', assignee_username);
  const reviewers = await findUserIds(db, 'reviewer_username', reviewer_username);
  return {
    ...edit,
    ...(assignees.length > 0 && { assignee_ids: [...(edit.assignee_ids ?? []), ...assignees] }),
    ...(reviewers.length > 0 && { reviewer_ids: [...(edit.reviewer_ids ?? []), ...reviewers] }),
  };
};
