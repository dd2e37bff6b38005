import type { Call } from '../access/call.ts';
import { findContinued, resolveContinued } from '../discussions/continue.ts';
import type { Project } from '../projects/find.ts';
import { type NewIssue, createIssue } from './create.ts';
import type { FoundIssue } from './find.ts';

/** Discussions of a merge request that the issue goes on with: they are resolved by it. */
type Continuation = {
  /** Its iid, in the same project. One that the caller does not see is passed over. */
  merge_request_to_resolve_discussions_of?: number;
  /** Of one discussion only. */
  discussion_to_resolve?: string;
};

/** As `createIssue`, also for an issue that goes on with discussions; without a description it names them. */
export const createContinuing = async (
  call: Call,
  project: Project,
  params: NewIssue & Continuation,
): Promise<FoundIssue> => {
  const { merge_request_to_resolve_discussions_of: iid, discussion_to_resolve, ...given } = params;
  const continued = iid === undefined ? null : await findContinued(call, project, iid, discussion_to_resolve);
  if (continued === null) return await createIssue(call, project, given);
  const isDescribed = (given.description ?? '') !== '';
  const described = isDescribed ? given : { ...given, description: continued.description };
  return await createIssue(call, project, described, async (tx, { issue }) => {
    await resolveContinued(tx, call, continued, issue.iid);
  });
};
