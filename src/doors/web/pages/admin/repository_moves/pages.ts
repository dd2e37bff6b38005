/** Moves of repositories between storages: the list, and forms that start them as the API does. */
import { type MoveRow, listMoves } from '../../../../../code/repository/moves/queries.ts';
import {
  listStorageNames,
  startMove,
  startMoveOfAll,
} from '../../../../../code/repository/moves/start_moves.ts';
import { invalid, nullIfMissing } from '../../../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { object, optional, text } from '../../../../../platform/http/schema.ts';
import { type Project, findProject } from '../../../../../projects/projects/find.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { form, input, select } from '../../../parts/form.ts';
import { fieldText } from '../../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../../parts/fields/form_page.ts';
import { type Html, html } from '../../../parts/html.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { moment } from '../../../parts/timestamp.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';
import { omitEmpty } from '../../../../../platform/omit_empty.ts';

const path = '/admin/repository_moves';

const stateNames: Record<string, string> = {
  scheduled: 'Waiting',
  started: 'Running',
  finished: 'Finished',
  failed: 'Failed',
};

const row = (move: MoveRow): Html => html`<tr>
<th scope="row"><a href="/${move.full_path}">${move.full_path}</a></th>
<td>${move.source_storage}</td>
<td>${move.destination_storage}</td>
<td>${stateNames[move.state] ?? move.state}</td>
<td>${moment(move.created_at)}</td>
<td class="details">${move.error}</td>
</tr>
`;

const table = (
  moves: readonly MoveRow[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Repository moves"><table>
<thead><tr><th scope="col">Project</th><th scope="col">From</th><th scope="col">To</th><th scope="col">State</th>
<th scope="col">Created</th><th scope="col">Error</th></tr></thead>
<tbody>${moves.map(row)}</tbody>
</table></div>`;

const noMoves = html`<section class="card">${emptyState({
  icon: 'check-circle',
  title: 'No moves',
  text: 'No repository was moved to another storage yet.',
})}</section>`;

type MoveState = FormState<{ project: string; destination: string }>;
type MoveAllState = FormState<{ source: string; destination: string }>;

const options = (names: readonly string[]): [string, string][] => names.map((name) => [name, name]);

const destinationChoice = (
  names: readonly string[],
  id: string,
  { values, problems }: FormState<{ destination: string }>,
): Html =>
  select({
    name: 'destination_storage_name',
    id,
    label: 'To',
    value: values.destination,
    options: [['', 'Any other storage'], ...options(names)],
    problems,
  });

const forms = (visit: Visit, names: readonly string[], one: MoveState, all: MoveAllState): Html => html`
<section class="card" aria-labelledby="move_one"><header><h2 id="move_one">Move a repository</h2></header><div class="body">${form(
  visit,
  { action: path, submit: 'Move', problems: one.problems },
  input({
    name: 'project',
    label: 'Project',
    hint: 'Its path, such as team/site',
    value: one.values.project,
    required: true,
    problems: one.problems,
  }),
  destinationChoice(names, 'move_one_to', one),
)}</div></section>
<section class="card" aria-labelledby="move_all"><header><h2 id="move_all">Empty a storage</h2></header><div class="body">${form(
  visit,
  { action: `${path}/all`, submit: 'Move all', problems: all.problems },
  select({
    name: 'source_storage_name',
    label: 'From',
    value: all.values.source,
    options: options(names),
    problems: all.problems,
  }),
  destinationChoice(names, 'move_all_to', all),
)}</div></section>`;

type Shown = { one?: MoveState; all?: MoveAllState; query?: { page?: number; per_page?: number } };

const listView = async (
  visit: Visit,
  {
    one = unsent({ project: '', destination: '' }),
    all = unsent({ source: '', destination: '' }),
    query = {},
  }: Shown = {},
): Promise<View> => {
  const at = pageRequest(query);
  const { items, total } = await listMoves(visit.call.db, null, at);
  const names = listStorageNames(visit.call);
  const content = html`<p>Repositories are in ${spellCount(names.length, 'storage')}: ${names.join(', ')}. A repository moves while it is in use; it is read-only for the last part of its move.</p>
${
  names.length > 1
    ? forms(visit, names, one, all)
    : html`<p>To move repositories, add a storage to <code>GANTRY_REPOSITORY_STORAGES</code>.</p>`
}
${items.length === 0 ? noMoves : html`<p class="quiet">${spellCount(total, 'move')}</p>${table(items)}`}
${pagesNav({ path, query: {}, page: at, total })}`;
  return adminView({ path, title: 'Repository moves' }, content);
};

/** Finds a project by its path or id. @throws Failure 400 about the field */
const findNamed = async ({ call }: Visit, name: string): Promise<Project> => {
  const project = await nullIfMissing(findProject(call, /^\d+$/.test(name) ? Number(name) : name));
  if (project === null) throw invalid({ project: ['was not found'] });
  return project;
};

const moveForms = { audience: 'admin', address: {}, find: async () => null } as const;

const destination = { destination_storage_name: optional(text()) };

const move = formPage({
  ...moveForms,
  path,
  fields: { project: text({ maxLength: 1_000 }), ...destination },
  fromSent: (sent) => ({
    project: fieldText(sent['project']),
    destination: fieldText(sent['destination_storage_name']),
  }),
  run: async (visit, _found, params) => {
    const name = params.project.trim();
    // An empty choice means any other storage.
    await startMove(visit.call, await findNamed(visit, name), omitEmpty(params.destination_storage_name));
    return redirect(path, `The move of ${name} was scheduled.`);
  },
  view: async (visit, _found, one) => await listView(visit, { one }),
});

const moveAll = formPage({
  ...moveForms,
  path: `${path}/all`,
  fields: { source_storage_name: text(), ...destination },
  fromSent: (sent) => ({
    source: fieldText(sent['source_storage_name']),
    destination: fieldText(sent['destination_storage_name']),
  }),
  run: async ({ call }, _found, { source_storage_name: source, destination_storage_name }) => {
    await startMoveOfAll(call, source, omitEmpty(destination_storage_name));
    return redirect(path, `The moves of all repositories of ${source} were scheduled.`);
  },
  view: async (visit, _found, all) => await listView(visit, { all }),
});

export const movePages = [
  page({
    method: 'GET',
    path,
    audience: 'admin',
    params: object(pageParams),
    handle: async (visit, query) => await listView(visit, { query }),
  }),
  move,
  moveAll,
];
