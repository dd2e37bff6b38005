/** Handlers for forms of variables, which call the operations of the API. */
import { object, text } from '../../../../platform/http/schema.ts';
import {
  createVariable,
  deleteVariable,
  findVariable,
  updateVariable,
} from '../../../../ci/variables/change.ts';
import type { Variable } from '../../../../ci/variables/rules.ts';
import { attempt } from '../../parts/form.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import type { SettingsList, SettingsListRoute, SettingsListParams } from '../ci/owner_settings_routes.ts';
import {
  type Edited,
  type Filled,
  type Tried,
  editOf,
  editedParams,
  filledOf,
  filledParams,
  fromSent,
  untried,
  variableForm,
  variableProblems,
} from './form.ts';
import { addressOf, listView, ownerOf } from './list.ts';

const create = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: kind.routePath,
    audience: kind.audience,
    params: object({ ...kind.params, ...filledParams }),
    invalid: async (visit, sent, fields) => {
      const list = await kind.find(visit, sent);
      const problems = variableProblems({ text: null, fields });
      return await listView(visit, list, {}, { given: fromSent(sent), problems });
    },
    handle: async (visit, params) => {
      const given = params as Filled & SettingsListParams;
      const list = await kind.find(visit, given);
      const hidden = given.masked_and_hidden ? { masked: 1 as const, hidden: 1 as const } : {};
      const made = { ...editOf(given), key: given.key?.trim() ?? '', ...hidden };
      const problems = await attempt(async () => await createVariable(visit.call, ownerOf(list.owner), made));
      if (problems === null) return redirect(list.path, `The variable ${made.key} was added.`);
      return await listView(visit, list, {}, { given, problems: variableProblems(problems) });
    },
  });

type Meant = SettingsListParams & { key: string; scope: string };

const meant = { key: text(), scope: text() };

const editView = (visit: Visit, list: SettingsList, before: Variable, tried: Tried): View => {
  const action = addressOf(list.path, before);
  const content = variableForm(visit, { action, submit: 'Save', before }, tried);
  return list.view(visit, `Variable ${before.key}`, content);
};

const edit = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.routePath}/:key`,
    audience: kind.audience,
    params: object({ ...kind.params, ...meant }),
    handle: async (visit, params) => {
      const given = params as Meant;
      const list = await kind.find(visit, given);
      const found = await findVariable(visit.call, visit.call.db, ownerOf(list.owner), given);
      return editView(visit, list, found, untried(filledOf(found)));
    },
  });

const update = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:key`,
    audience: kind.audience,
    params: object({ ...kind.params, ...editedParams, ...meant }),
    handle: async (visit, params) => {
      const given = params as Edited & Meant;
      const list = await kind.find(visit, given);
      const { call } = visit;
      const owner = ownerOf(list.owner);
      const before = await findVariable(call, call.db, owner, given);
      const { value, ...rest } = editOf(given);
      const isKept = before.hidden === 1 && value === '';
      const edited = { ...rest, ...(!isKept && { value }) };
      const problems = await attempt(async () => await updateVariable(call, owner, given, edited));
      if (problems === null) return redirect(list.path, `The variable ${before.key} was saved.`);
      const filled = { ...given, masked_and_hidden: before.hidden === 1 };
      const tried = { given: filled, problems: variableProblems(problems) };
      return { ...editView(visit, list, before, tried), status: 422 };
    },
  });

const remove = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:key/delete`,
    audience: kind.audience,
    params: object({ ...kind.params, ...meant }),
    handle: async (visit, params) => {
      const given = params as Meant;
      const list = await kind.find(visit, given);
      await deleteVariable(visit.call, ownerOf(list.owner), given);
      return redirect(list.path, `The variable ${given.key} was deleted.`);
    },
  });

export const formPages = (kind: SettingsListRoute): AnyPage[] => [
  create(kind),
  edit(kind),
  update(kind),
  remove(kind),
];
