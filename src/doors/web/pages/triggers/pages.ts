/** Lists the triggers of a project: tokens with which external programs start its pipelines. */
import { requireUser } from '../../../../core/access/call.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { id, object, optional, text } from '../../../../platform/http/schema.ts';
import { triggersJson } from '../../../../ci/pipelines/triggers/json.ts';
import {
  createTrigger,
  deleteTrigger,
  listTriggers,
  updateTrigger,
} from '../../../../ci/pipelines/triggers/find_and_change_triggers.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { form, input } from '../../parts/form.ts';
import { type FormProblems, noProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { button, projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

const triggersRoutePath = `${projectRoot}/triggers`;

const triggersPath = (project: Project): string => projectPagePath(project, 'triggers');

type TriggerState = FormState<{ description: string }>;

type Json = Awaited<ReturnType<typeof triggersJson>>[number];

const timeOr = (time: string | null, otherwise: string): Html | string =>
  time === null
    ? otherwise
    : html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`;

/** The token of another user's trigger is shown abbreviated. */
const isOwn = ({ call }: Visit, { owner }: Json): boolean => owner?.id === requireUser(call).id;

/** A refused form that renames a trigger. */
type Renamed = { id: number; state: TriggerState };

type Line = { path: string; renamed: Renamed | undefined };

const line = (visit: Visit, { path, renamed }: Line, trigger: Json): Html => {
  const { description, token, owner, last_used } = trigger;
  const of = `${path}/${trigger.id}`;
  const { values, problems } = renamed?.id === trigger.id ? renamed.state : unsent({ description });
  const rename = form(
    visit,
    { action: of, submit: 'Save', name: `Save ${description}`, problems },
    input({
      name: 'description',
      id: `description_${trigger.id}`,
      label: 'Description',
      value: values.description,
      problems,
    }),
  );
  return html`<tr>
<th scope="row">${description}</th>
<td>${
    isOwn(visit, trigger)
      ? html`<details><summary>Show</summary><code class="secret">${token}</code></details>`
      : html`<code>${token}…</code>`
  }</td>
<td>${owner?.name}</td>
<td>${timeOr(last_used, 'Never')}</td>
<td>${isOwn(visit, trigger) && html`<details${problems !== noProblems && html` open`}><summary>Rename</summary>${rename}</details>`}
${button(visit, `${of}/delete`, { label: 'Delete', name: `Delete ${description}`, danger: true })}</td>
</tr>
`;
};

const table = (
  lines: readonly Html[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Triggers"><table>
<thead><tr><th scope="col">Trigger</th><th scope="col">Token</th><th scope="col">Owner</th><th scope="col">Last used</th>
<th scope="col">Actions</th></tr></thead>
<tbody>${lines}</tbody>
</table></div>`;

const use = (
  { call }: Visit,
  { id: projectId, default_branch }: Project,
): Html => html`<h2>How to use one</h2>
<pre tabindex="0" role="region" aria-label="How to start a pipeline by a token"><code>curl --request POST --form token=TOKEN --form ref=${default_branch ?? 'main'} \\
  ${call.baseUrl}/api/v4/projects/${projectId}/trigger/pipeline</code></pre>
<p>With <code>--form "variables[NAME]=value"</code> the pipeline gets a variable.</p>`;

type Refused = { added?: TriggerState; renamed?: Renamed };

const listView = async (
  visit: Visit,
  project: Project,
  query: { page?: number; per_page?: number } = {},
  { added = unsent({ description: '' }), renamed }: Refused = {},
): Promise<View> => {
  const { call } = visit;
  const { values, problems } = added;
  const requestedPage = pageRequest(query);
  const path = triggersPath(project);
  const { items, total } = await listTriggers(call.db, project.id, requestedPage);
  const triggers = await triggersJson(call, items);
  const content = html`<p>A trigger token starts pipelines with the rights of its owner.</p>
<p class="quiet">${spellCount(total, 'trigger')}</p>
${triggers.length > 0 && table(triggers.map((one) => line(visit, { path, renamed }, one)))}
${pagesNav({ path, query: {}, page: requestedPage, total })}
<h2 id="new">New trigger</h2>
${form(
  visit,
  { action: path, submit: 'Create trigger', problems },
  input({ name: 'description', label: 'Description', value: values.description, required: true, problems }),
)}
${use(visit, project)}`;
  return projectView(visit, { project, title: 'Triggers', noun: 'triggers' }, content);
};

const find = async ({ call }: Visit, { project }: { project: string }): Promise<Project> =>
  await findProjectFor(call, project, 'admin_trigger');

const list = page({
  method: 'GET',
  path: triggersRoutePath,
  audience: 'user',
  params: object({ ...projectPath, ...pageParams }),
  handle: async (visit, params) => await listView(visit, await find(visit, params), params),
});

const forms = {
  audience: 'user',
  fields: { description: optional(text()) },
  fromSent: ({ description }: RawParams) => ({ description: fieldText(description) }),
  toProblems: (problems: FormProblems) => moveUnknownToText(problems, ['description']),
} as const;

const create = formPage({
  ...forms,
  path: triggersRoutePath,
  address: projectPath,
  find,
  run: async ({ call }, project, { description = '' }) => {
    await createTrigger(call, project, description);
    return redirect(triggersPath(project), 'The trigger was created.');
  },
  view: async (visit, project, added) => await listView(visit, project, {}, { added }),
});

const triggerParams = { ...projectPath, id: id() };

const update = formPage({
  ...forms,
  path: `${triggersRoutePath}/:id`,
  address: triggerParams,
  find: async (visit, address) => ({ project: await find(visit, address), id: address.id }),
  run: async ({ call }, { project, id: triggerId }, { description = '' }) => {
    await updateTrigger(call, project, triggerId, description);
    return redirect(triggersPath(project), 'The trigger was renamed.');
  },
  view: async (visit, { project, id: triggerId }, state) =>
    await listView(visit, project, {}, { renamed: { id: triggerId, state } }),
});

const remove = page({
  method: 'POST',
  path: `${triggersRoutePath}/:id/delete`,
  audience: 'user',
  params: object(triggerParams),
  handle: async (visit, params) => {
    const project = await find(visit, params);
    await deleteTrigger(visit.call, project, params.id);
    return redirect(triggersPath(project), 'The trigger was deleted. Its token is invalid now.');
  },
});

export const pages = [list, create, update, remove];
