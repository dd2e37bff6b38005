/** Templates for new files: a choice of the form, and the text that it inserts. */
import { getConfigPath } from '../../../../ci/pipelines/config/ci_files.ts';
import { isNotFound } from '../../../../platform/errors.ts';
import {
  type TemplateType,
  listLicenses,
  listTemplates,
  readTemplate,
} from '../../../../projects/templates/files.ts';
import { fillLicense } from '../../../../projects/templates/routes.ts';
import type { Visit } from '../../page.ts';
import { type Html, html } from '../../parts/html.ts';
import type { EditTarget } from './edit_target.ts';
import type { FileFields } from './file_form.ts';

const allTemplates = { limit: 1_000, offset: 0, page: 1, per_page: 1_000 };

type Group = { label: string; options: readonly (readonly [string, string])[] };

const types = [
  ['gitignores', '.gitignore'],
  ['gitlab_ci_ymls', '.gitlab-ci.yml'],
  ['dockerfiles', 'Dockerfile'],
] as const satisfies (readonly [TemplateType, string])[];

const listGroups = async (): Promise<Group[]> => {
  const licenses = await listLicenses(false, allTemplates);
  const others = await Promise.all(
    types.map(async ([type, label]) => ({
      label,
      options: (await listTemplates(type, allTemplates)).items.map(
        ({ key, name }) => [`${type}/${key}`, name] as const,
      ),
    })),
  );
  return [
    { label: 'LICENSE', options: licenses.items.map(({ key, name }) => [`licenses/${key}`, name] as const) },
    ...others,
  ];
};

/** Renders the choice of a template and its button. The text that was typed stays. */
export const templateField = async (chosen = ''): Promise<Html> => {
  const groups = await listGroups();
  return html`<div class="field"><label for="template">Template</label>
<div class="row"><select id="template" name="template" aria-describedby="template_hint"><option value="">None</option>${groups.map(
    ({ label, options }) =>
      html`<optgroup label="${label}">${options.map(([value, name]) => html`<option value="${value}"${value === chosen && html` selected`}>${name}</option>`)}</optgroup>`,
  )}</select><button name="insert_template" value="1" formnovalidate data-keeps-draft>Insert template</button></div>
<p class="hint" id="template_hint">It is added below the text that you typed.</p></div>
`;
};

const readText = async ({ call }: Visit, { project }: EditTarget, template: string): Promise<string> => {
  const [type = '', name = ''] = template.split(/\/(.*)/s);
  if (type === 'licenses') {
    const values = { project: project.name, fullname: call.actor?.user.name };
    return (await fillLicense(call, name, values)).content;
  }
  const templateType = types.find(([one]) => one === type);
  return templateType === undefined ? '' : (await readTemplate(templateType[0], name)).content;
};

/** Returns the path that a template suggests, in the folder of the form. */
const suggestPath = ({ project }: EditTarget, file_path: string, template: string): string => {
  if (file_path !== '' && !file_path.endsWith('/')) return file_path;
  const type = template.split('/')[0];
  if (type === 'gitlab_ci_ymls' && file_path === '') return getConfigPath(project);
  const name = type === 'licenses' ? 'LICENSE' : types.find(([one]) => one === type)?.[1];
  return file_path + (name ?? '');
};

/** Adds a template to the fields of a form. An unknown one changes nothing. */
export const insertTemplate = async (
  visit: Visit,
  target: EditTarget,
  fields: FileFields,
  template: string,
): Promise<FileFields> => {
  try {
    const text = await readText(visit, target, template);
    const typed = fields.content ?? '';
    const gap = typed === '' || text === '' ? '' : typed.endsWith('\n') ? '\n' : '\n\n';
    return {
      ...fields,
      content: typed + gap + text,
      file_path: suggestPath(target, fields.file_path, template),
    };
  } catch (error) {
    if (isNotFound(error)) return fields;
    throw error;
  }
};
