/** Makes the same change to many records: each as the API does, so one that is refused does not stop the others. */
import { type Call, requireUser } from '../../../../../core/access/call.ts';
import { may } from '../../../../../core/access/may.ts';
import { userIdByName } from '../../../../../identity/users/queries.ts';
import type { LoadedTarget } from '../../../../../planning/issuables/target.ts';
import { changeSubscription } from '../../../../../planning/subscriptions/routes.ts';
import { Failure, forbidden, invalid, refused } from '../../../../../platform/errors.ts';
import { parseDate } from '../../../../../platform/time.ts';
import { findActiveMilestoneByTitle } from '../../../../../projects/milestones/find_assignable.ts';
import { problemText, problemsOf } from '../../../parts/form_problems.ts';
import type { BulkEdit, BulkKind } from './bulk_kind.ts';

/** A change as the form has it. */
export type BulkRequest = {
  state_event: '' | 'close' | 'reopen';
  add_labels: string[];
  remove_labels: string[];
  /** A user name, `me`, or `none`; empty: no change. */
  assignee: string;
  /** Like `assignee`, for merge requests. */
  reviewer: string;
  /** A day, or `none`; empty: no change. Only for issues. */
  due_date: string;
  confidential: '' | 'true' | 'false';
  discussion_locked: '' | 'true' | 'false';
  /** A title, or `none`; empty: no change. */
  milestone: string;
  subscription: '' | 'subscribe' | 'unsubscribe';
};

/** A record that was not changed. */
type Refusal = {
  /** `group/project#3`; null if the user may not know it. */
  name: string | null;
  reason: string;
};

export type Outcome = { changed: number; unchanged: number; refusals: Refusal[] };

/** Reads `12-3`: the project's id and the iid of the record. */
const readItem = (item: string): { project: number; iid: number } | null => {
  const [, project, iid] = /^(\d{1,15})-(\d{1,9})$/.exec(item) ?? [];
  return project === undefined || iid === undefined ? null : { project: Number(project), iid: Number(iid) };
};

const isNone = (text: string): boolean => text.toLowerCase() === 'none';

/** Returns the ids that a field means; undefined: no change. @throws Failure 400 for an unknown user */
const readPeople = async (
  call: Call,
  field: 'assignee' | 'reviewer',
  typed: string,
): Promise<number[] | undefined> => {
  const name = typed.trim().replace(/^@/, '');
  if (name === '') return undefined;
  if (isNone(name)) return [];
  if (name.toLowerCase() === 'me') return [requireUser(call).id];
  const id = await userIdByName(call.db, name);
  if (id === undefined) throw invalid({ [field]: ['does not exist'] });
  return [id];
};

/** Returns the milestone of a record's project by title. @throws Failure 400 if the project has none */
const readMilestone = async (
  call: Call,
  { project }: LoadedTarget,
  typed: string,
): Promise<number | null | undefined> => {
  const title = typed.trim().replace(/^%/, '');
  if (title === '') return undefined;
  if (isNone(title)) return null;
  const id = await findActiveMilestoneByTitle(call.db, project, title);
  if (id === undefined) throw refused(`${project.full_path} has no open milestone of this title`);
  return id;
};

/** Returns the due date that the form means; undefined: no change. @throws Failure 400 for no date */
const readDueDate = (typed: string): string | null | undefined => {
  const text = typed.trim();
  if (text === '') return undefined;
  if (isNone(text)) return null;
  if (parseDate(text) === null) throw invalid({ due_date: ['is not a date (example: 2031-02-03)'] });
  return text;
};

/** Data shared by all records, read before any record is changed. */
type Change = { request: BulkRequest; shared: BulkEdit };

const readChange = async (call: Call, request: BulkRequest): Promise<Change> => {
  const { state_event, add_labels, remove_labels, confidential, discussion_locked } = request;
  const [assignee_ids, reviewer_ids] = [
    await readPeople(call, 'assignee', request.assignee),
    await readPeople(call, 'reviewer', request.reviewer),
  ];
  const due_date = readDueDate(request.due_date);
  const shared = {
    ...(state_event !== '' && { state_event }),
    ...(add_labels.length > 0 && { add_labels }),
    ...(remove_labels.length > 0 && { remove_labels }),
    ...(assignee_ids !== undefined && { assignee_ids }),
    ...(reviewer_ids !== undefined && { reviewer_ids }),
    ...(due_date !== undefined && { due_date }),
    ...(confidential !== '' && { confidential: confidential === 'true' }),
    ...(discussion_locked !== '' && { discussion_locked: discussion_locked === 'true' }),
  };
  return { request, shared };
};

const toEdit = async (call: Call, loaded: LoadedTarget, { request, shared }: Change): Promise<BulkEdit> => {
  const milestone_id = await readMilestone(call, loaded, request.milestone);
  return { ...shared, ...(milestone_id !== undefined && { milestone_id }) };
};

/** Changes one record. Returns whether anything changed. @throws Failure for what the user may not do */
const editOne = async <L extends LoadedTarget>(
  kind: BulkKind<L>,
  call: Call,
  loaded: L,
  edit: BulkEdit,
): Promise<boolean> => {
  const { state_event, ...administered } = edit;
  const isAdministered = Object.keys(administered).length > 0;
  if (state_event === undefined && !isAdministered) return false;
  const isAllowed = isAdministered
    ? may(call.viewer, kind.adminAction, loaded.project)
    : kind.noun.mayUpdate(call, loaded);
  if (!isAllowed) throw forbidden();
  const after = await kind.update(call, loaded, edit);
  const [assigned = 0] = edit.assignee_ids ?? [];
  if (assigned !== 0 && !after.target.assignee_ids.includes(assigned)) {
    throw refused('this user cannot be assigned');
  }
  const [reviewer = 0] = edit.reviewer_ids ?? [];
  if (reviewer !== 0 && kind.reviewerIds?.(after).includes(reviewer) !== true) {
    throw refused('this user cannot be a reviewer');
  }
  return kind.updatedAt(after) !== kind.updatedAt(loaded);
};

const subscribeOne = async <L extends LoadedTarget>(
  { noun }: BulkKind<L>,
  call: Call,
  loaded: L,
  subscription: BulkRequest['subscription'],
): Promise<boolean> => {
  if (subscription === '') return false;
  try {
    await changeSubscription(noun, call, loaded, subscription === 'subscribe');
    return true;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_modified') return false;
    throw error;
  }
};

/** Returns why a record was not changed. @throws any error that is not a refusal */
const reasonFor = (error: unknown): string => {
  if (error instanceof Failure && (error.kind === 'forbidden' || error.kind === 'not_found')) {
    return error.kind === 'forbidden' ? 'you may not change it' : 'it was not found';
  }
  const problems = problemsOf(error);
  if (problems === null) throw error;
  return problemText(problems);
};

/**
 * Changes each record, one after the other.
 * @param items records as `project id-iid`
 * @throws Failure 400 for an unknown user and for no date, before anything is changed
 */
export const applyBulkEdit = async <L extends LoadedTarget>(
  kind: BulkKind<L>,
  call: Call,
  items: readonly string[],
  request: BulkRequest,
): Promise<Outcome> => {
  const change = await readChange(call, request);
  const outcome: Outcome = { changed: 0, unchanged: 0, refusals: [] };
  for (const item of new Set(items)) {
    let name: string | null = null;
    try {
      const named = readItem(item) ?? { project: 0, iid: 0 };
      const loaded = await kind.find(call, named.project, named.iid);
      name = `${loaded.project.full_path}${kind.noun.type === 'Issue' ? '#' : '!'}${named.iid}`;
      const isEdited = await editOne(kind, call, loaded, await toEdit(call, loaded, change));
      const isFollowed = await subscribeOne(kind, call, loaded, request.subscription);
      if (isEdited || isFollowed) outcome.changed += 1;
      else outcome.unchanged += 1;
    } catch (error) {
      outcome.refusals.push({ name, reason: reasonFor(error) });
    }
  }
  return outcome;
};
