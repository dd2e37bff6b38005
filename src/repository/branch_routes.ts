import { type Call, endpoint } from '../access/call.ts';
import { notFound } from '../errors.ts';
import { Answer } from '../http/endpoint.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { boolean, object, oneOf, optional, string, text, unsupportedFilter } from '../http/schema.ts';
import type { Ref } from '../git/protocol_types.ts';
import { createBranch, findForPush } from './branch_create.ts';
import { deleteBranch, deleteMergedBranches } from './branch_delete.ts';
import { branchShape, branchesJson } from './branch_json.ts';
import { retrying } from './change_refs.ts';
import { type Code, findCode, projectParam } from './code.ts';
import { branchPrefix, findRef, requireBranch } from './resolve.ts';
import { removeBranchRule, setBranchRule } from './protected_write.ts';

const area = 'branches';
const branches = '/projects/:id/repository/branches';
const branchParam = text({ description: 'name of the branch' });

const answer = async (call: Call, code: Code, ref: Ref) => (await branchesJson(call, code, [ref]))[0];

const orders = {
  name_asc: { sort: 'name', descending: false },
  name_desc: { sort: 'name', descending: true },
  updated_asc: { sort: 'updated', descending: false },
  updated_desc: { sort: 'updated', descending: true },
} as const;

const list = endpoint({
  method: 'GET',
  path: branches,
  summary: 'Branches of a project',
  area,
  audience: 'optional',
  params: object({
    id: projectParam,
    search: optional(text({ description: 'part of the name' })),
    regex: unsupportedFilter(),
    sort: oneOf(['name_asc', 'name_desc', 'updated_asc', 'updated_desc'], { default: 'name_asc' }),
    ...pageParams,
  }),
  reply: branchShape,
  list: true,
  handle: async (call, { id, search, sort, ...params }) => {
    const code = await findCode(call, id);
    const { limit, offset } = pageRequest(params);
    const { refs, total } = await code.repository.ask('refs.list', {
      prefix: branchPrefix,
      ...(search !== undefined && search !== '' && { search }),
      ...orders[sort],
      offset,
      limit,
    });
    return { items: await branchesJson(call, code, refs), total };
  },
});

const show = endpoint({
  method: 'GET',
  path: `${branches}/:branch`,
  summary: 'One branch; HEAD: whether it exists',
  area,
  audience: 'optional',
  params: object({ id: projectParam, branch: branchParam }),
  reply: branchShape,
  handle: async (call, { id, branch }) => {
    const code = await findCode(call, id);
    // No body: only whether it is there.
    if (call.incoming.method === 'HEAD') {
      if ((await findRef(code.repository, branchPrefix + branch)) === null) throw notFound('Branch');
      return new Answer(null, { status: 204 });
    }
    return await answer(call, code, await requireBranch(code, branch));
  },
});

const create = endpoint({
  method: 'POST',
  path: branches,
  summary: 'Make a branch',
  area,
  audience: 'user',
  params: object({
    id: projectParam,
    branch: branchParam,
    ref: text({ description: 'branch, tag or commit where it begins', maxLength: 1000 }),
  }),
  reply: branchShape,
  handle: async (call, { id, branch, ref: from }) => {
    const { code, ref } = await createBranch(call, await findForPush(call, id), { branch, from });
    return await answer(call, code, ref);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${branches}/:branch`,
  summary: 'Delete a branch',
  area,
  audience: 'user',
  params: object({ id: projectParam, branch: branchParam }),
  reply: null,
  handle: async (call, { id, branch }) => await deleteBranch(call, await findForPush(call, id), branch),
});

const removeMerged = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/merged_branches',
  summary: 'Delete the branches that the default branch has, but for protected ones',
  area,
  audience: 'user',
  status: 202,
  params: object({ id: projectParam }),
  reply: object({ message: string }),
  handle: async (call, { id }) => {
    const code = await findForPush(call, id);
    await retrying(async () => await deleteMergedBranches(call, code));
    return { message: '202 Accepted' };
  },
});

const levelFor = (developers: boolean): number => (developers ? 30 : 40);

const protect = endpoint({
  method: 'PUT',
  path: `${branches}/:branch/protect`,
  summary: 'Protect a branch',
  area,
  audience: 'user',
  params: object({
    id: projectParam,
    branch: branchParam,
    developers_can_push: optional(boolean()),
    developers_can_merge: optional(boolean()),
  }),
  reply: branchShape,
  handle: async (call, { id, branch, developers_can_push: push, developers_can_merge: merge }) => {
    const code = await findCode(call, id, 'admin_protected_ref');
    const ref = await requireBranch(code, branch);
    await setBranchRule(call, code.project, branch, {
      ...(push !== undefined && { push_access_level: levelFor(push) }),
      ...(merge !== undefined && { merge_access_level: levelFor(merge) }),
    });
    return await answer(call, code, ref);
  },
});

const unprotect = endpoint({
  method: 'PUT',
  path: `${branches}/:branch/unprotect`,
  summary: 'Protect a branch no longer',
  area,
  audience: 'user',
  params: object({ id: projectParam, branch: branchParam }),
  reply: branchShape,
  handle: async (call, { id, branch }) => {
    const code = await findCode(call, id, 'admin_protected_ref');
    const ref = await requireBranch(code, branch);
    await removeBranchRule(call, code.project, branch);
    return await answer(call, code, ref);
  },
});

export const branchRoutes = [list, show, create, remove, removeMerged, protect, unprotect];
