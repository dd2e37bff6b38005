/** Parameters that issues and merge requests share. */
import { nothingToChange } from '../../platform/errors.ts';
import {
  boolean,
  clearable,
  id,
  integers,
  longText,
  names,
  oneOf,
  optional,
} from '../../platform/http/schema.ts';

/** Parameters of a creation and of an edit. `assignee_id` replaces `assignee_ids` with one user. */
export const editable = {
  assignee_id: optional(clearable(id('assignee; 0: none'))),
  assignee_ids: optional(integers({ description: 'in place of assignee_id' })),
  description: optional(clearable(longText())),
  labels: optional(names({ description: 'comma-separated names' })),
  milestone_id: optional(clearable(id('0 for none'))),
};

/** Parameters of an edit only. */
export const edits = {
  title: optional(longText('at most 255 characters')),
  labels: optional(clearable(names({ description: 'comma-separated names; null: unchanged' }))),
  add_labels: optional(names()),
  remove_labels: optional(names()),
  state_event: optional(oneOf(['close', 'reopen'])),
  discussion_locked: optional(boolean({ description: 'only members of the project may comment' })),
};

/** Requires at least one parameter of an edit. @throws Failure 400 */
export const requireEdit = (input: { [name: string]: unknown }, parameters: readonly string[]): void => {
  if (parameters.every((name) => input[name] === undefined)) {
    throw nothingToChange(parameters);
  }
};

export const withAssignees = <P extends { assignee_id?: number | null; assignee_ids?: number[] }>(
  params: P,
) => {
  const { assignee_id, ...rest } = params;
  return assignee_id === undefined
    ? rest
    : { ...rest, assignee_ids: assignee_id === null ? [] : [assignee_id] };
};
