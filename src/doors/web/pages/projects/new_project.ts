/** The form that creates a project. */
import type { Static } from 'typebox';
import { type Call, requireUser } from '../../../../core/access/call.ts';
import type { FileAction } from '../../../../code/repository/commits/file_actions.ts';
import { initializeRepository } from '../../../../code/repository/files/initialize_repository.ts';
import { boolean, clearable, id, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { createProject } from '../../../../projects/projects/create.ts';
import { loadProject } from '../../../../projects/projects/find.ts';
import { listLicenses, listTemplates, readTemplate } from '../../../../projects/templates/files.ts';
import { fillLicense } from '../../../../projects/templates/routes.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { fieldText, isTicked, readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { checkbox, form, input, select, textArea } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { namespaceSelect, usualVisibility, visibilityField, withQuotaProblem } from './creation_fields.ts';
import { creationTabs } from './creation_tabs.ts';

/** Texts of the form, by name. */
const textFields = [
  'namespace_id',
  'name',
  'path',
  'description',
  'visibility',
  'gitignore',
  'license',
] as const;

type ProjectValues = Record<(typeof textFields)[number], string> & { initialize_with_readme: boolean };

const getBlank = (call: Call, namespaceId: number | null): ProjectValues => ({
  namespace_id: fieldText(namespaceId),
  name: '',
  path: '',
  description: '',
  visibility: usualVisibility(call),
  gitignore: '',
  license: '',
  initialize_with_readme: true,
});

/** All templates on one page. */
const everything = { page: 1, per_page: 1_000, limit: 1_000, offset: 0 };

const templateSelects = async ({ gitignore, license }: ProjectValues): Promise<Html> => {
  const [gitignores, licenses] = await Promise.all([
    listTemplates('gitignores', everything),
    listLicenses(false, everything),
  ]);
  return html`${select({
    name: 'gitignore',
    label: '.gitignore template',
    value: gitignore,
    options: [['', 'None'], ...gitignores.items.map(({ key, name }) => [key, name] as const)],
  })}${select({
    name: 'license',
    label: 'License',
    value: license,
    options: [['', 'None'], ...licenses.items.map(({ key, name }) => [key, name] as const)],
  })}`;
};

/** Tells how to create a project by a push. */
const pushPart = ({ call }: Visit): Html => {
  const url = `${call.baseUrl}/${requireUser(call).username}/new-project.git`;
  return html`<section class="card"><header><h2>Create a project by push</h2></header><div class="body stack">
<p>Push an existing repository to a path that does not exist yet, below your user name or a group in which you may create projects. The project is private.</p>
<pre tabindex="0"><code>git remote add origin ${url}
git push --set-upstream origin main</code></pre></div></section>`;
};

const formView = async (visit: Visit, { values, problems }: FormState<ProjectValues>): Promise<View> => {
  const { call } = visit;
  const fields = form(
    visit,
    { action: '/projects', submit: 'Create project', problems },
    input({ name: 'name', label: 'Project name', value: values.name, required: true, problems }),
    await namespaceSelect(call, { chosen: values.namespace_id, problems }),
    input({
      name: 'path',
      label: 'Path',
      hint: 'Part of the address. Default: derived from the name.',
      value: values.path,
      problems,
    }),
    textArea({
      name: 'description',
      label: 'Description (optional)',
      value: values.description,
      rows: 3,
      problems,
    }),
    visibilityField(call, { chosen: values.visibility, problems }),
    html`<fieldset><legend>First commit</legend>${checkbox({
      name: 'initialize_with_readme',
      label: 'Add a README',
      hint: 'Lets you clone the project immediately. Turn off to push an existing repository.',
      checked: values.initialize_with_readme,
    })}<div class="field-row">${await templateSelects(values)}</div><p class="hint">Templates are added together with the README.</p></fieldset>`,
  );
  return {
    title: 'New project',
    body: html`<h1>New project</h1>
${creationTabs('/projects/new')}
<div class="with-aside even"><section class="card"><div class="body">${fields}</div></section>
<div class="stack">${pushPart(visit)}</div></div>`,
  };
};

const projectFields = {
  namespace_id: optional(clearable(id())),
  name: text(),
  path: optional(text()),
  description: optional(clearable(text({ maxLength: 2000 }))),
  visibility: optional(oneOf(['private', 'internal', 'public'])),
  initialize_with_readme: optional(boolean()),
  gitignore: optional(text()),
  license: optional(text()),
};

const shape = object(projectFields);

const toFile = (file_path: string, content: string): FileAction => ({
  action: 'create',
  file_path,
  content: Buffer.from(content),
});

/** Reads the chosen templates. @throws Failure 404 for one that does not exist */
const readFiles = async (
  call: Call,
  { gitignore = '', license = '', name }: Static<typeof shape>,
): Promise<FileAction[]> => {
  const owner = requireUser(call).name;
  return [
    ...(gitignore === ''
      ? []
      : [toFile('.gitignore', (await readTemplate('gitignores', gitignore)).content)]),
    ...(license === ''
      ? []
      : [toFile('LICENSE', (await fillLicense(call, license, { project: name, fullname: owner })).content)]),
  ];
};

const create = formPage({
  path: '/projects',
  audience: 'user',
  address: {},
  fields: projectFields,
  find: async () => null,
  fromSent: (sent) => ({
    ...readTexts(sent, textFields),
    initialize_with_readme: isTicked(sent['initialize_with_readme']),
  }),
  run: async ({ call }, _found, { namespace_id = null, initialize_with_readme = false, ...params }) => {
    const { name, path, description, visibility } = params;
    const files = initialize_with_readme ? await readFiles(call, params) : [];
    const columns = {
      name,
      ...(path !== undefined && path !== '' && { path }),
      ...((description ?? '') !== '' && { description: description ?? '' }),
      ...(visibility !== undefined && { visibility }),
    };
    const projectId = await withQuotaProblem(
      async () => await createProject(call, requireUser(call), namespace_id, columns),
    );
    if (initialize_with_readme) await initializeRepository(call, projectId, undefined, files);
    const project = await loadProject(call.db, projectId);
    return redirect(`/${project?.full_path ?? ''}`, `The project ${name} was created.`);
  },
  view: async (visit, _found, state) => await formView(visit, state),
});

export const newPages = [
  page({
    method: 'GET',
    path: '/projects/new',
    audience: 'user',
    params: object({ namespace_id: optional(clearable(id())) }),
    handle: async (visit, { namespace_id = null }) =>
      await formView(visit, unsent(getBlank(visit.call, namespace_id))),
  }),
  create,
];
