/** Page that runs a pipeline for a branch or tag, with the variables that the configuration declares and any others. */
import { raw, object, optional, text } from '../../../../../platform/http/schema.ts';
import { createPipelineForCaller } from '../../../../../ci/pipelines/creation/create_on_request.ts';
import { loadDescribedVariables } from '../../../../../ci/pipelines/config/described_variables.ts';
import { type Code, findCode } from '../../../../../code/repository/find_code.ts';
import { type FormState, formPage, unsent } from '../../../parts/fields/form_page.ts';
import { form, hidden, input } from '../../../parts/form.ts';
import { withFormStatus } from '../../../parts/form_problems.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { moveUnknownToText } from '../../../parts/fields/move_problems_to_text.ts';
import { projectPagePath, projectPath, projectView } from '../../../parts/frame/project_layout.ts';
import { projectRoot } from '../../../project_and_group_pages.ts';
import { type Row, filledRows, variableRows, withBlankRows } from '../variable_rows.ts';

const maxRefLength = 1_000;

const shared = { name: 'variables', hasTypes: true };

/** `?var[NAME]=value`, as in links with prefilled variables. */
const prefilledRows = (sentRows: unknown, variable_type: string): Row[] =>
  filledRows(
    Object.entries(typeof sentRows === 'object' && sentRows !== null ? sentRows : {}).map(([key, value]) => ({
      key,
      value: value as unknown,
      variable_type,
    })),
  );

type Filled = { ref: string; rows: readonly Row[] };

/** Lists the variables that the configuration declares, with the value from the form or else the declared one, then the others. */
const loadRows = async (visit: Visit, code: Code, { ref, rows }: Filled) => {
  const { variables, problem } = await loadDescribedVariables(visit.call, code, ref);
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const described = variables.map(({ key, value, description, options = null }): Row => {
    const typed = byKey.get(key)?.value ?? value;
    const isAllowed = options === null || options.includes(typed);
    return { key, value: isAllowed ? typed : value, described: { description, options } };
  });
  const keys = new Set(described.map(({ key }) => key));
  return { rows: [...described, ...rows.filter(({ key }) => !keys.has(key))], problem };
};

const refForm = (
  path: string,
  ref: string,
): Html => html`<form method="get" action="${path}/new" class="filter">
${input({ name: 'ref', id: 'of_ref', label: 'Branch or tag', value: ref })}<div class="buttons"><button>Load variables</button></div>
</form>
`;

const newView = async (visit: Visit, code: Code, { values, problems }: FormState<Filled>): Promise<View> => {
  const { project } = code;
  const path = projectPagePath(project, 'pipelines');
  const { rows, problem } = await loadRows(visit, code, values);
  const { ref } = values;
  const content = html`${refForm(path, ref)}
${problem !== null && problems.text === null && html`<p class="flash alert">${problem}.</p>`}
${form(
  visit,
  { action: path, submit: 'Run pipeline', problems },
  hidden('ref', ref),
  html`<h2>Variables</h2>
<p class="hint">These variables override variables of the project and its groups. Maintainers of the project can see them later.</p>
`,
  variableRows(shared, withBlankRows(rows)),
  html`<p><button class="plain" name="more" value="1">Add rows</button></p>`,
)}`;
  const view = projectView(visit, { project, title: 'Run pipeline', noun: 'pipelines' }, content);
  return withFormStatus(view, problems);
};

export const newPipelinePages = [
  page({
    method: 'GET',
    path: `${projectRoot}/pipelines/new`,
    audience: 'user',
    params: object({
      ...projectPath,
      ref: optional(text({ maxLength: maxRefLength })),
      var: optional(raw('prefilled variables')),
      file_var: optional(raw('prefilled file variables')),
    }),
    handle: async (visit, { project: fullPath, ref, var: variables, file_var: files }) => {
      const code = await findCode(visit.call, fullPath, 'create_pipeline');
      const chosenRef = ref === undefined || ref === '' ? (code.project.default_branch ?? '') : ref;
      const rows = [...prefilledRows(variables, 'env_var'), ...prefilledRows(files, 'file')];
      return await newView(visit, code, unsent({ ref: chosenRef, rows }));
    },
  }),
  formPage({
    path: `${projectRoot}/pipelines`,
    audience: 'user',
    // The form has the ref as a hidden field.
    address: { ...projectPath, ref: text({ maxLength: maxRefLength }) },
    fields: {
      variables: optional(raw('rows of `key`, `value` and `variable_type`')),
      more: optional(text()),
    },
    find: async ({ call }, { project, ref }) => ({
      code: await findCode(call, project, 'create_pipeline'),
      ref,
    }),
    fromSent: ({ variables }, { ref }) => ({ ref, rows: filledRows(variables) }),
    toProblems: (problems) => moveUnknownToText(problems, []),
    run: async (visit, { code, ref }, { variables, more }) => {
      const rows = filledRows(variables);
      if (more !== undefined) return await newView(visit, code, unsent({ ref, rows }));
      const { pipeline } = await createPipelineForCaller(visit.call, code, {
        ref,
        variables: rows,
        source: 'web',
      });
      return redirect(projectPagePath(code.project, `pipelines/${pipeline.id}`));
    },
    view: async (visit, { code }, state) => await newView(visit, code, state),
  }),
];
