/** The page that edits a board: its name, which issues it is about, and its lists. */
import type { Board, BoardList } from '../../../../planning/boards/queries.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import { listLabels } from '../../../../projects/labels/queries.ts';
import { listMilestones } from '../../../../projects/milestones/queries.ts';
import type { View, Visit } from '../../page.ts';
import { avatar } from '../../parts/avatar.ts';
import { checkbox, fieldParts, form, hidden, input } from '../../parts/form.ts';
import { type FormProblems, formatProblem, noProblems, problemText } from '../../parts/form_problems.ts';
import type { FormState } from '../../parts/fields/form_page.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { label } from '../../parts/label.ts';
import { button } from '../../parts/frame/project_layout.ts';
import { columnName } from './column_name.ts';
import {
  boardGuard,
  fromBoard,
  fromTexts,
  limitGuard,
  limitLabel,
  orderGuard,
  orderWith,
} from './concurrent_edits.ts';
import type { BoardsPlace } from './project_or_group_routes.ts';

/** A refused form: of the board itself, of a list of it, or of a new list of one kind. */
export type RefusedForm = FormState<Readonly<Record<string, string>>> & {
  part: 'board' | 'list' | 'label' | 'assignee' | 'milestone';
  /** Filters of the board, if the form was sent from there: the list leads back. */
  query?: string;
};

type Suggestions = { labels: string[]; milestones: string[] };

/** Others can be typed. */
const mostSuggestions = pageRequest({ per_page: 100 });

const loadSuggestions = async ({ call }: Visit, { owner }: BoardsPlace): Promise<Suggestions> => {
  const active = { state: 'active' as const, include_ancestors: true, include_parent_milestones: true };
  const labels = await listLabels(call, owner, { include_ancestor_groups: true }, mostSuggestions);
  const milestones = await listMilestones(call.db, owner, active, mostSuggestions);
  return {
    labels: labels.items.map(({ title }) => title),
    milestones: milestones.items.map(({ title }) => title),
  };
};

type Shown = {
  place: BoardsPlace;
  board: Board;
  path: string;
  refused: RefusedForm | null;
  suggestions: Suggestions;
};

const getProblems = ({ refused }: Shown, part: RefusedForm['part']): FormProblems =>
  refused?.part === part ? refused.problems : noProblems;

const getValue = ({ refused }: Shown, part: RefusedForm['part'], name: string, stored: string): string =>
  refused?.part === part ? (refused.values[name] ?? '') : stored;

const readBoardValues = ({ board, refused }: Shown): ReturnType<typeof fromBoard> =>
  refused?.part === 'board' ? fromTexts(refused.values) : fromBoard(board);

/** Returns the fingerprint that a refused form of a part was opened with. */
const getBase = ({ refused }: Shown, part: RefusedForm['part']): { base?: string } =>
  refused?.part === part && refused.base !== undefined ? { base: refused.base } : {};

const boardForm = (visit: Visit, shown: Shown): { fields: Html; card: Html | null } => {
  const { board, path, suggestions } = shown;
  const problems = getProblems(shown, 'board');
  const values = readBoardValues(shown);
  const state = { values, problems, ...getBase(shown, 'board') };
  const { base, submit, card } = boardGuard.parts(board, state, `${path}/edit`);
  const fields = form(
    visit,
    { action: path, submit, problems },
    base,
    input({ name: 'name', label: 'Name', value: values.name, required: true, problems }),
    checkbox({
      name: 'show_open',
      label: 'Show the column Open',
      hint: 'Open issues that are in no other column.',
      checked: values.show_open,
    }),
    checkbox({
      name: 'show_closed',
      label: 'Show the column Closed',
      checked: values.show_closed,
    }),
    input({
      name: 'labels',
      label: 'Only with these labels',
      hint: 'Names, separated by commas. Issues that are created on the board get them.',
      value: values.labels,
      problems,
    }),
    input({
      name: 'assignee',
      label: 'Only of this assignee',
      hint: 'User name',
      value: values.assignee,
      problems,
    }),
    input({
      name: 'milestone',
      label: 'Only of this milestone',
      hint: 'Title',
      value: values.milestone,
      suggestions: suggestions.milestones,
      problems,
    }),
  );
  return { fields, card };
};

const listName = (list: BoardList): Html => {
  if (list.label !== null) return label({ name: list.label.title, color: list.label.color });
  if (list.assignee !== null) return html`${avatar(list.assignee)} ${list.assignee.name}`;
  return html`${icon('milestone', 'Milestone')} ${list.milestone?.title ?? ''}`;
};

/** The guards of a list, for its forms as they were refused or as they are shown first. */
const guardList = (shown: Shown, list: BoardList) => {
  const { board, path, refused } = shown;
  const { list_id, max_issue_count = '', position = '' } = refused?.part === 'list' ? refused.values : {};
  const isRefused = list_id === String(list.id);
  const stateOf = <Values>(values: Values, isSent: boolean): FormState<Values> => ({
    values,
    problems: noProblems,
    ...(isSent && getBase(shown, 'list')),
  });
  const isLimit = isRefused && max_issue_count !== '';
  const limit = isLimit ? max_issue_count : String(list.max_issue_count);
  const isMove = isRefused && position !== '';
  const order = stateOf(orderWith(board, list, isMove ? Number(position) : list.position), isMove);
  return {
    limit,
    problems: isRefused ? getProblems(shown, 'list') : noProblems,
    limitParts: limitGuard(list).parts(board, stateOf({ limit }, isLimit), `${path}/edit`),
    orderParts: orderGuard.parts(board, order, `${path}/edit`),
  };
};

const limitName = 'max_issue_count';

const listRow = (visit: Visit, shown: Shown, list: BoardList): Html => {
  const { board, path } = shown;
  const { limit, problems, limitParts, orderParts } = guardList(shown, list);
  const name = columnName({ key: list.id, list });
  const field = fieldParts({
    name: limitName,
    id: `limit_${list.id}`,
    label: limitLabel(list),
    problems,
  });
  const listPath = `${path}/lists/${list.id}`;
  const step = (text: string, position: number) =>
    form(
      visit,
      { action: listPath, submit: text, name: `${text}: ${name}`, isQuiet: true },
      hidden('position', position),
      orderParts.base,
    );
  return html`<tr><th scope="row">${listName(list)}</th><td>${form(
    visit,
    { action: listPath, submit: 'Set', name: `Set the limit of ${name}`, isQuiet: true },
    html`<label class="visually-hidden" for="${field.id}">${limitLabel(list)}</label><input id="${field.id}" name="${limitName}" type="number" min="0" value="${limit}"${field.attributes}>${field.error}`,
    limitParts.base,
  )}</td><td class="row">${list.position > 0 && step('Left', list.position - 1)}${
    list.position < board.lists.length - 1 && step('Right', list.position + 1)
  }${button(visit, `${listPath}/delete`, { label: 'Remove', name: `Remove the list ${name}`, danger: true })}</td></tr>`;
};

const listsTable = (visit: Visit, shown: Shown): Html =>
  shown.board.lists.length === 0
    ? html`<p class="muted">The board has no lists yet.</p>`
    : html`<div class="scrolled"><table class="board-lists"><thead><tr><th scope="col">List</th><th scope="col">Limit of issues (0: none)</th><th scope="col">Place</th></tr></thead><tbody>${shown.board.lists.map(
        (list) => listRow(visit, shown, list),
      )}</tbody></table></div>`;

/** Renders why the change of a list was refused, with the name of the list. */
const listAlert = (shown: Shown): Html | null => {
  const { text, fields } = getProblems(shown, 'list');
  const list = shown.board.lists.find(({ id }) => String(id) === shown.refused?.values['list_id']);
  const { [limitName]: limits = [], ...others } = fields;
  const field = list === undefined ? 'Limit' : limitLabel(list);
  const said = [...limits.map((one) => formatProblem(field, one)), problemText({ text, fields: others })];
  const whole = said.filter((one) => one !== '').join('. ');
  return whole === '' ? null : html`<p class="flash alert" role="alert">${whole}</p>`;
};

/** Renders the lists, and why a change of one of them was refused. */
const listsPart = (visit: Visit, shown: Shown): Html => {
  const cards = shown.board.lists.map((list) => {
    const { limitParts, orderParts } = guardList(shown, list);
    return html`${limitParts.card}${orderParts.card}`;
  });
  return html`${listAlert(shown)}${listsTable(visit, shown)}${cards}`;
};

const addForm = (
  visit: Visit,
  shown: Shown,
  {
    part,
    name,
    hint,
    suggestions,
  }: { part: RefusedForm['part']; name: string; hint?: string; suggestions?: string[] },
): Html => {
  const problems = getProblems(shown, part);
  const { query } = shown.refused ?? {};
  return form(
    visit,
    {
      action: `${shown.path}/lists`,
      submit: `Add ${name.toLowerCase()} list`,
      isQuiet: true,
      problems,
    },
    query === undefined ? null : html`${hidden('on_board', '1')}${hidden('query', query)}`,
    input({
      name: part,
      id: `new_${part}`,
      label: name,
      value: getValue(shown, part, part, ''),
      required: true,
      problems,
      ...(hint !== undefined && { hint }),
      ...(suggestions !== undefined && { suggestions }),
    }),
  );
};

/** Renders the page that edits a board. */
export const editBoardView = async (
  visit: Visit,
  place: BoardsPlace,
  board: Board,
  refused: RefusedForm | null = null,
): Promise<View> => {
  const path = `${place.path}/${board.id}`;
  const suggestions = await loadSuggestions(visit, place);
  const shown = { place, board, path, refused, suggestions };
  const { fields, card } = boardForm(visit, shown);
  const content = html`<p><a href="${path}">${icon('chevron-left')} ${board.name}</a></p>
<section class="card"><header><h2>Lists</h2></header><div class="body stack">${listsPart(visit, shown)}
<h3>Add a list</h3><div class="add-lists">${addForm(visit, shown, { part: 'label', name: 'Label', suggestions: suggestions.labels })}${addForm(visit, shown, { part: 'assignee', name: 'Assignee', hint: 'User name' })}${addForm(visit, shown, { part: 'milestone', name: 'Milestone', suggestions: suggestions.milestones })}</div></div></section>
<section class="card form-page"><header><h2>Board</h2></header><div class="body">${fields}</div></section>
${card}<section class="card danger-zone form-page"><header><h2>Delete this board</h2></header><div class="body stack"><p>Its issues do not change. This cannot be undone.</p>
${form(visit, { action: `${path}/delete`, submit: 'Delete board', danger: true })}</div></section>`;
  return place.view(visit, { title: 'Edit board' }, content);
};
