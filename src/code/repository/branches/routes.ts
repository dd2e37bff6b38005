import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { notFound } from '../../../platform/errors.ts';
import { Answer } from '../../../platform/http/endpoint.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { boolean, object, oneOf, optional, string, text } from '../../../platform/http/schema.ts';
import type { Ref } from '../../../platform/git/protocol_types.ts';
import { createBranch, findCodeForPush } from './create.ts';
import { deleteBranch, deleteMergedBranches } from './delete.ts';
import { branchShape, branchesJson } from './json.ts';
import { branchOrders, listBranches } from './list.ts';
import { listMatchingBranches } from './regex_search.ts';
import { retryOnConflict } from '../refs/authorized_ref_changes.ts';
import { type Code, findCode, projectParam } from '../find_code.ts';
import { findCachedCode } from '../read_cache.ts';
import { branchPrefix, findRef, requireBranch } from '../refs/resolve.ts';
import { removeBranchRule, setBranchRule } from '../protection/change_rules.ts';

const area = 'branches';
const branches = '/projects/:id/repository/branches';
const branchParam = text({ description: 'name of the branch' });

const answer = async (call: Call, code: Code, ref: Ref) => (await branchesJson(call, code, [ref]))[0];

const list = endpoint({
  method: 'GET',
  path: branches,
  cached: true,
  summary: 'List branches of a project',
  area,
  audience: 'optional',
  params: object({
    id: projectParam,
    search: optional(text({ description: 'part of the name' })),
    regex: optional(text({ maxLength: 1000, description: 'RE2 expression matched against names' })),
    sort: oneOf(['name_asc', 'name_desc', 'updated_asc', 'updated_desc'], { default: 'name_asc' }),
    ...pageParams,
  }),
  reply: branchShape,
  list: true,
  handle: async (call, { id, search, regex, sort, ...params }) => {
    const code = await findCachedCode(call, id);
    const { limit, offset } = pageRequest(params);
    if (regex !== undefined && regex !== '') {
      const walk = { search, ...branchOrders[sort], offset, limit };
      const { refs, total } = await listMatchingBranches(code.repository, regex, walk);
      return { items: await branchesJson(call, code, refs), total };
    }
    const { items, total } = await listBranches(code, { search, order: sort }, { offset, limit });
    return { items: await branchesJson(call, code, items), total };
  },
});

const show = endpoint({
  method: 'GET',
  path: `${branches}/:branch`,
  summary: 'Get a branch, or check with HEAD that it exists',
  area,
  audience: 'optional',
  params: object({ id: projectParam, branch: branchParam }),
  reply: branchShape,
  handle: async (call, { id, branch }) => {
    const code = await findCachedCode(call, id);
    // HEAD has no body: it reports existence only.
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
  summary: 'Create a branch',
  area,
  audience: 'user',
  params: object({
    id: projectParam,
    branch: branchParam,
    ref: text({ description: 'branch, tag or commit to start from', maxLength: 1000 }),
  }),
  reply: branchShape,
  handle: async (call, { id, branch, ref: from }) => {
    const { code, ref } = await createBranch(call, await findCodeForPush(call, id), { branch, from });
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
  handle: async (call, { id, branch }) => await deleteBranch(call, await findCodeForPush(call, id), branch),
});

const removeMerged = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/merged_branches',
  summary: 'Delete merged branches, except protected branches',
  area,
  audience: 'user',
  status: 202,
  params: object({ id: projectParam }),
  reply: object({ message: string }),
  handle: async (call, { id }) => {
    const code = await findCodeForPush(call, id);
    await retryOnConflict(async () => await deleteMergedBranches(call, code));
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
  summary: 'Unprotect a branch',
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
