/** The form that creates a project by the import of a repository. */
import { requireUser } from '../../../../core/access/call.ts';
import { getOutgoingRules } from '../../../../core/settings/setting_effects.ts';
import { clearable, id, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { createProject } from '../../../../projects/projects/create.ts';
import { loadProject } from '../../../../projects/projects/find.ts';
import { readImportSource } from '../../../../projects/projects/imports/import_source.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { type FormProblems, form, input, noProblems, withFormStatus } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { attemptCreation, namespaceSelect, usualVisibility, visibilityField } from './creation_fields.ts';
import { creationTabs } from './creation_tabs.ts';
import { type FilledSource, shownSourceFields, sourceFields, sourceParams } from './import_fields.ts';

type Filled = FilledSource & {
  namespace_id?: string | undefined;
  name?: string | undefined;
  path?: string | undefined;
  visibility?: string | undefined;
};

const formView = async (visit: Visit, filled: Filled, problems: FormProblems = noProblems): Promise<View> => {
  const { call } = visit;
  const fields = form(
    visit,
    { action: '/projects/import', submit: 'Import project', problems },
    sourceFields(filled, problems),
    input({
      name: 'name',
      label: 'Project name',
      hint: 'Default: the last part of the address.',
      value: filled.name ?? null,
      problems,
    }),
    await namespaceSelect(call, { chosen: filled.namespace_id, problems }),
    input({
      name: 'path',
      label: 'Path',
      hint: 'Part of the address. Default: derived from the name.',
      value: filled.path ?? null,
      problems,
    }),
    visibilityField(call, { chosen: filled.visibility ?? usualVisibility(call), problems }),
  );
  const view = {
    title: 'Import project',
    body: html`<h1>New project</h1>
${creationTabs('/projects/import')}
<section class="card"><div class="body stack"><p>Branches and tags are imported from any server that git can clone from over HTTP. Issues, merge requests and pipelines are not.</p>
${fields}</div></section>`,
  };
  return withFormStatus(view, problems);
};

/** Returns the last part of an address without `.git`. */
const nameFromUrl = (url: string): string =>
  /([^/]+?)(?:\.git)?\/*$/.exec(URL.parse(url)?.pathname ?? '')?.[1] ?? '';

/** Fields that a refused form shows again. */
const shownFields = [...shownSourceFields, 'namespace_id', 'name', 'path', 'visibility'] as const;

const create = page({
  method: 'POST',
  path: '/projects/import',
  audience: 'user',
  params: object({
    ...sourceParams,
    namespace_id: optional(clearable(id())),
    name: optional(text()),
    path: optional(text()),
    visibility: optional(oneOf(['private', 'internal', 'public'])),
  }),
  invalid: async (visit, sent, problems) =>
    await formView(visit, readTexts(sent, shownFields), { text: null, fields: problems }),
  handle: async (visit, { namespace_id = null, ...filled }) => {
    const { call } = visit;
    const { import_url, username = '', password = '', path, visibility } = filled;
    const name = (filled.name ?? '') === '' ? nameFromUrl(import_url) : (filled.name ?? '');
    let projectId = 0;
    const problems = await attemptCreation(async () => {
      const source = readImportSource(import_url, getOutgoingRules(call.settings), { username, password });
      projectId = await createProject(call, requireUser(call), namespace_id, {
        name,
        ...(path !== undefined && path !== '' && { path }),
        ...(visibility !== undefined && { visibility }),
        source,
      });
    });
    if (problems !== null) {
      const chosen = namespace_id === null ? undefined : String(namespace_id);
      return await formView(visit, { ...filled, namespace_id: chosen }, problems);
    }
    const project = await loadProject(call.db, projectId);
    return redirect(`/${project?.full_path ?? ''}`, `The project ${name} was created. Its import has begun.`);
  },
});

export const importProjectPages = [
  page({
    method: 'GET',
    path: '/projects/import',
    audience: 'user',
    params: object({ namespace_id: optional(clearable(id())) }),
    handle: async (visit, { namespace_id = null }) =>
      await formView(visit, { namespace_id: namespace_id === null ? undefined : String(namespace_id) }),
  }),
  create,
];
