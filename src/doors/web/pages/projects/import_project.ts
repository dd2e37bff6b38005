/** The form that creates a project by the import of a repository. */
import { type Call, requireUser } from '../../../../core/access/call.ts';
import { getOutgoingRules } from '../../../../core/settings/setting_effects.ts';
import { clearable, id, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { createProject } from '../../../../projects/projects/create.ts';
import { loadProject } from '../../../../projects/projects/find.ts';
import { readImportSource } from '../../../../projects/projects/imports/import_source.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { omitEmpty } from '../../../../platform/omit_empty.ts';
import { fieldText, readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { form, input } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { namespaceSelect, usualVisibility, visibilityField, withQuotaProblem } from './creation_fields.ts';
import { creationTabs } from './creation_tabs.ts';
import { shownSourceFields, sourceFields, sourceParams } from './import_fields.ts';

/** Texts of the form, by name. */
const textFields = [...shownSourceFields, 'namespace_id', 'name', 'path', 'visibility'] as const;

type ImportValues = Record<(typeof textFields)[number], string>;

const formView = async (visit: Visit, state: FormState<ImportValues>): Promise<View> => {
  const { values, problems } = state;
  const { call } = visit;
  const fields = form(
    visit,
    { action: '/projects/import', submit: 'Import project', problems },
    sourceFields(state),
    input({
      name: 'name',
      label: 'Project name',
      hint: 'Default: the last part of the address.',
      value: values.name,
      problems,
    }),
    await namespaceSelect(call, { chosen: values.namespace_id, problems }),
    input({
      name: 'path',
      label: 'Path',
      hint: 'Part of the address. Default: derived from the name.',
      value: values.path,
      problems,
    }),
    visibilityField(call, { chosen: values.visibility, problems }),
  );
  return {
    title: 'Import project',
    body: html`<h1>New project</h1>
${creationTabs('/projects/import')}
<section class="card"><div class="body stack"><p>Branches and tags are imported from any server that git can clone from over HTTP. Issues, merge requests and pipelines are not.</p>
${fields}</div></section>`,
  };
};

/** Returns the last part of an address without `.git`. */
const nameFromUrl = (url: string): string =>
  /([^/]+?)(?:\.git)?\/*$/.exec(URL.parse(url)?.pathname ?? '')?.[1] ?? '';

const create = formPage({
  path: '/projects/import',
  audience: 'user',
  address: {},
  fields: {
    ...sourceParams,
    namespace_id: optional(clearable(id())),
    name: optional(text()),
    path: optional(text()),
    visibility: optional(oneOf(['private', 'internal', 'public'])),
  },
  find: async () => null,
  fromSent: (sent) => readTexts(sent, textFields),
  run: async ({ call }, _found, { namespace_id = null, ...params }) => {
    const { import_url, username = '', password = '', path, visibility } = params;
    const name = omitEmpty(params.name) ?? nameFromUrl(import_url);
    const source = readImportSource(import_url, getOutgoingRules(call.settings), { username, password });
    const columns = {
      name,
      ...(path !== undefined && path !== '' && { path }),
      ...(visibility !== undefined && { visibility }),
      source,
    };
    const projectId = await withQuotaProblem(
      async () => await createProject(call, requireUser(call), namespace_id, columns),
    );
    const project = await loadProject(call.db, projectId);
    return redirect(
      `/${project?.full_path ?? ''}`,
      `The project ${name} was created. Its import was started.`,
    );
  },
  view: async (visit, _found, state) => await formView(visit, state),
});

const getBlank = (call: Call, namespaceId: number | null): ImportValues => ({
  import_url: '',
  username: '',
  namespace_id: fieldText(namespaceId),
  name: '',
  path: '',
  visibility: usualVisibility(call),
});

export const importProjectPages = [
  page({
    method: 'GET',
    path: '/projects/import',
    audience: 'user',
    params: object({ namespace_id: optional(clearable(id())) }),
    handle: async (visit, { namespace_id = null }) =>
      await formView(visit, unsent(getBlank(visit.call, namespace_id))),
  }),
  create,
];
