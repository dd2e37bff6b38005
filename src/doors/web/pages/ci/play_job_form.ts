/** Form that starts a manual job with variables. */
import { form } from '../../parts/form.ts';
import { type FormProblems, noProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';
import { type Row, variableRows, withBlankRows } from './variable_rows.ts';

export const playParam = 'job_variables_attributes';

/** @param path path of the job's page */
export const playForm = (
  visit: Visit,
  path: string,
  { rows, problems }: { rows: readonly Row[]; problems: FormProblems },
): Html => {
  const isOpen = rows.length > 0 || problems !== noProblems;
  return html`<details${isOpen && html` open`}><summary>Run with variables</summary>
${form(
  visit,
  { action: `${path}/play`, submit: 'Run job', problems },
  html`<p class="hint">These variables override those of the pipeline and the project. If a name is given twice, the last value applies.</p>
`,
  variableRows({ name: playParam, hasTypes: false }, withBlankRows(rows)),
  html`<p><button class="plain" name="more" value="1">Add rows</button></p>`,
)}</details>`;
};
