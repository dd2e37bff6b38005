/** The page of a schedule for its editors: its settings, and the variables of its pipelines. */
import { boolean, id, longText, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import type { PipelineVariable } from '../../../../ci/pipelines/creation/pipeline_variables.ts';
import {
  type LoadedSchedule,
  findScheduleToChange,
  canEditSchedule,
} from '../../../../ci/pipelines/schedules/rights.ts';
import {
  addScheduleVariable,
  editScheduleVariable,
  removeScheduleVariable,
  loadScheduleVariables,
} from '../../../../ci/pipelines/schedules/variables.ts';
import {
  type FormProblems,
  attempt,
  checkbox,
  form,
  hidden,
  input,
  noProblems,
  select,
  textArea,
} from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { button, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { type Tried, filledOf, scheduleForm } from './form.ts';
import { schedulesPath, schedulesRoutePath } from './list.ts';

type Typed = { key: string; value: string; variable_type: 'env_var' | 'file'; raw: boolean };
type TriedVariable = { given: Typed; problems: FormProblems };

const blank: Typed = { key: '', value: '', variable_type: 'env_var', raw: false };

const types = [
  ['env_var', 'Variable'],
  ['file', 'File'],
] as const;

const line = (visit: Visit, path: string, variable: PipelineVariable): Html => {
  const { key, value, variable_type, raw } = variable;
  return html`<tr>
<th scope="row"><code>${key}</code>${variable_type === 'file' && html` <span class="badge">File</span>`}${
    raw && html` <span class="badge">Raw</span>`
  }</th>
<td><details><summary>Show or edit</summary>${form(
    visit,
    { action: `${path}/variables/edit`, submit: 'Save', name: `Save ${key}` },
    hidden('key', key),
    textArea({ name: 'value', id: `value_of_${key}`, label: `Value of ${key}`, value, rows: 2 }),
  )}</details></td>
<td>${form(
    visit,
    { action: `${path}/variables/delete`, submit: 'Delete', name: `Delete ${key}`, danger: true },
    hidden('key', key),
  )}</td>
</tr>
`;
};

const table = (
  lines: readonly Html[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Variables"><table>
<thead><tr><th scope="col">Key</th><th scope="col">Value</th><th scope="col">Action</th></tr></thead>
<tbody>${lines}</tbody>
</table></div>`;

const newForm = (visit: Visit, path: string, { given, problems }: TriedVariable): Html =>
  form(
    visit,
    { action: `${path}/variables`, submit: 'Add variable', problems },
    input({ name: 'key', label: 'Key', value: given.key, required: true, problems }),
    textArea({ name: 'value', label: 'Value', value: given.value, rows: 2, problems }),
    select({ name: 'variable_type', label: 'Kind', value: given.variable_type, options: types }),
    checkbox({ name: 'raw', label: 'Raw: variables in the value are not expanded', checked: given.raw }),
  );

type Shown = { tried?: Tried; variable?: TriedVariable };

export const editView = async (
  visit: Visit,
  { project, schedule }: LoadedSchedule,
  { tried, variable }: Shown = {},
): Promise<View> => {
  const { call } = visit;
  const path = `${schedulesPath(project)}/${schedule.id}`;
  const variables = await loadScheduleVariables(call.platform, call.db, schedule.id);
  const shown = tried ?? { given: filledOf(schedule), problems: noProblems };
  const content = html`${scheduleForm(visit, { action: path, submit: 'Save' }, shown)}
<h2 id="variables">Variables</h2>
<p>Passed to every pipeline of the schedule.</p>
${variables.length > 0 && table(variables.map((one) => line(visit, path, one)))}
${newForm(visit, path, variable ?? { given: blank, problems: noProblems })}
<h2>Delete</h2>
${button(visit, `${path}/delete`, { label: 'Delete schedule', danger: true })}`;
  return projectView(visit, { project, title: 'Edit schedule', noun: 'pipeline_schedules' }, content);
};

const one = { ...projectPath, id: id() };

const find = async ({ call }: Visit, given: { project: string; id: number }): Promise<LoadedSchedule> =>
  await findScheduleToChange(call, { id: given.project, pipeline_schedule_id: given.id }, canEditSchedule);

const edit = page({
  method: 'GET',
  path: `${schedulesRoutePath}/:id`,
  audience: 'user',
  params: object(one),
  handle: async (visit, given) => await editView(visit, await find(visit, given)),
});

const plainLines = (value: string): string => value.replaceAll('\r\n', '\n');

const add = page({
  method: 'POST',
  path: `${schedulesRoutePath}/:id/variables`,
  audience: 'user',
  params: object({
    ...one,
    key: optional(text()),
    value: optional(longText()),
    variable_type: oneOf(['env_var', 'file'], { default: 'env_var' }),
    raw: boolean({ default: false }),
  }),
  handle: async (visit, { key = '', value = '', variable_type, raw, ...given }) => {
    const found = await find(visit, given);
    const variable = { key: key.trim(), value: plainLines(value), variable_type, raw };
    const problems = await attempt(
      async () => await addScheduleVariable(visit.call, found.schedule, variable),
    );
    const path = `${schedulesPath(found.project)}/${found.schedule.id}`;
    if (problems === null) return redirect(`${path}#variables`, `The variable ${variable.key} was added.`);
    const tried = { given: variable, problems: moveUnknownToText(problems, ['key', 'value']) };
    return { ...(await editView(visit, found, { variable: tried })), status: 422 };
  },
});

type Change = (visit: Visit, found: LoadedSchedule, given: { key: string; value: string }) => Promise<string>;

/** The key is a field of the form, not part of its address. */
const changing = (verb: string, change: Change) =>
  page({
    method: 'POST',
    path: `${schedulesRoutePath}/:id/variables/${verb}`,
    audience: 'user',
    params: object({ ...one, key: text(), value: optional(longText()) }),
    handle: async (visit, { key, value = '', ...given }) => {
      const found = await find(visit, given);
      const notice = await change(visit, found, { key, value: plainLines(value) });
      return redirect(`${schedulesPath(found.project)}/${found.schedule.id}#variables`, notice);
    },
  });

export const onePages = [
  edit,
  add,
  changing('edit', async ({ call }, { schedule }, given) => {
    await editScheduleVariable(call, schedule, given);
    return `The variable ${given.key} was saved.`;
  }),
  changing('delete', async ({ call }, { schedule }, { key }) => {
    await removeScheduleVariable(call, schedule, key);
    return `The variable ${key} was deleted.`;
  }),
];
