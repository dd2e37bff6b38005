/** The form that imports a repository into an empty project, such as after an import that failed. */
import { getOutgoingRules } from '../../../../core/settings/setting_effects.ts';
import { object } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { readImportSource } from '../../../../projects/projects/imports/import_source.ts';
import { loadImports } from '../../../../projects/projects/imports/load_imports.ts';
import { canImportInto, importInto } from '../../../../projects/projects/imports/schedule_import.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { type FormProblems, attempt, form, noProblems, withFormStatus } from '../../parts/form.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { type FilledSource, shownSourceFields, sourceFields, sourceParams } from './import_fields.ts';

const action = 'admin_project';

const formView = (
  visit: Visit,
  project: Project,
  filled: FilledSource,
  problems: FormProblems = noProblems,
): View => {
  const body = form(
    visit,
    { action: projectPagePath(project, 'import'), submit: 'Start import', problems },
    sourceFields(filled, problems),
  );
  const view = projectView(visit, { project, title: 'Import repository', noun: 'import' }, body);
  return withFormStatus(view, problems);
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
    return formView(visit, project, { import_url: earlier?.url });
  },
});

const start = page({
  method: 'POST',
  path: `${projectRoot}/import`,
  audience: 'user',
  params: object({ ...projectPath, ...sourceParams }),
  invalid: async (visit, sent, problems) => {
    const project = await findProjectFor(visit.call, String(sent['project']), action);
    return formView(visit, project, readTexts(sent, shownSourceFields), { text: null, fields: problems });
  },
  handle: async (visit, { project: path, import_url, username = '', password = '' }) => {
    const { call } = visit;
    const project = await findProjectFor(call, path, action);
    const problems = await attempt(async () => {
      const source = readImportSource(import_url, getOutgoingRules(call.settings), { username, password });
      await importInto(call, project, source);
    });
    if (problems !== null) return formView(visit, project, { import_url, username }, problems);
    return redirect(`/${project.full_path}`, 'The import has begun.');
  },
});

export const importAgainPages = [fresh, start];
