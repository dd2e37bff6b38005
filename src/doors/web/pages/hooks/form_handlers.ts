/** Pages that add and change hooks, with the operations of the API. */
import type { HookRow } from '../../../../outgoing/hooks/queries.ts';
import { createHook, deleteHook, updateHook } from '../../../../outgoing/hooks/write.ts';
import { missingAttribute } from '../../../../platform/errors.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { type FormProblems, attempt, noProblems } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import type { Place, PlaceKind, PlaceParams } from '../ci/settings_owner.ts';
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
import { findPlacedHook, nouns, ownerOf, titleOf } from './placed_hook.ts';

type HookParams = PlaceParams & { id: number };

const formView = (visit: Visit, place: Place, tried: Tried, hook: HookRow | null): View => {
  const owner = ownerOf(place.holder);
  const { title, one } = nouns[place.holder.scope];
  const action = hook === null ? place.path : `${place.path}/${hook.id}`;
  const submit = hook === null ? `Add ${one}` : 'Save changes';
  const back =
    hook === null
      ? { path: place.path, name: `All ${title.toLowerCase()}` }
      : { path: action, name: titleOf(hook) };
  const content = html`<p><a href="${back.path}">${back.name}</a></p>
<div class="card"><div class="body">${hookForm(visit, { action, submit, owner }, tried)}</div></div>`;
  const view = place.view(visit, hook === null ? `Add ${one}` : `Edit ${one}`, content);
  return tried.problems === noProblems ? view : { ...view, status: 422 };
};

const refuse = (
  { visit, place, sent }: { visit: Visit; place: Place; sent: RawParams },
  problems: FormProblems,
  hook: HookRow | null = null,
): View => formView(visit, place, { given: asTyped(sent, hook), problems: hookProblems(problems) }, hook);

const addPage = (kind: PlaceKind): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.served}/new`,
    audience: kind.audience,
    params: object(kind.params),
    handle: async (visit, params) => {
      const place = await kind.find(visit, params);
      return formView(visit, place, untried(blankOf(ownerOf(place.holder))), null);
    },
  });

const create = (kind: PlaceKind): AnyPage =>
  page({
    method: 'POST',
    path: kind.served,
    audience: kind.audience,
    params: object({ ...kind.params, ...filledParams }),
    invalid: async (visit, sent, fields) =>
      refuse({ visit, place: await kind.find(visit, sent), sent }, { text: null, fields }),
    handle: async (visit, params) => {
      const sent: RawParams = params;
      const place = await kind.find(visit, sent);
      const owner = ownerOf(place.holder);
      const edit = toEdit(owner, sent);
      const made: { id?: number } = {};
      const problems = await attempt(async () => {
        if (edit.url === '') throw missingAttribute('url');
        made.id = (await createHook(visit.call, owner, edit)).id;
      });
      if (problems !== null) return refuse({ visit, place, sent }, problems);
      return redirect(`${place.path}/${made.id}`, `The ${nouns[place.holder.scope].one} is added.`);
    },
  });

const editPage = (kind: PlaceKind): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.served}/:id/edit`,
    audience: kind.audience,
    params: object({ ...kind.params, id: id() }),
    handle: async (visit, params) => {
      const { place, hook } = await findPlacedHook(kind, visit, params);
      return formView(visit, place, untried(filledOf(visit, hook)), hook);
    },
  });

const update = (kind: PlaceKind): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.served}/:id`,
    audience: kind.audience,
    params: object({ ...kind.params, id: id(), ...filledParams }),
    invalid: async (visit, sent, fields) => {
      const params = { ...sent, id: Number(sent['id']) } as HookParams;
      const { place, hook } = await findPlacedHook(kind, visit, params);
      return refuse({ visit, place, sent }, { text: null, fields }, hook);
    },
    handle: async (visit, params) => {
      const sent = params as RawParams & HookParams;
      const { place, owner, hook } = await findPlacedHook(kind, visit, sent);
      const problems = await attempt(
        async () => await updateHook(visit.call, owner, hook.id, toEdit(owner, sent)),
      );
      if (problems !== null) return refuse({ visit, place, sent }, problems, hook);
      return redirect(`${place.path}/${hook.id}`, 'The changes are saved.');
    },
  });

/** An edit that changes nothing ends the pause of a failing hook. */
const resume = (kind: PlaceKind): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.served}/:id/resume`,
    audience: kind.audience,
    params: object({ ...kind.params, id: id() }),
    handle: async (visit, params) => {
      const { place, owner, hook } = await findPlacedHook(kind, visit, params);
      await updateHook(visit.call, owner, hook.id, {});
      return redirect(`${place.path}/${hook.id}`, 'Resumed: pending deliveries are sent now.');
    },
  });

const remove = (kind: PlaceKind): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.served}/:id/delete`,
    audience: kind.audience,
    params: object({ ...kind.params, id: id() }),
    handle: async (visit, params) => {
      const { place, owner, hook } = await findPlacedHook(kind, visit, params);
      await deleteHook(visit.call, owner, hook.id);
      return redirect(place.path, `The ${nouns[place.holder.scope].one} is deleted.`);
    },
  });

export const actPages = (kind: PlaceKind): AnyPage[] => [
  addPage(kind),
  create(kind),
  editPage(kind),
  update(kind),
  resume(kind),
  remove(kind),
];
