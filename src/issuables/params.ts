/** Parameters that issues and merge requests take alike when they are created and edited. */
import { nothingGiven } from '../errors.ts';
import { clearable, id, integers, longText, names, oneOf, optional } from '../http/schema.ts';

/** `assignee_id` is one assignee, in the place of `assignee_ids`. */
export const editable = {
  assignee_id: optional(clearable(id('one assignee; 0 for none'))),
  assignee_ids: optional(integers({ description: 'in place of assignee_id' })),
  description: optional(clearable(longText())),
  labels: optional(names({ description: 'comma-separated names' })),
  milestone_id: optional(clearable(id('0 for none'))),
};

/** What only an edit takes. */
export const edits = {
  title: optional(longText('255 characters at most')),
  labels: optional(clearable(names({ description: 'comma-separated names; null leaves them' }))),
  add_labels: optional(names()),
  remove_labels: optional(names()),
  state_event: optional(oneOf(['close', 'reopen'])),
};

/** @throws Failure 400 where none of what an edit takes was given */
export const requireEdit = (given: { [name: string]: unknown }, wanted: readonly string[]): void => {
  if (wanted.every((name) => given[name] === undefined)) {
    throw nothingGiven(wanted);
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
