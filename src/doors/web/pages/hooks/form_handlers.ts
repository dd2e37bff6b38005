/** Pages that add and change hooks, with the operations of the API. */
import type { HookRow } from '../../../../outgoing/hooks/queries.ts';
import { createHook, deleteHook, updateHook } from '../../../../outgoing/hooks/write.ts';
import { missingAttribute } from '../../../../platform/errors.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { type FormProblems, attempt, withFormStatus } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import type { SettingsList, SettingsListRoute, SettingsListParams } from '../ci/owner_settings_routes.ts';
import {
  type Tried,
  asTyped,
  blankOf,
  filledOf,
  filledParams,
  hookForm,
  hookProblems,
  toEdit,
  untried,
} from './form.ts';
import { findHookOfOwner, nouns, ownerOf, titleOf } from './placed_hook.ts';

type HookParams = SettingsListParams & { id: number };

const formView = (visit: Visit, list: SettingsList, tried: Tried, hook: HookRow | null): View => {
  const owner = ownerOf(list.owner);
  const { title, one } = nouns[list.owner.scope];
  const action = hook === null ? list.path : `${list.path}/${hook.id}`;
  const submit = hook === null ? `Add ${one}` : 'Save changes';
  const back =
    hook === null
      ? { path: list.path, name: `All ${title.toLowerCase()}` }
      : { path: action, name: titleOf(hook) };
  const content = html`<p><a href="${back.path}">${back.name}</a></p>
<div class="card"><div class="body">${hookForm(visit, { action, submit, owner }, tried)}</div></div>`;
  const view = list.view(visit, hook === null ? `Add ${one}` : `Edit ${one}`, content);
  return withFormStatus(view, tried.problems);
};

const refuse = (
  { visit, list, sent }: { visit: Visit; list: SettingsList; sent: RawParams },
  problems: FormProblems,
  hook: HookRow | null = null,
): View => formView(visit, list, { given: asTyped(sent, hook), problems: hookProblems(problems) }, hook);

const addPage = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.routePath}/new`,
    audience: kind.audience,
    params: object(kind.params),
    handle: async (visit, params) => {
      const list = await kind.find(visit, params);
      return formView(visit, list, untried(blankOf(ownerOf(list.owner))), null);
    },
  });

const create = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: kind.routePath,
    audience: kind.audience,
    params: object({ ...kind.params, ...filledParams }),
    invalid: async (visit, sent, fields) =>
      refuse({ visit, list: await kind.find(visit, sent), sent }, { text: null, fields }),
    handle: async (visit, params) => {
      const sent: RawParams = params;
      const list = await kind.find(visit, sent);
      const owner = ownerOf(list.owner);
      const edit = toEdit(owner, sent);
      const made: { id?: number } = {};
      const problems = await attempt(async () => {
        if (edit.url === '') throw missingAttribute('url');
        made.id = (await createHook(visit.call, owner, edit)).id;
      });
      if (problems !== null) return refuse({ visit, list, sent }, problems);
      return redirect(`${list.path}/${made.id}`, `The ${nouns[list.owner.scope].one} was added.`);
    },
  });

const editPage = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.routePath}/:id/edit`,
    audience: kind.audience,
    params: object({ ...kind.params, id: id() }),
    handle: async (visit, params) => {
      const { list, hook } = await findHookOfOwner(kind, visit, params);
      return formView(visit, list, untried(filledOf(visit, hook)), hook);
    },
  });

const update = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:id`,
    audience: kind.audience,
    params: object({ ...kind.params, id: id(), ...filledParams }),
    invalid: async (visit, sent, fields) => {
      const params = { ...sent, id: Number(sent['id']) } as HookParams;
      const { list, hook } = await findHookOfOwner(kind, visit, params);
      return refuse({ visit, list, sent }, { text: null, fields }, hook);
    },
    handle: async (visit, params) => {
      const sent = params as RawParams & HookParams;
      const { list, owner, hook } = await findHookOfOwner(kind, visit, sent);
      const problems = await attempt(
        async () => await updateHook(visit.call, owner, hook.id, toEdit(owner, sent)),
      );
      if (problems !== null) return refuse({ visit, list, sent }, problems, hook);
      return redirect(`${list.path}/${hook.id}`, 'The changes were saved.');
    },
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
