/** The words of quick actions, with what the completion of editors and `docs/quick_actions.md` say about them. */
import type { TargetType } from '../../../platform/db/schema/column_types.ts';

type Definition = {
  /** The first word is the one that is offered. */
  words: readonly [string, ...string[]];
  /** Sample of the argument. */
  argument?: string;
  about: string;
  /** The only kind of record that has the action. */
  only?: TargetType;
  /** The action does nothing in the description of a new record. */
  needsRecord?: true;
};

/** Actions that set values of the record. */
const edits = {
  assign: { words: ['assign'], argument: '@user', about: 'Assign users' },
  reassign: { words: ['reassign'], argument: '@user', about: 'Replace the assignees' },
  unassign: { words: ['unassign'], argument: '@user', about: 'Remove these or all assignees' },
  request_review: {
    words: ['request_review', 'assign_reviewer', 'reviewer'],
    argument: '@user',
    about: 'Request a review',
    only: 'MergeRequest',
  },
  unassign_reviewer: {
    words: ['unassign_reviewer', 'remove_reviewer'],
    argument: '@user',
    about: 'Remove these or all reviewers',
    only: 'MergeRequest',
  },
  label: { words: ['label', 'labels'], argument: '~label', about: 'Add labels' },
  relabel: { words: ['relabel'], argument: '~label', about: 'Replace the labels' },
  unlabel: {
    words: ['unlabel', 'remove_label', 'remove_labels'],
    argument: '~label',
    about: 'Remove these or all labels',
  },
  milestone: { words: ['milestone'], argument: '%milestone', about: 'Set the milestone' },
  remove_milestone: { words: ['remove_milestone'], about: 'Remove the milestone' },
  copy_metadata: {
    words: ['copy_metadata'],
    argument: '#issue or !merge_request',
    about: 'Copy labels and the milestone of another record of the project',
  },
  title: { words: ['title'], argument: 'new title', about: 'Change the title' },
  close: { words: ['close'], about: 'Close', needsRecord: true },
  reopen: { words: ['reopen'], about: 'Reopen', needsRecord: true },
  draft: { words: ['draft'], about: 'Mark as draft', only: 'MergeRequest' },
  ready: { words: ['ready'], about: 'Mark as ready', only: 'MergeRequest' },
  wip: { words: ['wip'], about: 'Switch between draft and ready', only: 'MergeRequest' },
  confidential: { words: ['confidential'], about: 'Make confidential', only: 'Issue' },
  due: { words: ['due', 'due_date'], argument: 'YYYY-MM-DD', about: 'Set the due date', only: 'Issue' },
  remove_due_date: { words: ['remove_due_date'], about: 'Remove the due date', only: 'Issue' },
  estimate: { words: ['estimate', 'estimate_time'], argument: '1d 4h', about: 'Set the time estimate' },
  remove_estimate: {
    words: ['remove_estimate', 'remove_time_estimate'],
    about: 'Remove the time estimate',
  },
  spend: {
    words: ['spend', 'spend_time'],
    argument: '1h 30m',
    about: 'Add time spent; subtract it with a minus sign',
  },
  remove_time_spent: { words: ['remove_time_spent'], about: 'Remove all time spent' },
  lock: { words: ['lock'], about: 'Lock the discussion' },
  unlock: { words: ['unlock'], about: 'Unlock the discussion' },
  subscribe: { words: ['subscribe'], about: 'Subscribe to notifications' },
  unsubscribe: { words: ['unsubscribe'], about: 'Unsubscribe from notifications' },
  todo: { words: ['todo'], about: 'Add a to-do item' },
  done: { words: ['done', 'clear'], about: 'Mark the to-do item as done' },
} as const satisfies Record<string, Definition>;

/** Actions that are operations of their own; they need an existing record. */
const operations = {
  approve: { words: ['approve'], about: 'Approve', only: 'MergeRequest', needsRecord: true },
  unapprove: {
    words: ['unapprove'],
    about: 'Take back your approval',
    only: 'MergeRequest',
    needsRecord: true,
  },
  request_changes: {
    words: ['request_changes'],
    about: 'Request changes',
    only: 'MergeRequest',
    needsRecord: true,
  },
  merge: {
    words: ['merge'],
    about: 'Merge, or set auto-merge if checks have not passed yet',
    only: 'MergeRequest',
    needsRecord: true,
  },
  rebase: {
    words: ['rebase'],
    about: 'Rebase onto the target branch',
    only: 'MergeRequest',
    needsRecord: true,
  },
  target_branch: {
    words: ['target_branch'],
    argument: 'branch',
    about: 'Change the target branch',
    only: 'MergeRequest',
    needsRecord: true,
  },
  relate: {
    words: ['relate'],
    argument: '#issue',
    about: 'Link related issues',
    only: 'Issue',
    needsRecord: true,
  },
  blocks: {
    words: ['blocks'],
    argument: '#issue',
    about: 'Link issues that this one blocks',
    only: 'Issue',
    needsRecord: true,
  },
  blocked_by: {
    words: ['blocked_by'],
    argument: '#issue',
    about: 'Link issues that block this one',
    only: 'Issue',
    needsRecord: true,
  },
  move: {
    words: ['move'],
    argument: 'group/project',
    about: 'Move to another project',
    only: 'Issue',
    needsRecord: true,
  },
  clone: {
    words: ['clone'],
    argument: 'group/project --with_notes',
    about: 'Clone into this or another project',
    only: 'Issue',
    needsRecord: true,
  },
} as const satisfies Record<string, Definition>;

export type EditName = keyof typeof edits;
export type OperationName = keyof typeof operations;
export type ActionName = EditName | OperationName;

/** All quick actions, in the order in which people read about them. */
export const definitions: readonly Definition[] = [...Object.values(edits), ...Object.values(operations)];

const names = new Map<string, ActionName>(
  Object.entries({ ...edits, ...operations }).flatMap(([name, { words }]) =>
    words.map((word): [string, ActionName] => [word, name as ActionName]),
  ),
);

export const findActionName = (word: string): ActionName | undefined => names.get(word);

export const isOperation = (name: ActionName): name is OperationName => Object.hasOwn(operations, name);

/** Texts that execute quick actions: comments on a kind of record, and descriptions of new ones. */
export const actionSets = ['issue', 'merge_request', 'new_issue', 'new_merge_request'] as const;
export type ActionSet = (typeof actionSets)[number];

/** Returns the set of comments on a kind of record. */
export const actionSetOf = (type: TargetType): ActionSet => (type === 'Issue' ? 'issue' : 'merge_request');

/** Returns the quick actions of a set. */
export const actionsIn = (set: ActionSet): Definition[] => {
  const isNew = set.startsWith('new_');
  const type = set.endsWith('issue') ? 'Issue' : 'MergeRequest';
  return definitions.filter(
    ({ only = type, needsRecord = false }) => only === type && !(isNew && needsRecord),
  );
};
