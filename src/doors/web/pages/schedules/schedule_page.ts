/** The page of a schedule for its editors: its settings, and the variables of its pipelines. */
import type { RawParams } from '../../../../platform/http/params.ts';
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
import { checkbox, form, hidden, input, select, textArea } from '../../parts/form.ts';
import { type FormProblems, noProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { fieldText, isTicked } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { button, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { type ScheduleState, fromRecord, scheduleForm, scheduleGuard } from './form.ts';
import { schedulesPath, schedulesRoutePath } from './list.ts';

type VariableValues = { key: string; value: string; variable_type: string; raw: boolean };
type VariableState = FormState<VariableValues>;

const blank: VariableValues = { key: '', value: '', variable_type: 'env_var', raw: false };

const fromSentVariable = (sent: RawParams): VariableValues => ({
  key: fieldText(sent['key']),
  value: fieldText(sent['value']),
  variable_type: fieldText(sent['variable_type']),
  raw: isTicked(sent['raw']),
});

const types = [
  ['env_var', 'Variable'],
  ['file', 'File'],
] as const;

/** @param edited the refused form of the variable */
const line = (
  visit: Visit,
  { path, edited }: { path: string; edited: VariableState | undefined },
  { key, value, variable_type, raw }: PipelineVariable,
): Html => {
  const { values, problems } = edited?.values.key === key ? edited : unsent({ value });
  return html`<tr>
<th scope="row"><code>${key}</code>${variable_type === 'file' && html` <span class="badge">File</span>`}${
    raw && html` <span class="badge">Raw</span>`
  }</th>
<td><details${problems !== noProblems && html` open`}><summary>Show or edit</summary>${form(
    visit,
    { action: `${path}/variables/edit`, submit: 'Save', name: `Save ${key}`, problems },
    hidden('key', key),
    textArea({
      name: 'value',
      id: `value_of_${key}`,
      label: `Value of ${key}`,
      value: values.value,
      rows: 2,
      problems,
    }),
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

const newForm = (visit: Visit, path: string, { values, problems }: VariableState): Html =>
  form(
    visit,
    { action: `${path}/variables`, submit: 'Create variable', problems },
    input({ name: 'key', label: 'Key', value: values.key, required: true, problems }),
    textArea({ name: 'value', label: 'Value', value: values.value, rows: 2, problems }),
    select({ name: 'variable_type', label: 'Kind', value: values.variable_type, options: types }),
    checkbox({ name: 'raw', label: 'Raw: variables in the value are not expanded', checked: values.raw }),
  );

/** Refused forms of the page. */
type Refused = { settings?: ScheduleState; added?: VariableState; edited?: VariableState };

export const editView = async (
  visit: Visit,
  { project, schedule }: LoadedSchedule,
  { settings, added, edited }: Refused = {},
): Promise<View> => {
  const { call } = visit;
  const path = `${schedulesPath(project)}/${schedule.id}`;
  const variables = await loadScheduleVariables(call.platform, call.db, schedule.id);
  const settingsState = settings ?? unsent(fromRecord(schedule));
  const { base, submit, card } = scheduleGuard.parts(schedule, settingsState, path);
  const content = html`${scheduleForm(visit, { action: path, submit, base }, settingsState)}${card}
<h2 id="variables">Variables</h2>
<p>Passed to every pipeline of the schedule.</p>
${variables.length > 0 && table(variables.map((one) => line(visit, { path, edited }, one)))}
${newForm(visit, path, added ?? unsent(blank))}
<h2>Delete</h2>
${button(visit, `${path}/delete`, { label: 'Delete schedule', danger: true })}`;
  return projectView(visit, { project, title: 'Edit schedule', noun: 'pipeline_schedules' }, content);
};

export const oneSchedule = { ...projectPath, id: id() };

export const findEditable = async (
  { call }: Visit,
  { project, id: scheduleId }: { project: string; id: number },
): Promise<LoadedSchedule> =>
  await findScheduleToChange(call, { id: project, pipeline_schedule_id: scheduleId }, canEditSchedule);

const edit = page({
  method: 'GET',
  path: `${schedulesRoutePath}/:id`,
  audience: 'user',
  params: object(oneSchedule),
  handle: async (visit, params) => await editView(visit, await findEditable(visit, params)),
});

const variablesPath = ({ project, schedule }: LoadedSchedule): string =>
  `${schedulesPath(project)}/${schedule.id}#variables`;

const variableForms = {
  audience: 'user',
  address: oneSchedule,
  find: findEditable,
  fromSent: fromSentVariable,
  toProblems: (problems: FormProblems) => moveUnknownToText(problems, ['key', 'value']),
} as const;

const add = formPage({
  ...variableForms,
  path: `${schedulesRoutePath}/:id/variables`,
  fields: {
    key: optional(text()),
    value: optional(longText()),
    variable_type: oneOf(['env_var', 'file'], { default: 'env_var' }),
    raw: boolean({ default: false }),
  },
  run: async ({ call }, loaded, { key = '', value = '', variable_type, raw }) => {
    const variable = { key: key.trim(), value, variable_type, raw };
    await addScheduleVariable(call, loaded.schedule, variable);
    return redirect(variablesPath(loaded), `The variable ${variable.key} was created.`);
  },
  view: async (visit, loaded, added) => await editView(visit, loaded, { added }),
});

const save = formPage({
  ...variableForms,
  path: `${schedulesRoutePath}/:id/variables/edit`,
  fields: { key: text(), value: optional(longText()) },
  run: async ({ call }, loaded, { key, value = '' }) => {
    await editScheduleVariable(call, loaded.schedule, { key, value });
    return redirect(variablesPath(loaded), `The variable ${key} was saved.`);
  },
  view: async (visit, loaded, edited) => await editView(visit, loaded, { edited }),
});

/** The key is a field of the form, not part of its address. */
const remove = page({
  method: 'POST',
  path: `${schedulesRoutePath}/:id/variables/delete`,
  audience: 'user',
  params: object({ ...oneSchedule, key: text() }),
  handle: async (visit, { key, ...address }) => {
    const loaded = await findEditable(visit, address);
    await removeScheduleVariable(visit.call, loaded.schedule, key);
    return redirect(variablesPath(loaded), `The variable ${key} was deleted.`);
  },
});

export const onePages = [edit, add, save, remove];
