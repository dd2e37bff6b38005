/** Moves of repositories between storages: the list, and forms that start them as the API does. */
import { type MoveRow, listMoves } from '../../../../../code/repository/moves/queries.ts';
import {
  listStorageNames,
  startMove,
  startMoveOfAll,
} from '../../../../../code/repository/moves/start_moves.ts';
import { nullIfMissing } from '../../../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { object, optional, text } from '../../../../../platform/http/schema.ts';
import { type Project, findProject } from '../../../../../projects/projects/find.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import {
  type FormProblems,
  attempt,
  form,
  input,
  noProblems,
  select,
  withFormStatus,
} from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { spellCount } from '../../../parts/spell_count.ts';
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

type Filled = { project?: string; source?: string; destination?: string | undefined };
type Refused = { filled: Filled; problems: FormProblems };

const options = (names: readonly string[]): [string, string][] => names.map((name) => [name, name]);

const destinationChoice = (names: readonly string[], id: string, { filled, problems }: Refused): Html =>
  select({
    name: 'destination_storage_name',
    id,
    label: 'To',
    value: filled.destination ?? '',
    options: [['', 'Any other storage'], ...options(names)],
    problems,
  });

const forms = (visit: Visit, names: readonly string[], one: Refused, all: Refused): Html => html`
<section class="card" aria-labelledby="move_one"><header><h2 id="move_one">Move a repository</h2></header><div class="body">${form(
  visit,
  { action: path, submit: 'Move', problems: one.problems },
  input({
    name: 'project',
    label: 'Project',
    hint: 'Its path, such as team/site',
    value: one.filled.project ?? null,
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
    value: all.filled.source ?? '',
    options: options(names),
    problems: all.problems,
  }),
  destinationChoice(names, 'move_all_to', all),
)}</div></section>`;

const nothingRefused: Refused = { filled: {}, problems: noProblems };

type Given = { one?: Refused; all?: Refused; query?: { page?: number; per_page?: number } };

const listView = async (
  visit: Visit,
  { one = nothingRefused, all = nothingRefused, query = {} }: Given = {},
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

const missing: FormProblems = { text: null, fields: { project: ['was not found'] } };

/** Finds a project by its path or id; null if there is none. */
const findNamed = async ({ call }: Visit, name: string): Promise<Project | null> => {
  return await nullIfMissing(findProject(call, /^\d+$/.test(name) ? Number(name) : name));
};

/** An empty choice means any other storage. */
const toName = (chosen: string | undefined): string | undefined => omitEmpty(chosen);

const move = page({
  method: 'POST',
  path,
  audience: 'admin',
  params: object({ project: text(), destination_storage_name: optional(text()) }),
  handle: async (visit, { project: typed, destination_storage_name: destination }) => {
    const project = await findNamed(visit, typed.trim());
    const problems =
      project === null
        ? missing
        : await attempt(async () => await startMove(visit.call, project, toName(destination)));
    if (problems === null) return redirect(path, `The move of ${typed.trim()} was scheduled.`);
    const one = { filled: { project: typed, destination }, problems };
    return withFormStatus(await listView(visit, { one }), problems);
  },
});

const moveAll = page({
  method: 'POST',
  path: `${path}/all`,
  audience: 'admin',
  params: object({ source_storage_name: text(), destination_storage_name: optional(text()) }),
  handle: async (visit, { source_storage_name: source, destination_storage_name: destination }) => {
    const problems = await attempt(async () => await startMoveOfAll(visit.call, source, toName(destination)));
    if (problems === null) return redirect(path, `All repositories of ${source} are being moved.`);
    const all = { filled: { source, destination }, problems };
    return withFormStatus(await listView(visit, { all }), problems);
  },
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
