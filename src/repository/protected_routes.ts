import { endpoint } from '../access/call.ts';
import { invalid, notFound } from '../errors.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { boolean, integer, object, optional, text } from '../http/schema.ts';
import { findProjectFor } from '../projects/find.ts';
import { projectParam } from './code.ts';
import { protectedBranches, protectedTags } from './protected.ts';
import {
  protectedBranchJson,
  protectedBranchShape,
  protectedTagJson,
  protectedTagShape,
} from './protected_json.ts';
import {
  type BranchRule,
  addBranchRule,
  addTagRule,
  changeBranchRule,
  removeBranchRule,
  removeTagRule,
} from './protected_write.ts';

const area = 'protected_branches';
const tagArea = 'protected_tags';
const branches = '/projects/:id/protected_branches';
const tags = '/projects/:id/protected_tags';
const nameParam = text({ description: 'a name, or with `*` the names that it means' });
const level = optional(integer({ description: '0: nobody, 30: developers, 40: masters' }));

const known = [0, 30, 40];

const levelOf = (name: string, value: number | undefined): number | undefined => {
  if (value !== undefined && !known.includes(value))
    throw invalid({ [name]: ['does not have a valid value'] });
  return value;
};

type Wanted = {
  push_access_level?: number | undefined;
  merge_access_level?: number | undefined;
  allow_force_push?: boolean | undefined;
};

const ruleOf = (wanted: Wanted): Partial<BranchRule> => {
  const push = levelOf('push_access_level', wanted.push_access_level);
  const merge = levelOf('merge_access_level', wanted.merge_access_level);
  return {
    ...(push !== undefined && { push_access_level: push }),
    ...(merge !== undefined && { merge_access_level: merge }),
    ...(wanted.allow_force_push !== undefined && { allow_force_push: wanted.allow_force_push ? 1 : 0 }),
  };
};

const requireName = (name: string): void => {
  if (name.trim() === '') throw invalid({ name: ["can't be blank"] });
};

const pageOf = <T>(all: T[], params: { page: number; per_page: number }): T[] => {
  const { limit, offset } = pageRequest(params);
  return all.slice(offset, offset + limit);
};

const matches = (search: string | undefined) => {
  const wanted = search?.toLowerCase() ?? '';
  return ({ name }: { name: string }): boolean => name.toLowerCase().includes(wanted);
};

const list = endpoint({
  method: 'GET',
  path: branches,
  summary: 'Protected branches of a project',
  area,
  audience: 'user',
  params: object({ id: projectParam, search: optional(text()), ...pageParams }),
  reply: protectedBranchShape,
  list: true,
  handle: async (call, { id, search, ...page }) => {
    const { id: projectId } = await findProjectFor(call, id, 'read_protected_ref');
    const all = (await protectedBranches(call.db, projectId)).filter(matches(search));
    return { items: pageOf(all, page).map(protectedBranchJson), total: all.length };
  },
});

const show = endpoint({
  method: 'GET',
  path: `${branches}/:name`,
  summary: 'One protected branch, or name with a `*`',
  area,
  audience: 'user',
  params: object({ id: projectParam, name: nameParam }),
  reply: protectedBranchShape,
  handle: async (call, { id, name }) => {
    const { id: projectId } = await findProjectFor(call, id, 'read_protected_ref');
    const rule = (await protectedBranches(call.db, projectId)).find((one) => one.name === name);
    if (rule === undefined) throw notFound();
    return protectedBranchJson(rule);
  },
});

const branchParams = {
  push_access_level: level,
  merge_access_level: level,
  allow_force_push: optional(boolean()),
};

const protect = endpoint({
  method: 'POST',
  path: branches,
  summary: 'Protect a branch, or all whose name a `*` means',
  area,
  audience: 'user',
  params: object({ id: projectParam, name: nameParam, ...branchParams }),
  reply: protectedBranchShape,
  handle: async (call, { id, name, ...wanted }) => {
    const project = await findProjectFor(call, id, 'admin_protected_ref');
    requireName(name);
    const usual: BranchRule = { push_access_level: 40, merge_access_level: 40, allow_force_push: 0 };
    return protectedBranchJson(await addBranchRule(call, project, name, { ...usual, ...ruleOf(wanted) }));
  },
});

const change = endpoint({
  method: 'PATCH',
  path: `${branches}/:name`,
  summary: 'Change how a branch is protected',
  area,
  audience: 'user',
  params: object({ id: projectParam, name: nameParam, ...branchParams }),
  reply: protectedBranchShape,
  handle: async (call, { id, name, ...wanted }) => {
    const project = await findProjectFor(call, id, 'admin_protected_ref');
    return protectedBranchJson(await changeBranchRule(call, project, name, ruleOf(wanted)));
  },
});

const unprotect = endpoint({
  method: 'DELETE',
  path: `${branches}/:name`,
  summary: 'Protect a branch no longer',
  area,
  audience: 'user',
  params: object({ id: projectParam, name: nameParam }),
  reply: null,
  handle: async (call, { id, name }) => {
    const project = await findProjectFor(call, id, 'admin_protected_ref');
    if (!(await removeBranchRule(call, project, name))) throw notFound();
  },
});

const listTags = endpoint({
  method: 'GET',
  path: tags,
  summary: 'Protected tags of a project',
  area: tagArea,
  audience: 'user',
  params: object({ id: projectParam, ...pageParams }),
  reply: protectedTagShape,
  list: true,
  handle: async (call, { id, ...page }) => {
    const { id: projectId } = await findProjectFor(call, id, 'read_protected_ref');
    const all = await protectedTags(call.db, projectId);
    return { items: pageOf(all, page).map(protectedTagJson), total: all.length };
  },
});

const showTag = endpoint({
  method: 'GET',
  path: `${tags}/:name`,
  summary: 'One protected tag, or name with a `*`',
  area: tagArea,
  audience: 'user',
  params: object({ id: projectParam, name: nameParam }),
  reply: protectedTagShape,
  handle: async (call, { id, name }) => {
    const { id: projectId } = await findProjectFor(call, id, 'read_protected_ref');
    const rule = (await protectedTags(call.db, projectId)).find((one) => one.name === name);
    if (rule === undefined) throw notFound();
    return protectedTagJson(rule);
  },
});

const protectTag = endpoint({
  method: 'POST',
  path: tags,
  summary: 'Protect a tag, or all whose name a `*` means',
  area: tagArea,
  audience: 'user',
  params: object({ id: projectParam, name: nameParam, create_access_level: level }),
  reply: protectedTagShape,
  handle: async (call, { id, name, create_access_level }) => {
    const project = await findProjectFor(call, id, 'admin_protected_ref');
    requireName(name);
    const wanted = levelOf('create_access_level', create_access_level) ?? 40;
    return protectedTagJson(await addTagRule(call, project, name, wanted));
  },
});

const unprotectTag = endpoint({
  method: 'DELETE',
  path: `${tags}/:name`,
  summary: 'Protect a tag no longer',
  area: tagArea,
  audience: 'user',
  params: object({ id: projectParam, name: nameParam }),
  reply: null,
  handle: async (call, { id, name }) => {
    const project = await findProjectFor(call, id, 'admin_protected_ref');
    if (!(await removeTagRule(call, project, name))) throw notFound();
  },
});

export const protectedRoutes = [
  list,
  show,
  protect,
  change,
  unprotect,
  listTags,
  showTag,
  protectTag,
  unprotectTag,
];
