/** The forks of a project: the list, and the form that creates one. */
import { sql } from 'kysely';
import { forkProject } from '../../../../code/repository/forks/fork.ts';
import { may } from '../../../../core/access/may.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, id, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import {
  type Project,
  findProject,
  findProjectFor,
  loadProject,
} from '../../../../projects/projects/find.ts';
import { listProjects } from '../../../../projects/projects/lists/list.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { fieldText, readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { form, hidden, input, textArea } from '../../parts/form.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type ListedProject, projectList } from '../../parts/projects/project_list.ts';
import { searchForm } from '../../parts/search_form.ts';
import { sortMenu } from '../../parts/sort_menu.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { namespaceSelect, visibilityField, withQuotaProblem } from './creation_fields.ts';
import { orderNames, orderParam, readOrder } from './list_orders.ts';
import { omitEmpty } from '../../../../platform/omit_empty.ts';

const forksRoutePath = `${projectRoot}/forks`;

const list = page({
  method: 'GET',
  path: forksRoutePath,
  audience: 'visitor',
  params: object({ ...projectPath, search: optional(text()), sort: orderParam, ...pageParams }),
  handle: async (visit, { project: path, search = '', sort, ...query }) => {
    const { call } = visit;
    const project = await findProject(call, path);
    const isFork = sql<boolean>`projects.forked_from_project_id = ${project.id}`;
    const { items, total } = await listProjects(call, { ...readOrder(sort), search, ...query }, isFork);
    const address = projectPagePath(project, 'forks');
    const kept = omitEmpty(search);
    const fork = may(call.viewer, 'fork_project', project)
      ? html`<a class="button primary" href="${address}/new">${icon('fork')} New fork</a>`
      : null;
    const body = html`<div class="row between"><h1>Forks <span class="count">${total}</span></h1>${fork}</div>
<div class="row between">${searchForm({ path: address, name: 'search', value: search, label: 'Search by name', keep: { sort } })}
${sortMenu({ path: address, query: { search: kept }, param: 'sort', chosen: sort, names: orderNames })}</div>
<section class="card">${
      items.length > 0
        ? projectList(items as ListedProject[])
        : emptyState({
            icon: 'fork',
            title: search === '' ? 'No forks' : 'No results',
            text:
              search === ''
                ? 'Nobody has forked this project, or you do not have access to the forks.'
                : 'No fork has this name.',
          })
    }</section>
${pagesNav({ path: address, query: { search: kept, sort }, page: pageRequest(query), total })}`;
    return projectView(visit, { project, title: 'Forks', noun: 'forks', hasHeading: true }, body);
  },
});

const textFields = ['namespace_id', 'name', 'path', 'description', 'visibility', 'continue'] as const;

/** `continue`: page of the fork that follows, below its path: `edit/main/README.md`. */
type ForkValues = Record<(typeof textFields)[number], string>;

/** Returns the address of a form in the fork, as other pages name it; undefined: there is none. */
const readContinuation = (sent = ''): string | undefined =>
  /^(?:edit|new|new_folder|upload|delete)(?!.*\/\.{1,2}(?:\/|$))\/[\w%./~!*'()-]+$/.test(sent)
    ? sent
    : undefined;

const formView = async (
  visit: Visit,
  project: Project,
  { values, problems }: FormState<ForkValues>,
): Promise<View> => {
  const { call } = visit;
  const next = readContinuation(values.continue);
  const body = html`<p>A fork is your own copy of the project. Change it freely, and offer your changes to the original by a merge request.${next !== undefined && ' After that, you continue with your change.'}</p>
${form(
  visit,
  { action: projectPagePath(project, 'forks'), submit: 'Fork project', problems },
  input({ name: 'name', label: 'Name', value: values.name, required: true, problems }),
  await namespaceSelect(call, { chosen: values.namespace_id, problems }),
  input({
    name: 'path',
    label: 'Path',
    hint: 'Part of the address of the fork.',
    value: values.path,
    required: true,
    problems,
  }),
  textArea({
    name: 'description',
    label: 'Description',
    value: values.description,
    rows: 3,
    problems,
  }),
  visibilityField(call, {
    chosen: values.visibility,
    widest: project.visibility,
    problems,
  }),
  next === undefined ? null : hidden('continue', next),
)}`;
  return projectView(visit, { project, title: 'Fork project', noun: 'forks' }, body);
};

const continueParam = optional(text({ maxLength: 16_000, description: 'page of the fork that follows' }));

const findOriginal = async ({ call }: Visit, { project }: { project: string }): Promise<Project> =>
  await findProjectFor(call, project, 'fork_project');

const fresh = page({
  method: 'GET',
  path: `${forksRoutePath}/new`,
  audience: 'user',
  params: object({ ...projectPath, namespace_id: optional(clearable(id())), continue: continueParam }),
  handle: async (visit, { namespace_id, continue: next = '', ...address }) => {
    const project = await findOriginal(visit, address);
    const { name, path, description, visibility } = project;
    const values = { namespace_id: fieldText(namespace_id), name, path, visibility, continue: next };
    return await formView(visit, project, unsent({ ...values, description: description ?? '' }));
  },
});

const create = formPage({
  path: forksRoutePath,
  audience: 'user',
  address: projectPath,
  fields: {
    namespace_id: optional(clearable(id())),
    name: optional(text()),
    path: optional(text()),
    description: optional(clearable(text({ maxLength: 2000 }))),
    visibility: optional(oneOf(['private', 'internal', 'public'])),
    continue: continueParam,
  },
  find: findOriginal,
  fromSent: (sent) => readTexts(sent, textFields),
  run: async ({ call }, project, { project: _address, namespace_id, ...params }) => {
    const forkId = await withQuotaProblem(
      async () => await forkProject(call, project, { ...params, namespace: namespace_id ?? undefined }),
    );
    const fork = await loadProject(call.db, forkId);
    const next = readContinuation(params.continue);
    const address =
      fork !== null && next !== undefined
        ? `${projectPagePath(fork, next)}?propose=1`
        : `/${fork?.full_path ?? project.full_path}`;
    return redirect(address, 'The project was forked.');
  },
  view: formView,
});

export const forkPages = [list, fresh, create];
