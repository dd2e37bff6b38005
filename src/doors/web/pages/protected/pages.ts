/** Pages of protected branches and tags, and handlers for their forms, which call the operations of the API. */
import { notFound } from '../../../../platform/errors.ts';
import { pageParams } from '../../../../platform/http/page.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { boolean, integer, object, optional, text } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { type FormProblems, attempt } from '../../parts/form.ts';
import { projectPagePath, projectPath } from '../../parts/frame/project_layout.ts';
import { type AnyPage, type Visit, page, redirect } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { type Kind, type RuleValues, branchKind, tagKind } from './rule_kinds.ts';
import { protectedView } from './list.ts';
import { fieldText } from '../../parts/fields/field_text.ts';

const ruleParams = {
  ...projectPath,
  name: optional(text()),
  push_access_level: optional(integer()),
  merge_access_level: optional(integer()),
  create_access_level: optional(integer()),
  allow_force_push: optional(boolean()),
};

const fieldNames = Object.keys(ruleParams).filter((name) => name !== 'project');

const typedIn = (sent: RawParams): Record<string, string> =>
  Object.fromEntries(
    fieldNames.flatMap((name) => (sent[name] === undefined ? [] : [[name, fieldText(sent[name])]])),
  );

const administered = async ({ call }: Visit, project: unknown): Promise<Project> =>
  await findProjectFor(call, String(project), 'admin_protected_ref');

type Save = (visit: Visit, project: Project, name: string, values: RuleValues) => Promise<unknown>;

type SavePage = { below: string; notice: (name: string) => string; isNew: boolean; save: Save };

/** A form that adds or changes a rule. */
const savePage = (kind: Kind, { below, notice, isNew, save }: SavePage): AnyPage => {
  const refuse = async (visit: Visit, project: Project, sent: RawParams, problems: FormProblems) => {
    const typed = typedIn(sent);
    const rule = isNew ? null : (typed['name'] ?? '');
    const placed = moveUnknownToText(problems, fieldNames);
    return await protectedView(kind, { visit, project }, {}, { rule, sent: typed, problems: placed });
  };
  return page({
    method: 'POST',
    path: `${projectRoot}/${kind.noun}${below}`,
    audience: 'user',
    params: object(ruleParams),
    handle: async (visit, { project: fullPath, ...sent }) => {
      const project = await administered(visit, fullPath);
      const { name = '', ...values } = sent;
      const problems = await attempt(async () => await save(visit, project, name, values));
      if (problems !== null) return await refuse(visit, project, sent, problems);
      return redirect(projectPagePath(project, kind.noun), notice(name));
    },
    invalid: async (visit, sent, fields) =>
      await refuse(visit, await administered(visit, sent['project']), sent, { text: null, fields }),
  });
};

const removePage = (kind: Kind): AnyPage =>
  page({
    method: 'POST',
    path: `${projectRoot}/${kind.noun}/delete`,
    audience: 'user',
    params: object({ ...projectPath, name: optional(text()) }),
    handle: async (visit, { project: fullPath, name = '' }) => {
      const project = await administered(visit, fullPath);
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
    save: async ({ call }, project, name, values) => await add(call, project, name.trim(), values),
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
