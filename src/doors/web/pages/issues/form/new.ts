/** The form for a new issue. */
import { may } from '../../../../../core/access/may.ts';
import { createContinuing } from '../../../../../planning/issues/create_from_discussions.ts';
import { createParams } from '../../../../../planning/issuables/fields.ts';
import { issueFields } from '../../../../../planning/issues/fields.ts';
import { editable } from '../../../../../planning/issuables/params.ts';
import { forbidden, notFound } from '../../../../../platform/errors.ts';
import type { RawParams } from '../../../../../platform/http/params.ts';
import { hash, longText, object, optional } from '../../../../../platform/http/schema.ts';
import { type Project, findProject } from '../../../../../projects/projects/find.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { type FormState, formPage } from '../../../parts/fields/form_page.ts';
import { checkbox, form, input } from '../../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../../parts/form_problems.ts';
import { markdownEditor } from '../../../parts/markdown_editor.ts';
import { projectPath, projectView } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import {
  applyTemplate,
  chooseTemplate,
  templateFields,
  templateParams,
} from '../../issuables/description_templates.ts';
import { issuePath, issuesPath, issuesRoutePath } from '../paths.ts';
import {
  type Continued,
  continuedParams,
  continuedPart,
  proposeTexts,
  readContinued,
} from './continued_threads.ts';
import { similarPart } from './similar.ts';
import { readPrefilledProperties } from '../../issuables/prefilled_properties.ts';
import { namedUserParams, withNamedUsers } from '../../issuables/named_users.ts';
import { type Choices, addChosen, loadChoices } from '../../../parts/properties/load_choices.ts';
import { assigneesField, labelsField, milestoneField } from '../../../parts/properties/form_fields.ts';
import { fieldText, isTicked, readTexts } from '../../../parts/fields/field_text.ts';

type Filled = {
  title: string;
  description: string;
  confidential: boolean;
  labels: readonly string[];
  label_ids?: readonly number[];
  assignee_ids: readonly number[];
  assignee_username?: string | undefined;
  milestone_id: number | null;
  due_date: string | null;
} & Continued;

const blank: Filled = {
  title: '',
  description: '',
  confidential: false,
  labels: [],
  assignee_ids: [],
  milestone_id: null,
  due_date: null,
};

/** Fields that need the permission to administer issues. */
const adminFields = async (
  visit: Visit,
  filled: Filled,
  choices: Choices,
  problems: FormProblems,
): Promise<Html[]> => [
  await assigneesField(visit, choices, filled, problems),
  milestoneField(choices, filled),
  labelsField(choices, filled, problems),
  input({ name: 'due_date', label: 'Due date', type: 'date', value: filled.due_date, problems }),
];

/** Renders the texts, and the properties next to them. */
const fieldsPart = async (
  visit: Visit,
  project: Project,
  filled: Filled,
  problems: FormProblems,
): Promise<Html> => {
  const main = [
    await continuedPart(visit, project, filled),
    input({
      name: 'title',
      label: 'Title',
      value: filled.title,
      required: true,
      autofocus: filled.title === '',
      problems,
    }),
    await similarPart(visit, project, filled.title),
    markdownEditor({
      name: 'description',
      label: 'Description',
      value: filled.description,
      rows: 14,
      project,
      actions: 'new_issue',
      problems,
    }),
    checkbox({
      name: 'confidential',
      label: 'Confidential',
      hint: 'Only you, the assignees and members with at least the Reporter role can see it.',
      checked: filled.confidential,
    }),
  ];
  if (!may(visit.call.viewer, 'admin_issue', project)) return html`<div class="form-page">${main}</div>`;
  const choices = await addChosen(visit, project, await loadChoices(visit, project), filled);
  const side = await adminFields(visit, filled, choices, problems);
  return html`<div class="with-aside"><div>${main}</div><div>${side}</div></div>`;
};

type NewIssueFormOptions = { problems?: FormProblems; templates?: Html | null };

const newView = async (
  visit: Visit,
  project: Project,
  filled: Filled,
  { problems = noProblems, templates = null }: NewIssueFormOptions = {},
): Promise<View> => {
  const content = html`${form(
    visit,
    { action: issuesPath(project), submit: 'Create issue', problems },
    templates,
    await fieldsPart(visit, project, filled, problems),
  )}`;
  const view = projectView(visit, { project, title: 'New issue', noun: 'issues' }, content);
  return withFormStatus(view, problems);
};

const findForNew = async ({ call }: Visit, path: string): Promise<Project> => {
  const project = await findProject(call, path);
  if (!may(call.viewer, 'read_issue', project)) throw notFound();
  if (!may(call.viewer, 'create_issue', project)) throw forbidden();
  return project;
};

/** Reads the values of an address: `title=x` or `issue[title]=x`, and the properties, such as `issue[milestone_id]=1`. */
const readPrefill = (sent: { title?: string; description?: string; issue?: unknown }): Filled => {
  const { title, description, issue } = sent;
  const nested = typeof issue === 'object' && issue !== null ? (issue as Record<string, unknown>) : {};
  return {
    ...blank,
    ...readPrefilledProperties(nested),
    title: title ?? fieldText(nested['title']),
    description: description ?? fieldText(nested['description']),
    confidential: ['1', 'true'].includes(fieldText(nested['confidential'])),
  };
};

const showNew = page({
  method: 'GET',
  path: `${issuesRoutePath}/new`,
  audience: 'user',
  params: object({
    ...projectPath,
    title: optional(longText()),
    description: optional(longText()),
    issue: optional(hash({})),
    issuable_template: templateParams.issuable_template,
    ...continuedParams,
  }),
  handle: async (visit, { project: fullPath, issuable_template: name, ...sent }) => {
    const project = await findForNew(visit, fullPath);
    const { merge_request_to_resolve_discussions_of, discussion_to_resolve } = sent;
    const continued = { merge_request_to_resolve_discussions_of, discussion_to_resolve };
    const filled = readPrefill({ ...(await proposeTexts(visit, project, continued)), ...sent });
    const requested = filled.description === '' ? name : null;
    const offer = await chooseTemplate(visit, project, { type: 'issues', requested });
    const templates = templateFields(`${issuesPath(project)}/new`, offer);
    const description = offer.chosen?.content ?? filled.description;
    return await newView(visit, project, { ...filled, ...continued, description }, { templates });
  },
});

const { confidential, due_date } = createParams(issueFields);

const formFields = {
  title: optional(longText()),
  description: editable.description,
  labels: editable.labels,
  assignee_ids: editable.assignee_ids,
  assignee_username: namedUserParams.assignee_username,
  milestone_id: editable.milestone_id,
  confidential,
  due_date,
  ...continuedParams,
};

const fromSent = (sent: RawParams): Filled => ({
  ...readPrefilledProperties(sent),
  ...readTexts(sent, ['title', 'description', 'assignee_username', 'due_date']),
  confidential: isTicked(sent['confidential']),
  ...readContinued(sent),
});

/** What the form shares with the use of a template. */
const issueForm = {
  audience: 'user' as const,
  address: projectPath,
  find: async (visit: Visit, { project }: { project: string }) => await findForNew(visit, project),
  fromSent,
  view: async (visit: Visit, project: Project, { values, problems }: FormState<Filled>) =>
    await newView(visit, project, values, { problems }),
};

/** Shows the form again with what was typed, and a template. */
const useTemplate = formPage({
  ...issueForm,
  path: `${issuesRoutePath}/new`,
  fields: { ...formFields, ...templateParams },
  run: async (visit, project, { title = '', description: sent, ...rest }) => {
    const typed = sent ?? '';
    const { project: _path, issuable_template, applied_template, ...filled } = rest;
    const names = { issuable_template, applied_template };
    const applied = await applyTemplate(visit, project, { type: 'issues', ...names, description: typed });
    const templates = templateFields(`${issuesPath(project)}/new`, applied);
    const { description } = applied;
    return await newView(visit, project, { ...blank, ...filled, title, description }, { templates });
  },
});

const create = formPage({
  ...issueForm,
  path: issuesRoutePath,
  fields: formFields,
  run: async ({ call }, project, { project: _path, title = '', description, ...rest }) => {
    const input = await withNamedUsers(call.db, { ...rest, title, description: description ?? '' });
    return redirect(issuePath(await createContinuing(call, project, input)));
  },
});

export const newPages = [showNew, useTemplate, create];
