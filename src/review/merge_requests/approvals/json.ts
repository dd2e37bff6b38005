import type { Call } from '../../../core/access/call.ts';
import {
  anything,
  array,
  bool,
  int,
  nullable,
  object,
  string,
  timestamp,
} from '../../../platform/http/schema.ts';
import { formatTime } from '../../../platform/time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../../../identity/users/json.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { type Approval, mayApprove } from './approvals.ts';

export const approvalsShape = object({
  id: int,
  iid: int,
  project_id: int,
  title: string,
  description: nullable(string),
  state: string,
  created_at: timestamp,
  updated_at: timestamp,
  merge_status: string,
  approved: bool,
  approvals_required: int,
  approvals_left: int,
  require_password_to_approve: bool,
  approved_by: array(object({ user: basicUserShape, approved_at: timestamp })),
  suggested_approvers: array(anything),
  approvers: array(anything),
  approver_groups: array(anything),
  user_has_approved: bool,
  user_can_approve: bool,
  approval_rules_left: array(anything),
  has_approval_rules: bool,
  merge_request_approvers_available: bool,
  multiple_approval_rules_available: bool,
});

/** Fields of approval rules, which do not exist: no approval is required. */
const none = {
  approvals_required: 0,
  approvals_left: 0,
  require_password_to_approve: false,
  suggested_approvers: [],
  approvers: [],
  approver_groups: [],
  approval_rules_left: [],
  has_approval_rules: false,
  merge_request_approvers_available: false,
  multiple_approval_rules_available: false,
};

export const approvalsJson = async (call: Call, loaded: LoadedMergeRequest, approvals: Approval[]) => {
  const { merge_request } = loaded;
  const users = await basicUsersById(
    call.db,
    approvals.map(({ user_id }) => user_id),
  );
  const own = approvals.some(({ user_id }) => user_id === call.viewer.user_id);
  return {
    id: merge_request.id,
    iid: merge_request.iid,
    project_id: merge_request.project_id,
    title: merge_request.title,
    description: merge_request.description,
    state: merge_request.state,
    created_at: formatTime(merge_request.created_at),
    updated_at: formatTime(merge_request.updated_at),
    merge_status: merge_request.merge_status,
    approved: approvals.length > 0,
    approved_by: approvals.flatMap(({ user_id, created_at }) => {
      const user = users.get(user_id);
      return user === undefined ? [] : [{ user: basicUser(user, call), approved_at: formatTime(created_at) }];
    }),
    user_has_approved: own,
    user_can_approve: !own && mayApprove(call, loaded),
    ...none,
  };
};
