/** Issues and merge requests. */
import { getActor, labelJson, placeJson, userJson, usersJson } from './shared_payload_parts.ts';
import { reviewersJson } from './reviewers.ts';
import { changesJson } from './changes.ts';
import type { Context, Payload } from './context.ts';
import { issueAttributes, mergeRequestAttributes } from './subjects.ts';

const actions: Record<string, string> = {
  created: 'open',
  closed: 'close',
  reopened: 'reopen',
  merged: 'merge',
  approved: 'approved',
  unapproved: 'unapproved',
};

const getAction = ({ snapshot }: Context): string => actions[snapshot.kind.split('.')[1] ?? ''] ?? 'update';

export const issuePayload = (context: Context): Payload => {
  const { project, records } = context.snapshot;
  const { issue } = records;
  if (project === null || issue === undefined) return {};
  const attributes = issueAttributes(context, issue, project);
  return {
    object_kind: 'issue',
    event_type: issue.confidential === 1 ? 'confidential_issue' : 'issue',
    user: userJson(context, getActor(context)),
    ...placeJson(context),
    object_attributes: { ...attributes, action: getAction(context) },
    labels: attributes.labels,
    assignees: usersJson(context, issue.assignee_ids),
    changes: changesJson(context),
  };
};

/** The former head, if commits were pushed. */
const getOldRevision = ({ snapshot: { kind, data } }: Context): { oldrev?: string } => {
  const { sha } = data as { sha?: [string | null, string | null] };
  return kind === 'merge_request.pushed' && typeof sha?.[0] === 'string' ? { oldrev: sha[0] } : {};
};

export const mergeRequestPayload = async (context: Context): Promise<Payload> => {
  const { project, records } = context.snapshot;
  const { merge_request: request } = records;
  if (project === null || request === undefined) return {};
  const attributes = await mergeRequestAttributes(context, request, project);
  return {
    object_kind: 'merge_request',
    event_type: 'merge_request',
    user: userJson(context, getActor(context)),
    ...placeJson(context),
    object_attributes: { ...attributes, ...getOldRevision(context), action: getAction(context) },
    labels: request.labels.map(labelJson),
    changes: changesJson(context),
    assignees: usersJson(context, request.assignee_ids),
    reviewers: reviewersJson(
      context,
      request.reviewers.map(({ user_id }) => user_id),
    ),
  };
};
