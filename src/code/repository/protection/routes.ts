import type { TSchema } from 'typebox';
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { notFound } from '../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { boolean, integer, object, optional, text } from '../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../projects/projects/find.ts';
import { projectParam } from '../find_code.ts';
import { loadProtectedBranches, loadProtectedTags } from './rules.ts';
import { protectedBranchJson, protectedBranchShape, protectedTagJson, protectedTagShape } from './json.ts';
import {
  addBranchRule,
  addTagRule,
  changeBranchRule,
  removeBranchRule,
  removeTagRule,
} from './change_rules.ts';
import { readBranchChanges, readBranchRule, readTagLevel } from './rule_input.ts';

const branchWords = { area: 'protected_branches', path: '/projects/:id/protected_branches', word: 'branch' };
const tagWords = { area: 'protected_tags', path: '/projects/:id/protected_tags', word: 'tag' };
const nameParam = text({ description: 'name, or pattern with `*`' });
const level = optional(integer({ description: '0: nobody, 30: developers, 40: maintainers' }));

const slicePage = <T>(items: T[], params: { page: number; per_page: number }): T[] => {
  const { limit, offset } = pageRequest(params);
  return items.slice(offset, offset + limit);
};

const matches = (search: string | undefined) => {
  const input = search?.toLowerCase() ?? '';
  return ({ name }: { name: string }): boolean => name.toLowerCase().includes(input);
};

/** The parts of the routes that differ between branches and tags. */
type Kind<R> = {
  area: string;
  path: string;
  word: string;
  plural: string;
  shape: TSchema;
  getRules: (db: Reader, projectId: number) => Promise<readonly R[]>;
  json: (rule: R) => unknown;
  remove: (call: Call, project: Project, name: string) => Promise<boolean>;
};

const commonRoutes = <R extends { name: string }>(kind: Kind<R>) => {
  const { area, path, word, shape, getRules: loadRules, json } = kind;
  const shared = { area, audience: 'user' } as const;
  const oneRule = { path: `${path}/:name`, params: object({ id: projectParam, name: nameParam }) };
  const list = endpoint({
    ...shared,
    method: 'GET',
    path,
    summary: `List protected ${kind.plural} of a project`,
    params: object({ id: projectParam, search: optional(text()), ...pageParams }),
    reply: shape,
    list: true,
    handle: async (call, { id, search, ...page }) => {
      const { id: projectId } = await findProjectFor(call, id, 'read_protected_ref');
      const items = (await loadRules(call.db, projectId)).filter(matches(search));
      return { items: slicePage(items, page).map(json), total: items.length };
    },
  });
  const show = endpoint({
    ...shared,
    ...oneRule,
    method: 'GET',
    summary: `Get a protected ${word} or pattern`,
    reply: shape,
    handle: async (call, { id, name }) => {
      const { id: projectId } = await findProjectFor(call, id, 'read_protected_ref');
      const rule = (await loadRules(call.db, projectId)).find((rule_) => rule_.name === name);
      if (rule === undefined) throw notFound();
      return json(rule);
    },
  });
  const unprotect = endpoint({
    ...shared,
    ...oneRule,
    method: 'DELETE',
    summary: `Unprotect a ${word}`,
    reply: null,
    handle: async (call, { id, name }) => {
      const project = await findProjectFor(call, id, 'admin_protected_ref');
      if (!(await kind.remove(call, project, name))) throw notFound();
    },
  });
  return { list, show, unprotect };
};

const branchRoutes = commonRoutes({
  ...branchWords,
  plural: 'branches',
  shape: protectedBranchShape,
  getRules: loadProtectedBranches,
  json: protectedBranchJson,
  remove: removeBranchRule,
});

const tagRoutes = commonRoutes({
  ...tagWords,
  plural: 'tags',
  shape: protectedTagShape,
  getRules: loadProtectedTags,
  json: protectedTagJson,
  remove: removeTagRule,
});

const branchParams = {
  push_access_level: level,
  merge_access_level: level,
  allow_force_push: optional(boolean()),
};

const protect = endpoint({
  method: 'POST',
  path: branchWords.path,
  summary: 'Protect a branch or a pattern of branches',
  area: branchWords.area,
  audience: 'user',
  params: object({ id: projectParam, name: nameParam, ...branchParams }),
  reply: protectedBranchShape,
  handle: async (call, { id, name, ...params }) => {
    const project = await findProjectFor(call, id, 'admin_protected_ref');
    return protectedBranchJson(await addBranchRule(call, project, name, readBranchRule(name, params)));
  },
});

const change = endpoint({
  method: 'PATCH',
  path: `${branchWords.path}/:name`,
  summary: 'Update the protection of a branch',
  area: branchWords.area,
  audience: 'user',
  params: object({ id: projectParam, name: nameParam, ...branchParams }),
  reply: protectedBranchShape,
  handle: async (call, { id, name, ...createLevel }) => {
    const project = await findProjectFor(call, id, 'admin_protected_ref');
    return protectedBranchJson(await changeBranchRule(call, project, name, readBranchChanges(createLevel)));
  },
});

const protectTag = endpoint({
  method: 'POST',
  path: tagWords.path,
  summary: 'Protect a tag or a pattern of tags',
  area: tagWords.area,
  audience: 'user',
  params: object({ id: projectParam, name: nameParam, create_access_level: level }),
  reply: protectedTagShape,
  handle: async (call, { id, name, create_access_level }) => {
    const project = await findProjectFor(call, id, 'admin_protected_ref');
    const required = readTagLevel(name, create_access_level);
    return protectedTagJson(await addTagRule(call, project, name, required));
  },
});

export const protectedRoutes = [
  branchRoutes.list,
  branchRoutes.show,
  protect,
  change,
  branchRoutes.unprotect,
  tagRoutes.list,
  tagRoutes.show,
  protectTag,
  tagRoutes.unprotect,
];
