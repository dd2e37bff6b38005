/** Handlers for forms of runners, which call the operations of the API. */
import type { Call } from '../../../../core/access/call.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { deleteRunner, resetToken, updateRunner } from '../../../../ci/runners/update_and_delete.ts';
import { createRunner } from '../../../../ci/runners/registration/create.ts';
import { disableRunner } from '../../../../ci/runners/enable_in_projects.ts';
import { findRunner } from '../../../../ci/runners/lists/queries.ts';
import type { RunnerRow } from '../../../../ci/runners/rules.ts';
import { resetRegistrationToken } from '../../../../ci/runners/registration/registration_tokens.ts';
import { formPage, unsent } from '../../parts/fields/form_page.ts';
import { type Html, html } from '../../parts/html.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import type {
  SettingsOwner,
  SettingsList,
  SettingsListRoute,
  SettingsListParams,
} from '../ci/owner_settings_routes.ts';
import { button } from '../../parts/frame/project_layout.ts';
import {
  type RunnerState,
  fromRecord,
  fromSent,
  runnerFields,
  runnerForm,
  toEdit,
  toProblems,
} from './form.ts';
import { listView } from './list.ts';
import { ownerOf } from './owner_runners.ts';

const tokenView = (
  visit: Visit,
  list: SettingsList,
  shown: { title: string; token: string; use: Html },
): View =>
  list.view(
    visit,
    shown.title,
    html`<p>Copy the token now: it is not shown again.</p>
<p><code class="secret">${shown.token}</code></p>
<p>${shown.use}</p>
<p><a class="button" href="${list.path}">I have copied it</a></p>`,
  );

const use = (visit: Visit): Html =>
  html`On the machine that is to run jobs: <code>gantry runner --url ${visit.call.baseUrl} --token</code> and the token, or <code>gitlab-runner register</code> with both.`;

const create = (kind: SettingsListRoute): AnyPage =>
  formPage({
    path: kind.routePath,
    audience: kind.audience,
    address: kind.params,
    fields: runnerFields,
    find: kind.find,
    fromSent,
    toProblems,
    run: async (visit, list, params) => {
      const { id: runnerId, token } = await createRunner(visit.call, ownerOf(list.owner), toEdit(params));
      return tokenView(visit, list, { title: `Runner #${runnerId} created`, token, use: use(visit) });
    },
    view: async (visit, list, state) => await listView(visit, list, {}, state),
  });

type Found = { list: SettingsList; runner: RunnerRow };

const findOne =
  (kind: SettingsListRoute) =>
  async (visit: Visit, address: SettingsListParams & { id: number }): Promise<Found> => {
    const list = await kind.find(visit, address);
    return { list, runner: await findRunner(visit.call, address.id, 'edit') };
  };

const editView = (visit: Visit, { list, runner }: Found, state: RunnerState): View => {
  const action = `${list.path}/${runner.id}`;
  const content = html`${runnerForm(visit, { action, submit: 'Save changes' }, state)}
<h2>Token</h2>
<p>The old token becomes invalid: configure the runner with the new one.</p>
${button(visit, `${action}/reset_token`, { label: 'Reset token', danger: true })}`;
  return list.view(visit, `Runner #${runner.id}`, content);
};

const edit = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.routePath}/:id`,
    audience: kind.audience,
    params: object({ ...kind.params, id: id() }),
    handle: async (visit, params) => {
      const loaded = await findOne(kind)(visit, params);
      return editView(visit, loaded, unsent(fromRecord(loaded.runner)));
    },
  });

const update = (kind: SettingsListRoute): AnyPage =>
  formPage({
    path: `${kind.routePath}/:id`,
    audience: kind.audience,
    address: { ...kind.params, id: id() },
    fields: runnerFields,
    find: findOne(kind),
    fromSent,
    toProblems,
    run: async ({ call }, { list, runner }, params) => {
      await updateRunner(call, runner.id, toEdit(params));
      return redirect(list.path, `Runner #${runner.id} was saved.`);
    },
    view: editView,
  });

type Act = (call: Call, runnerId: number, list: SettingsList) => Promise<unknown>;

const acting = (
  kind: SettingsListRoute,
  verb: string,
  { notice, act }: { notice: string; act: Act },
): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:id/${verb}`,
    audience: kind.audience,
    params: object({ ...kind.params, id: id() }),
    handle: async (visit, params) => {
      const list = await kind.find(visit, params);
      await act(visit.call, params.id, list);
      return redirect(list.path, `Runner #${params.id} ${notice}`);
    },
  });

const ofHolder: Record<SettingsOwner['scope'], string> = {
  instance: 'of the instance',
  group: 'of this group',
  project: 'of this project',
};

const resets = (kind: SettingsListRoute): AnyPage[] => [
  page({
    method: 'POST',
    path: `${kind.routePath}/:id/reset_token`,
    audience: kind.audience,
    params: object({ ...kind.params, id: id() }),
    handle: async (visit, params) => {
      const list = await kind.find(visit, params);
      const token = await resetToken(visit.call, params.id);
      return tokenView(visit, list, {
        title: `New token for runner #${params.id}`,
        token,
        use: use(visit),
      });
    },
  }),
  page({
    method: 'POST',
    path: `${kind.routePath}/reset_registration_token`,
    audience: kind.audience,
    params: object(kind.params),
    handle: async (visit, params) => {
      const list = await kind.find(visit, params);
      const token = await resetRegistrationToken(visit.call, ownerOf(list.owner));
      const explanation = html`It registers runners ${ofHolder[list.owner.scope]}.`;
      return tokenView(visit, list, { title: 'New registration token', token, use: explanation });
    },
  }),
];

const disable = async (call: Call, runnerId: number, { owner }: SettingsList): Promise<void> => {
  if (owner.scope === 'project') await disableRunner(call, owner.project.id, runnerId);
};

export const formPages = (kind: SettingsListRoute): AnyPage[] => [
  create(kind),
  edit(kind),
  update(kind),
  ...resets(kind),
  acting(kind, 'pause', {
    notice: 'was paused. It takes no new jobs.',
    act: async (call, runnerId) => await updateRunner(call, runnerId, { active: 0 }),
  }),
  acting(kind, 'resume', {
    notice: 'was resumed.',
    act: async (call, runnerId) => await updateRunner(call, runnerId, { active: 1 }),
  }),
  acting(kind, 'delete', { notice: 'was deleted.', act: deleteRunner }),
];

/** Handles the form that takes a runner from a project. */
export const disablePage = (kind: SettingsListRoute): AnyPage =>
  acting(kind, 'disable', { notice: 'was disabled for this project.', act: disable });
