/** Pages that add and change hooks, with the operations of the API. */
import type { HookRow } from '../../../../outgoing/hooks/queries.ts';
import { unprocessable } from '../../../../outgoing/hooks/rules.ts';
import { createHook, deleteHook, updateHook } from '../../../../outgoing/hooks/write.ts';
import { missingAttribute } from '../../../../platform/errors.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { formPage, unsent } from '../../parts/fields/form_page.ts';
import { html } from '../../parts/html.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import type { SettingsList, SettingsListRoute } from '../ci/owner_settings_routes.ts';
import {
  type HookState,
  editFields,
  fromRecord,
  fromSent,
  getBlank,
  hookFields,
  hookForm,
  toEdit,
  toProblems,
} from './form.ts';
import { checkHook, guardParts } from './concurrent_edits.ts';
import { findHookOfOwner, hasHiddenUrl, nouns, ownerOf, titleOf } from './placed_hook.ts';

const formView = (visit: Visit, list: SettingsList, state: HookState, hook: HookRow | null): View => {
  const owner = ownerOf(list.owner);
  const { title, one } = nouns[list.owner.scope];
  const action = hook === null ? list.path : `${list.path}/${hook.id}`;
  const guard = hook === null ? null : guardParts({ visit, owner }, hook, state, `${action}/edit`);
  const submit = guard?.submit ?? `Create ${one}`;
  const back =
    hook === null
      ? { path: list.path, name: `All ${title.toLowerCase()}` }
      : { path: action, name: titleOf(hook) };
  const content = html`<p><a href="${back.path}">${back.name}</a></p>
<div class="card"><div class="body">${hookForm(visit, { action, submit, owner, base: guard?.base ?? null }, state)}</div></div>${guard?.card}`;
  return list.view(visit, hook === null ? `New ${one}` : `Edit ${one}`, content);
};

const addPage = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.routePath}/new`,
    audience: kind.audience,
    params: object(kind.params),
    handle: async (visit, params) => {
      const list = await kind.find(visit, params);
      return formView(visit, list, unsent(getBlank(ownerOf(list.owner))), null);
    },
  });

const create = (kind: SettingsListRoute): AnyPage =>
  formPage({
    path: kind.routePath,
    audience: kind.audience,
    address: kind.params,
    fields: hookFields,
    find: kind.find,
    fromSent: (sent) => fromSent(sent, null),
    toProblems,
    run: async ({ call }, list, params) => {
      const owner = ownerOf(list.owner);
      const edit = toEdit(owner, params);
      if (edit.url === '') throw missingAttribute('url');
      const hook = await createHook(call, owner, edit);
      return redirect(`${list.path}/${hook.id}`, `The ${nouns[list.owner.scope].one} was created.`);
    },
    view: (visit, list, state) => formView(visit, list, state, null),
  });

const editPage = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.routePath}/:id/edit`,
    audience: kind.audience,
    params: object({ ...kind.params, id: id() }),
    handle: async (visit, params) => {
      const { list, hook } = await findHookOfOwner(kind, visit, params);
      return formView(visit, list, unsent(fromRecord(visit, hook)), hook);
    },
  });

const update = (kind: SettingsListRoute): AnyPage =>
  formPage({
    path: `${kind.routePath}/:id`,
    audience: kind.audience,
    address: { ...kind.params, id: id() },
    fields: editFields,
    find: async (visit, address) => await findHookOfOwner(kind, visit, address),
    fromSent: (sent, { hook }) => fromSent(sent, hook),
    toProblems,
    run: async (visit, { list, owner, hook }, params, typed) => {
      await updateHook(visit.call, owner, hook.id, (locked) => {
        checkHook({ visit, owner }, { base: params.base, typed }, locked);
        const { url, ...others } = toEdit(owner, params);
        if (url !== '' || !hasHiddenUrl(locked)) return { ...others, url };
        // Pages would show the URL that they hid until now.
        if (!hasHiddenUrl(params))
          throw unprocessable('url', 'Type the URL again to change the format to JSON');
        return others;
      });
      return redirect(`${list.path}/${hook.id}`, 'The changes were saved.');
    },
    view: (visit, { list, hook }, state) => formView(visit, list, state, hook),
  });

/** An edit that changes nothing ends the pause of a failing hook. */
const resume = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:id/resume`,
    audience: kind.audience,
    params: object({ ...kind.params, id: id() }),
    handle: async (visit, params) => {
      const { list, owner, hook } = await findHookOfOwner(kind, visit, params);
      await updateHook(visit.call, owner, hook.id, {});
      return redirect(`${list.path}/${hook.id}`, 'Resumed: pending deliveries are sent now.');
    },
  });

const remove = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:id/delete`,
    audience: kind.audience,
    params: object({ ...kind.params, id: id() }),
    handle: async (visit, params) => {
      const { list, owner, hook } = await findHookOfOwner(kind, visit, params);
      await deleteHook(visit.call, owner, hook.id);
      return redirect(list.path, `The ${nouns[list.owner.scope].one} was deleted.`);
    },
  });

export const formPages = (kind: SettingsListRoute): AnyPage[] => [
  addPage(kind),
  create(kind),
  editPage(kind),
  update(kind),
  resume(kind),
  remove(kind),
];
