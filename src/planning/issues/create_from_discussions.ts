import type { Call } from '../../core/access/call.ts';
import { findContinued, resolveContinued } from '../discussions/continue_in_issue.ts';
import type { Project } from '../../projects/projects/find.ts';
import { type CreatedIssue, type NewIssue, createIssue } from './create.ts';

/** Discussions of a merge request that the issue continues. Creating the issue resolves them. */
type Continuation = {
  /** Iid of the merge request, in the same project. A request that the caller cannot see is ignored. */
  merge_request_to_resolve_discussions_of?: number;
  /** Id of one discussion; absent: all of them. */
  discussion_to_resolve?: string;
};

/** Creates an issue that may continue discussions. Its default description quotes them. */
export const createContinuing = async (
  call: Call,
  project: Project,
  params: NewIssue & Continuation,
): Promise<CreatedIssue> => {
  const { merge_request_to_resolve_discussions_of: iid, discussion_to_resolve, ...input } = params;
  const continued = iid === undefined ? null : await findContinued(call, project, iid, discussion_to_resolve);
  if (continued === null) return await createIssue(call, project, input);
  const isDescribed = (input.description ?? '') !== '';
  const described = isDescribed ? input : { ...input, description: continued.description };
  return await createIssue(call, project, described, {
    follow: async (tx, { issue }) => await resolveContinued(tx, call, continued, issue.iid),
  });
};
