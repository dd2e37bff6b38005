/**
 * Merges what a form of properties changes into the record of the moment. Forms send whole lists and what they showed, so
 * that the edit of somebody else in between stays.
 */
import { conflict } from '../../../../platform/errors.ts';
import { integers, names, optional, text } from '../../../../platform/http/schema.ts';

/** Parameters with what a form showed. Absent: the form replaces the value. */
export const shownParams = {
  shown_labels: optional(names()),
  shown_assignee_ids: optional(integers()),
  shown_reviewer_ids: optional(integers()),
  shown_milestone_id: optional(text()),
  shown_due_date: optional(text()),
};

export type Shown = {
  shown_labels?: string[] | undefined;
  shown_assignee_ids?: number[] | undefined;
  shown_reviewer_ids?: number[] | undefined;
  shown_milestone_id?: string | undefined;
  shown_due_date?: string | undefined;
};

/** Applies the difference between two lists to a third. */
export const mergeList = <T>(current: readonly T[], shown: readonly T[], sent: readonly T[]): T[] => [
  ...current.filter((one) => sent.includes(one) || !shown.includes(one)),
  ...sent.filter((one) => !shown.includes(one) && !current.includes(one)),
];

type SentLabels = { labels?: string[] | null | undefined; add_labels?: string[] | undefined };

/** Converts a list of labels to the labels that the form adds and removes. */
export const labelChanges = <E extends SentLabels>(edit: E, shown: readonly string[] | undefined): E => {
  const { labels, add_labels = [] } = edit;
  if (shown === undefined || labels === undefined || labels === null) return edit;
  const { labels: _list, ...rest } = edit;
  return {
    ...rest,
    add_labels: [...labels.filter((name) => !shown.includes(name)), ...add_labels],
    remove_labels: shown.filter((name) => !labels.includes(name)),
  } as unknown as E;
};

type Value = {
  /** `milestone` */
  word: string;
  shown: string | undefined;
  sent: string | null | undefined;
  current: string | null;
  /** The current value, for people. */
  text: string | null;
};

/** @throws Failure 409 if a single value has changed since the form was shown */
export const requireShownValue = ({ word, shown, sent, current, text: said }: Value): void => {
  if (shown === undefined || sent === undefined) return;
  if (shown === (current ?? '') || (sent ?? '') === (current ?? '')) return;
  const now = said === null ? `removed the ${word}` : `set the ${word} to ${said}`;
  throw conflict(`Somebody ${now} meanwhile. Your choice is not saved: choose again if it is still right.`);
};

/** @throws Failure 409 if the target of a merge request has changed since the form was shown, and the form changes it */
export const requireShownTarget = (
  shown: string | undefined,
  sent: string | undefined,
  { merge_request: { target_branch: current } }: { merge_request: { target_branch: string } },
): void => requireShownValue({ word: 'target branch', shown, sent, current, text: current });
