/** Lists the triggers of a project: tokens with which external programs start its pipelines. */
import { requireUser } from '../../../../core/access/call.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { id, object, optional, text } from '../../../../platform/http/schema.ts';
import { triggersJson } from '../../../../ci/pipelines/triggers/json.ts';
import {
  createTrigger,
  deleteTrigger,
  listTriggers,
  updateTrigger,
} from '../../../../ci/pipelines/triggers/find_and_change_triggers.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { type FormProblems, attempt, form, input, noProblems, withFormStatus } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { button, projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { spellCount } from '../../parts/spell_count.ts';

const triggersRoutePath = `${projectRoot}/triggers`;

const triggersPath = (project: Project): string => projectPagePath(project, 'triggers');

type Json = Awaited<ReturnType<typeof triggersJson>>[number];

const timeOr = (time: string | null, otherwise: string): Html | string =>
  time === null
    ? otherwise
    : html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`;

/** The token of another user's trigger is shown abbreviated. */
const isOwn = ({ call }: Visit, { owner }: Json): boolean => owner?.id === requireUser(call).id;

const line = (visit: Visit, path: string, trigger: Json): Html => {
  const { description, token, owner, last_used } = trigger;
  const of = `${path}/${trigger.id}`;
  const rename = form(
    visit,
    { action: of, submit: 'Save', name: `Save ${description}` },
    input({ name: 'description', id: `description_${trigger.id}`, label: 'Description', value: description }),
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
<td>${isOwn(visit, trigger) && html`<details><summary>Rename</summary>${rename}</details>`}
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

type Tried = { description: string; problems: FormProblems };

const listView = async (
  visit: Visit,
  project: Project,
  query: { page?: number; per_page?: number } = {},
  { description, problems }: Tried = { description: '', problems: noProblems },
): Promise<View> => {
  const { call } = visit;
  const wanted = pageRequest(query);
  const path = triggersPath(project);
  const { items, total } = await listTriggers(call.db, project.id, wanted);
  const triggers = await triggersJson(call, items);
  const content = html`<p>A trigger token starts pipelines with the rights of its owner.</p>
<p class="quiet">${spellCount(total, 'trigger')}</p>
${triggers.length > 0 && table(triggers.map((one) => line(visit, path, one)))}
${pagesNav({ path, query: {}, page: wanted, total })}
<h2 id="new">New trigger</h2>
${form(
  visit,
  { action: path, submit: 'Add trigger', problems },
  input({ name: 'description', label: 'Description', value: description, required: true, problems }),
)}
${use(visit, project)}`;
  const view = projectView(visit, { project, title: 'Triggers', noun: 'triggers' }, content);
  return withFormStatus(view, problems);
};

const find = async ({ call }: Visit, project: string): Promise<Project> =>
  await findProjectFor(call, project, 'admin_trigger');

const filled = { description: optional(text()) };

const list = page({
  method: 'GET',
  path: triggersRoutePath,
  audience: 'user',
  params: object({ ...projectPath, ...pageParams }),
  handle: async (visit, { project, ...query }) => await listView(visit, await find(visit, project), query),
});

type Write = (project: Project, description: string) => Promise<unknown>;

/** Shows the list again with the problems. */
const written = async (visit: Visit, fullPath: string, description: string, write: Write) => {
  const project = await find(visit, fullPath);
  const problems = await attempt(async () => await write(project, description));
  if (problems === null) return redirect(triggersPath(project), 'The trigger was saved.');
  return await listView(
    visit,
    project,
    {},
    { description, problems: moveUnknownToText(problems, ['description']) },
  );
};

const create = page({
  method: 'POST',
  path: triggersRoutePath,
  audience: 'user',
  params: object({ ...projectPath, ...filled }),
  handle: async (visit, { project, description = '' }) =>
    await written(
      visit,
      project,
      description,
      async (project, text) => await createTrigger(visit.call, project, text),
    ),
});

const one = { ...projectPath, id: id() };

const update = page({
  method: 'POST',
  path: `${triggersRoutePath}/:id`,
  audience: 'user',
  params: object({ ...one, ...filled }),
  handle: async (visit, { project, id: triggerId, description = '' }) =>
    await written(
      visit,
      project,
      description,
      async (project, text) => await updateTrigger(visit.call, project, triggerId, text),
    ),
});

const remove = page({
  method: 'POST',
  path: `${triggersRoutePath}/:id/delete`,
  audience: 'user',
  params: object(one),
  handle: async (visit, { project: fullPath, id: triggerId }) => {
    const project = await find(visit, fullPath);
    await deleteTrigger(visit.call, project, triggerId);
    return redirect(triggersPath(project), 'The trigger was deleted. Its token is invalid now.');
  },
});

export const pages = [list, create, update, remove];
