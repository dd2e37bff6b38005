/** Creates and deletes tags, by the operations of the API. */
import { findCodeForPush } from '../../../../code/repository/branches/create.ts';
import type { Code } from '../../../../code/repository/find_code.ts';
import { createTag, deleteTag } from '../../../../code/repository/tags/change_tags.ts';
import { longText, object, optional, text } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { readRefFailure } from '../../parts/code/attempt_ref_change.ts';
import { form, input, textArea } from '../../parts/form.ts';
import { type FormProblems, withFormStatus } from '../../parts/form_problems.ts';
import { projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { projectSuggestions } from '../../parts/fields/suggestions.ts';
import { markdownEditor } from '../../parts/markdown_editor.ts';
import { tagsRoutePath, tagPath, tagsPath } from './paths.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';

const tagFields = {
  tag_name: optional(text()),
  ref: optional(text({ maxLength: 1_000 })),
  message: optional(longText()),
  release_description: optional(longText()),
};

type Filled = { [field in keyof typeof tagFields]?: string | undefined };

const newView = (visit: Visit, { project }: Code, { values: filled, problems }: FormState<Filled>): View => {
  const content = html`<section class="card form-page"><div class="body">${form(
    visit,
    { action: tagsPath(project), submit: 'Create tag', problems },
    input({
      name: 'tag_name',
      label: 'Name',
      value: filled.tag_name ?? '',
      required: true,
      autofocus: true,
      problems,
    }),
    input({
      name: 'ref',
      label: 'Create from',
      hint: 'A branch, a tag or the id of a commit.',
      value: filled.ref ?? project.default_branch ?? '',
      required: true,
      autocomplete: 'off',
      suggestions: projectSuggestions(project.id, 'branches'),
      problems,
    }),
    textArea({
      name: 'message',
      label: 'Message',
      hint: 'With a message, the tag is annotated: it names you and the time.',
      value: filled.message ?? '',
      rows: 3,
    }),
    markdownEditor({
      name: 'release_description',
      label: 'Release notes',
      hint: 'With notes, the tag gets a release.',
      value: filled.release_description ?? '',
      rows: 6,
      project,
    }),
  )}</div></section>`;
  const view = projectView(visit, { project, title: 'New tag', noun: 'tags' }, content);
  return withFormStatus(view, problems);
};

const newPage = page({
  method: 'GET',
  path: `${tagsRoutePath}/new`,
  audience: 'user',
  params: object({ ...projectPath, tag_name: tagFields.tag_name, ref: tagFields.ref }),
  handle: async (visit, { project, ...filled }) =>
    newView(visit, await findCodeForPush(visit.call, project), unsent(filled)),
});

/** Places a message about the whole request at the field it is about. */
const atField = ({ text: said, fields }: FormProblems): FormProblems => {
  if (said === null) return { text: said, fields };
  const field = said.startsWith('Target ') ? 'ref' : 'tag_name';
  return { text: null, fields: { ...fields, [field]: [said] } };
};

const create = formPage({
  path: tagsRoutePath,
  audience: 'user',
  address: projectPath,
  fields: tagFields,
  find: async ({ call }, { project }) => await findCodeForPush(call, project),
  fromSent: (sent) => readTexts(sent, ['tag_name', 'ref', 'message', 'release_description']),
  readFailure: readRefFailure,
  toProblems: atField,
  run: async ({ call }, code, { tag_name = '', ref = '', message = '', release_description = '' }) => {
    const tag = tag_name.trim();
    const request = { tag, from: ref.trim(), message, release_description: release_description.trim() };
    await createTag(call, code, request);
    return redirect(tagPath(code.project, tag), `The tag ${tag} was created.`);
  },
  view: newView,
});

const remove = page({
  method: 'POST',
  path: `${tagsRoutePath}/delete`,
  audience: 'user',
  params: object({ ...projectPath, tag_name: text() }),
  handle: async ({ call }, { project: fullPath, tag_name: tag }) => {
    const code = await findCodeForPush(call, fullPath);
    await deleteTag(call, code, tag);
    return redirect(tagsPath(code.project), `The tag ${tag} was deleted.`);
  },
});

export const formPages = [newPage, create, remove];
