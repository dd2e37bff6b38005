/** Handlers for forms of runners, which call the operations of the API. */
import type { Call } from '../../../../core/access/call.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { deleteRunner, resetToken, updateRunner } from '../../../../ci/runners/update_and_delete.ts';
import { createRunner } from '../../../../ci/runners/registration/create.ts';
import { disableRunner } from '../../../../ci/runners/enable_in_projects.ts';
import { findRunner } from '../../../../ci/runners/lists/queries.ts';
import { resetRegistrationToken } from '../../../../ci/runners/registration/registration_tokens.ts';
import { noProblems } from '../../parts/form.ts';
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
  type Filled,
  type Tried,
  factsOf,
  filledOf,
  filledParams,
  runnerForm,
  runnerProblems,
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
  page({
    method: 'POST',
    path: kind.routePath,
    audience: kind.audience,
    params: object({ ...kind.params, ...filledParams }),
    handle: async (visit, params) => {
      const given = params as Filled & SettingsListParams;
      const list = await kind.find(visit, given);
      try {
        const { id: made, token } = await createRunner(visit.call, ownerOf(list.owner), factsOf(given));
        return tokenView(visit, list, { title: `Runner #${made} created`, token, use: use(visit) });
      } catch (error) {
        const problems = runnerProblems(error);
        if (problems === null) throw error;
        return await listView(visit, list, {}, { given, problems });
      }
    },
  });

const editView = async (visit: Visit, list: SettingsList, runnerId: number, tried?: Tried): Promise<View> => {
  const runner = await findRunner(visit.call, runnerId, 'edit');
  const action = `${list.path}/${runner.id}`;
  const content = html`${runnerForm(visit, { action, submit: 'Save' }, tried ?? { given: filledOf(runner), problems: noProblems })}
<h2>Token</h2>
<p>The old token becomes invalid: configure the runner with the new one.</p>
${button(visit, `${action}/reset_token`, { label: 'Reset token', danger: true })}`;
  const view = list.view(visit, `Runner #${runner.id}`, content);
  return tried === undefined ? view : { ...view, status: 422 };
};

const edit = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.routePath}/:id`,
    audience: kind.audience,
    params: object({ ...kind.params, id: id() }),
    handle: async (visit, params) => {
      const given = params as SettingsListParams & { id: number };
      return await editView(visit, await kind.find(visit, given), given.id);
    },
  });

const update = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:id`,
    audience: kind.audience,
    params: object({ ...kind.params, id: id(), ...filledParams }),
    handle: async (visit, params) => {
      const given = params as Filled & SettingsListParams & { id: number };
      const list = await kind.find(visit, given);
      try {
        await updateRunner(visit.call, given.id, factsOf(given));
      } catch (error) {
        const problems = runnerProblems(error);
        if (problems === null) throw error;
        return await editView(visit, list, given.id, { given, problems });
      }
      return redirect(list.path, `Runner #${given.id} was saved.`);
    },
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
      const given = params as SettingsListParams & { id: number };
      const list = await kind.find(visit, given);
      await act(visit.call, given.id, list);
      return redirect(list.path, `Runner #${given.id} ${notice}`);
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
      const given = params as SettingsListParams & { id: number };
      const list = await kind.find(visit, given);
      const token = await resetToken(visit.call, given.id);
      return tokenView(visit, list, {
        title: `New token for runner #${given.id}`,
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
    notice: 'takes jobs again.',
    act: async (call, runnerId) => await updateRunner(call, runnerId, { active: 1 }),
  }),
  acting(kind, 'delete', { notice: 'was deleted.', act: deleteRunner }),
];

/** Handles the form that takes a runner from a project. */
export const disablePage = (kind: SettingsListRoute): AnyPage =>
  acting(kind, 'disable', { notice: 'no longer takes the jobs of this project.', act: disable });
