/** Handlers for forms of variables, which call the operations of the API. */
import { object, text } from '../../../../platform/http/schema.ts';
import {
  createVariable,
  deleteVariable,
  findVariable,
  updateVariable,
} from '../../../../ci/variables/change.ts';
import type { Variable } from '../../../../ci/variables/rules.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import { formPage, unsent } from '../../parts/fields/form_page.ts';
import type { SettingsList, SettingsListParams, SettingsListRoute } from '../ci/owner_settings_routes.ts';
import {
  type VariableState,
  createFields,
  fromRecord,
  fromSent,
  toEdit,
  toProblems,
  updateFields,
  variableForm,
  variableGuard,
} from './form.ts';
import { html } from '../../parts/html.ts';
import { addressOf, listView, ownerOf } from './list.ts';

const create = (kind: SettingsListRoute): AnyPage =>
  formPage({
    path: kind.routePath,
    audience: kind.audience,
    address: kind.params,
    fields: createFields,
    find: kind.find,
    fromSent,
    toProblems,
    run: async (visit, list, params) => {
      const key = params.key?.trim() ?? '';
      const hidden = params.masked_and_hidden ? { masked: 1 as const, hidden: 1 as const } : {};
      await createVariable(visit.call, ownerOf(list.owner), { ...toEdit(params), key, ...hidden });
      return redirect(list.path, `The variable ${key} was created.`);
    },
    view: async (visit, list, state) => await listView(visit, list, {}, state),
  });

type Found = { list: SettingsList; variable: Variable };

const findOne =
  (kind: SettingsListRoute) =>
  async (visit: Visit, address: SettingsListParams & { key: string; scope: string }): Promise<Found> => {
    const list = await kind.find(visit, address);
    const { call } = visit;
    return { list, variable: await findVariable(call, call.db, ownerOf(list.owner), address) };
  };

/** An address without a scope names the variable for all environments. */
const variableParams = { key: text(), scope: { ...text(), default: '*' } };

const editView = (visit: Visit, { list, variable }: Found, state: VariableState): View => {
  const action = addressOf(list.path, variable);
  const { base, submit, card } = variableGuard.parts(variable, state, action);
  const content = variableForm(visit, { action, submit, before: variable, base }, state);
  return list.view(visit, `Variable ${variable.key}`, html`${content}${card}`);
};

const edit = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.routePath}/:key`,
    audience: kind.audience,
    params: object({ ...kind.params, ...variableParams }),
    handle: async (visit, params) => {
      const loaded = await findOne(kind)(visit, params);
      return editView(visit, loaded, unsent(fromRecord(loaded.variable)));
    },
  });

const update = (kind: SettingsListRoute): AnyPage =>
  formPage({
    path: `${kind.routePath}/:key`,
    audience: kind.audience,
    address: { ...kind.params, ...variableParams },
    fields: updateFields,
    find: findOne(kind),
    fromSent,
    toProblems,
    run: async (visit, { list, variable }, params, typed) => {
      const { value, ...rest } = toEdit(params);
      const isKept = variable.hidden === 1 && value === '';
      const edited = { ...rest, ...(!isKept && { value }), ...variableGuard.check(params.base, typed) };
      await updateVariable(visit.call, ownerOf(list.owner), params, edited);
      return redirect(list.path, `The variable ${variable.key} was saved.`);
    },
    view: editView,
  });

const remove = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:key/delete`,
    audience: kind.audience,
    params: object({ ...kind.params, ...variableParams }),
    handle: async (visit, params) => {
      const list = await kind.find(visit, params);
      await deleteVariable(visit.call, ownerOf(list.owner), params);
      return redirect(list.path, `The variable ${params.key} was deleted.`);
    },
  });

export const formPages = (kind: SettingsListRoute): AnyPage[] => [
  create(kind),
  edit(kind),
  update(kind),
  remove(kind),
];
