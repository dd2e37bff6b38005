/** Creates and deletes tags, by the operations of the API. */
import { findCodeForPush } from '../../../../code/repository/branches/create.ts';
import type { Code } from '../../../../code/repository/find_code.ts';
import { createTag, deleteTag } from '../../../../code/repository/tags/change_tags.ts';
import { longText, object, optional, text } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { attemptRefChange } from '../../parts/code/attempt_ref_change.ts';
import { type FormProblems, form, input, noProblems, textArea, withFormStatus } from '../../parts/form.ts';
import { projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { projectSuggestions } from '../../parts/fields/suggestions.ts';
import { markdownEditor } from '../../parts/markdown_editor.ts';
import { tagsRoutePath, tagPath, tagsPath } from './paths.ts';
import { fieldText } from '../../parts/fields/field_text.ts';

const formParams = {
  tag_name: optional(text()),
  ref: optional(text({ maxLength: 1_000 })),
  message: optional(longText()),
  release_description: optional(longText()),
};

type Filled = { [field in keyof typeof formParams]?: string | undefined };

const newView = (
  visit: Visit,
  { project }: Code,
  filled: Filled,
  problems: FormProblems = noProblems,
): View => {
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
  params: object({ ...projectPath, tag_name: formParams.tag_name, ref: formParams.ref }),
  handle: async (visit, { project, ...filled }) =>
    newView(visit, await findCodeForPush(visit.call, project), filled),
});

/** Places a message about the whole request at the field it is about. */
const atField = ({ text: said, fields }: FormProblems): FormProblems => {
  if (said === null) return { text: said, fields };
  const field = said.startsWith('Target ') ? 'ref' : 'tag_name';
  return { text: null, fields: { ...fields, [field]: [said] } };
};

const create = page({
  method: 'POST',
  path: tagsRoutePath,
  audience: 'user',
  params: object({ ...projectPath, ...formParams }),
  invalid: async (visit, sent, fields) => {
    const code = await findCodeForPush(visit.call, String(sent['project']));
    const filled = Object.fromEntries(Object.keys(formParams).map((name) => [name, fieldText(sent[name])]));
    return newView(visit, code, filled, { text: null, fields });
  },
  handle: async (visit, { project: fullPath, ...filled }) => {
    const { call } = visit;
    const code = await findCodeForPush(call, fullPath);
    const tag = (filled.tag_name ?? '').trim();
    const request = {
      tag,
      from: (filled.ref ?? '').trim(),
      message: filled.message ?? '',
      release_description: (filled.release_description ?? '').trim(),
    };
    const problems = await attemptRefChange(async () => await createTag(call, code, request));
    if (problems !== null) return newView(visit, code, filled, atField(problems));
    return redirect(tagPath(code.project, tag), `The tag ${tag} was created.`);
  },
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
