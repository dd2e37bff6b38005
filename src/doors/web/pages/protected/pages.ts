/** Pages of protected branches and tags, and handlers for their forms, which call the operations of the API. */
import { notFound } from '../../../../platform/errors.ts';
import { pageParams } from '../../../../platform/http/page.ts';
import { boolean, integer, object, optional, text } from '../../../../platform/http/schema.ts';
import type { Checked } from '../../../../platform/http/precondition.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { projectPagePath, projectPath } from '../../parts/frame/project_layout.ts';
import { type AnyPage, type Visit, page, redirect } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { type Kind, type Rule, type RuleValues, branchKind, tagKind } from './rule_kinds.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { baseField } from '../../parts/fields/guard_edits.ts';
import { fromSent, protectedView, ruleGuard } from './list.ts';

const ruleValues = {
  name: optional(text()),
  push_access_level: optional(integer()),
  merge_access_level: optional(integer()),
  create_access_level: optional(integer()),
  allow_force_push: optional(boolean()),
};

const administered = async ({ call }: Visit, { project }: { project: string }): Promise<Project> =>
  await findProjectFor(call, project, 'admin_protected_ref');

type Save = (
  visit: Visit,
  project: Project,
  name: string,
  values: Checked<RuleValues, Rule>,
) => Promise<unknown>;

type SavePage = { below: string; notice: (name: string) => string; isNew: boolean; save: Save };

/** A form that adds or changes a rule. */
const savePage = (kind: Kind, { below, notice, isNew, save }: SavePage): AnyPage =>
  formPage({
    path: `${projectRoot}/${kind.noun}${below}`,
    audience: 'user',
    address: projectPath,
    fields: { ...ruleValues, ...baseField },
    find: administered,
    fromSent,
    toProblems: (problems) => moveUnknownToText(problems, Object.keys(ruleValues)),
    run: async (visit, project, { project: _address, name = '', base, ...values }, typed) => {
      await save(visit, project, name, { ...values, ...ruleGuard(kind).check(base, typed) });
      return redirect(projectPagePath(project, kind.noun), notice(name));
    },
    view: async (visit, project, state) => {
      const rule = isNew ? null : state.values.name;
      return await protectedView(kind, { visit, project }, {}, { rule, ...state });
    },
  });

const removePage = (kind: Kind): AnyPage =>
  page({
    method: 'POST',
    path: `${projectRoot}/${kind.noun}/delete`,
    audience: 'user',
    params: object({ ...projectPath, name: optional(text()) }),
    handle: async (visit, { name = '', ...address }) => {
      const project = await administered(visit, address);
      if (!(await kind.remove(visit.call, project, name))) throw notFound();
      return redirect(projectPagePath(project, kind.noun), `${name} was unprotected.`);
    },
  });

const pagesOf = (kind: Kind): AnyPage[] => {
  const { noun, add, change } = kind;
  const list = page({
    method: 'GET',
    path: `${projectRoot}/${noun}`,
    audience: 'user',
    params: object({ ...projectPath, ...pageParams }),
    handle: async (visit, { project: fullPath, ...query }) => {
      const project = await findProjectFor(visit.call, fullPath, 'read_protected_ref');
      return await protectedView(kind, { visit, project }, query);
    },
  });
  const adding = savePage(kind, {
    below: '',
    isNew: true,
    notice: (name) => `${name} was protected.`,
    save: async ({ call }, project, name, { check: _none, ...values }) =>
      await add(call, project, name.trim(), values),
  });
  if (change === null) return [list, adding, removePage(kind)];
  const changing = savePage(kind, {
    below: '/change',
    isNew: false,
    notice: (name) => `The protection of ${name} was saved.`,
    save: async ({ call }, project, name, values) => await change(call, project, name, values),
  });
  return [list, adding, changing, removePage(kind)];
};

export const pages = [branchKind, tagKind].flatMap(pagesOf);
