/** The form that imports a repository into an empty project, such as after an import that failed. */
import { getOutgoingRules } from '../../../../core/settings/setting_effects.ts';
import { object } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { readImportSource } from '../../../../projects/projects/imports/import_source.ts';
import { loadImports } from '../../../../projects/projects/imports/load_imports.ts';
import { canImportInto, importInto } from '../../../../projects/projects/imports/schedule_import.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { form } from '../../parts/form.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { type SourceValues, shownSourceFields, sourceFields, sourceParams } from './import_fields.ts';

const action = 'admin_project';

const formView = (visit: Visit, project: Project, state: FormState<SourceValues>): View => {
  const { problems } = state;
  const body = form(
    visit,
    { action: projectPagePath(project, 'import'), submit: 'Start import', problems },
    sourceFields(state),
  );
  return projectView(visit, { project, title: 'Import repository', noun: 'import' }, body);
};

const fresh = page({
  method: 'GET',
  path: `${projectRoot}/import/new`,
  audience: 'user',
  params: object(projectPath),
  handle: async (visit, { project: path }) => {
    const project = await findProjectFor(visit.call, path, action);
    if (!canImportInto(project)) return redirect(`/${project.full_path}`);
    const earlier = (await loadImports(visit.call.db, [project.id])).get(project.id);
    return formView(visit, project, unsent({ import_url: earlier?.url ?? '', username: '' }));
  },
});

const start = formPage({
  path: `${projectRoot}/import`,
  audience: 'user',
  address: projectPath,
  fields: sourceParams,
  find: async ({ call }, { project }) => await findProjectFor(call, project, action),
  fromSent: (sent) => readTexts(sent, shownSourceFields),
  run: async ({ call }, project, { import_url, username = '', password = '' }) => {
    const source = readImportSource(import_url, getOutgoingRules(call.settings), { username, password });
    await importInto(call, project, source);
    return redirect(`/${project.full_path}`, 'The import was started.');
  },
  view: formView,
});

export const importAgainPages = [fresh, start];
