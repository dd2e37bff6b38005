/** Renders a board: its bar, its filter and its columns with cards. */
import type { Call } from '../../../../core/access/call.ts';
import { may } from '../../../../core/access/may.ts';
import { today } from '../../../../core/access/viewer.ts';
import {
  type BoardColumn,
  type ColumnKey,
  listColumns,
} from '../../../../planning/boards/columns/columns.ts';
import { type LoadedColumn, loadColumns, scopeOfBoard } from '../../../../planning/boards/columns/load.ts';
import { type Board, boardNames } from '../../../../planning/boards/queries.ts';
import { linkedLabels } from '../../../../planning/issuables/lists/linked_labels.ts';
import type { Scope } from '../../../../planning/issuables/lists/list_kind.ts';
import { issueTexts } from '../../../../planning/issues/lists/json_cache.ts';
import { type Project, projectsById } from '../../../../projects/projects/find.ts';
import { type View, type Visit, withRefusal } from '../../page.ts';
import { avatar } from '../../parts/avatar.ts';
import { hidden } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { label } from '../../parts/label.ts';
import { menu } from '../../parts/menu.ts';
import { type AddressQuery, addressOf, chipQuery } from '../issuables/list/filter_chips.ts';
import { type RefusedFilter, filterBar } from '../issuables/list/filter_bar.ts';
import { issueLanguage } from '../issuables/list/typed_terms.ts';
import { issueFields } from '../issues/list/filter_fields.ts';
import { parseIssue } from '../issues/list/issue_row.ts';
import type { ListQuery } from '../issues/list/read_query.ts';
import {
  type Card,
  type CardContext,
  type CardMoves,
  type MoveTarget,
  cardPart,
  moveFormId,
} from './card.ts';
import { addListMenu } from './add_list_menu.ts';
import { columnName } from './column_name.ts';
import { foldLink, foldedQuery, isFolded } from './folded_columns.ts';
import { newIssueLink } from './new_issue.ts';
import type { BoardsPlace } from './project_or_group_routes.ts';

/** Issues that a column shows first, and at most; the list of issues has the rest. */
const firstCards = 20;
const mostCards = 200;

/** The column that shows more than the first issues, and how many. */
export type Expanded = { list: string; count: number };

/** @property scope the issues of the whole board, or of one project of it */
export type BoardQuery = {
  read: ListQuery;
  scope: Scope;
  expanded: Expanded | null;
  typed: RefusedFilter;
  folded: readonly string[];
};

const maxBoards = 100;

const headingPart = (column: BoardColumn): Html => {
  const { list } = column;
  if (list?.label) return label({ name: list.label.title, color: list.label.color });
  if (list?.assignee) return html`${avatar(list.assignee)} ${list.assignee.name}`;
  if (list?.milestone) return html`${icon('milestone', 'Milestone')} ${list.milestone.title}`;
  return html`${icon(column.key === 'closed' ? 'check-circle' : 'issue')} ${columnName(column)}`;
};

/** Renders the number of issues, and whether they are more than the limit of the column. */
const countPart = ({ list, total }: LoadedColumn): Html => {
  const max = list?.max_issue_count ?? 0;
  if (max === 0) return html`<span class="count">${total}</span>`;
  if (total <= max) return html`<span class="count" title="Work in progress limit">${total} of ${max}</span>`;
  return html`<span class="status bad" title="Work in progress limit">${icon('warning')} ${total} of ${max}<span class="visually-hidden">, over the limit</span></span>`;
};

type Loaded = { columns: LoadedColumn[]; cards: Map<number, Card> };

type Listed = Pick<Card, 'issue' | 'labels'>;

const findMoves = (
  { viewer }: Call,
  project: Project,
  { issue, labels }: Listed,
  board: Board,
): CardMoves => {
  if (may(viewer, 'admin_issue', project)) return 'all';
  const target = { author_id: issue.author.id, assignee_ids: issue.assignees.map(({ id }) => id) };
  if (!may(viewer, 'update_issue', project, target)) return null;
  if (issue.state === 'opened') return 'closed';
  // Leaving the closed column removes the labels of the lists.
  const listed = new Set(board.lists.map(({ label }) => label?.title));
  return board.hide_backlog_list === 0 && !labels.some(({ name }) => listed.has(name)) ? 'open' : null;
};

/** Loads the cards of all columns with the statements of one list. */
const loadCards = async (
  { call }: Visit,
  board: Board,
  columns: readonly LoadedColumn[],
): Promise<Map<number, Card>> => {
  const versions = new Map(columns.flatMap((column) => column.versions.map((one) => [one.id, one] as const)));
  const texts = await issueTexts(call, [...versions.values()]);
  const issues = texts.map(parseIssue);
  const labels = await linkedLabels(call.db, 'Issue', [...versions.keys()]);
  const projectIds = [...new Set(issues.map((issue) => issue.project_id))];
  const projects = projectIds.length === 0 ? new Map() : await projectsById(call.db, projectIds);
  return new Map(
    issues.map((issue) => {
      const project = projects.get(issue.project_id);
      const listed = { issue, labels: labels.get(issue.id) ?? [] };
      const moves = project === undefined ? null : findMoves(call, project, listed, board);
      return [issue.id, { ...listed, moves }];
    }),
  );
};

const keptQuery = ({ read, folded }: BoardQuery): AddressQuery => ({
  ...chipQuery(read.chips),
  ...foldedQuery(folded),
});

const morePart = (path: string, { key, total, versions }: LoadedColumn, query: BoardQuery): Html | null => {
  const shown = versions.length;
  if (shown >= total) return null;
  if (shown >= mostCards)
    return html`<p class="more muted">The first ${shown} of ${total} are shown. Filter to see others.</p>`;
  const count = Math.min(shown + firstCards, mostCards);
  const href = addressOf(path, { ...keptQuery(query), list: String(key), count: String(count) });
  return html`<p class="more"><a href="${href}#list-${key}">Show more</a> <span class="muted">${shown} of ${total}</span></p>`;
};

type Shared = Omit<CardContext, 'from' | 'ids'>;

const columnPart = (
  visit: Visit,
  { place, path, query }: BoardShown,
  column: LoadedColumn,
  { cards, shared }: { cards: Loaded['cards']; shared: Shared },
): Html => {
  const { key, versions } = column;
  const shown = versions.flatMap(({ id }) => cards.get(id) ?? []);
  const context = { ...shared, from: key, ids: shown.map(({ issue }) => issue.id) };
  const name = columnName(column);
  const filters = chipQuery(query.read.chips);
  const fold = foldLink({ path, folded: query.folded, filters, key, name });
  if (isFolded(query.folded, key))
    return html`<section class="column narrow" id="list-${key}" aria-label="${name}, folded"><header>${fold}<h2>${headingPart(column)}</h2>${countPart(column)}</header></section>
`;
  return html`<section class="column" id="list-${key}" data-list="${key}" aria-label="${name}"><header>${fold}<h2>${headingPart(column)}</h2>${countPart(column)}${newIssueLink(visit, { place, path, query: queryText(query) }, column)}</header>
<ol class="cards">${shown.map((card) => cardPart(card, context))}</ol>${morePart(path, column, query)}</section>
`;
};

const switcher = async ({ call }: Visit, place: BoardsPlace, board: Board): Promise<Html> => {
  const boards = await boardNames(call.db, place.owner, maxBoards);
  const links = boards.map(
    ({ id, name }) =>
      html`<a href="${place.path}/${id}"${id === board.id && html` aria-current="page"`}>${name}</a>`,
  );
  const create = place.canChange && html`<a href="${place.path}/new">${icon('plus')} New board</a>`;
  return menu(
    { summary: html`${board.name} ${icon('chevron-down')}`, isLeft: true, classes: 'button' },
    html`${links}${create}`,
  );
};

const scopePart = ({ labels, assignee, milestone }: Board): Html | null => {
  if (labels.length === 0 && assignee === null && milestone === null) return null;
  return html`<p class="muted">Only issues ${milestone !== null && html`of ${icon('milestone')} ${milestone.title} `}${
    assignee !== null && html`assigned to ${assignee.name} `
  }${labels.length > 0 && html`with ${labels.map((one) => html`${label({ name: one.title, color: one.color })} `)}`}</p>`;
};

/** Returns the filters as a query, to come back to after a form. */
const queryText = (query: BoardQuery): string =>
  new URLSearchParams(keptQuery(query) as Record<string, string>).toString();

export type BoardShown = { place: BoardsPlace; board: Board; path: string; query: BoardQuery };

/** The form of all moves: its buttons are on the cards, and name it. */
const moveForm = (visit: Visit, { path, query }: BoardShown): Html =>
  html`<form method="post" action="${path}/move" id="${moveFormId}">${hidden('authenticity_token', visit.csrfToken())}${hidden('query', queryText(query))}</form>`;

const limitOf =
  ({ expanded, folded }: BoardQuery) =>
  (key: ColumnKey): number => {
    // Moved issues are inserted before the first issue.
    if (isFolded(folded, key)) return 1;
    return expanded !== null && expanded.list === String(key)
      ? Math.min(Math.max(expanded.count, firstCards), mostCards)
      : firstCards;
  };

const bar = {
  words: 'issues',
  placeholder: html`Filter: label:bug, assignee:me, due:overdue, or words&hellip;`,
  fields: issueFields,
  orders: [],
  language: issueLanguage,
};

/** Renders a board. */
export const boardView = async (visit: Visit, shown: BoardShown): Promise<View> => {
  const { place, board, path, query } = shown;
  const { call } = visit;
  const columns = await loadColumns(call, board, {
    filters: query.read.filters,
    scope: query.scope,
    limitOf: limitOf(query),
  });
  const cards = await loadCards(visit, board, columns);
  const targets: MoveTarget[] = listColumns(board).map((column) => ({
    key: column.key,
    name: columnName(column),
    firstId: columns.find(({ key }) => key === column.key)?.versions[0]?.id ?? null,
  }));
  const shared = {
    targets,
    listPath: path,
    isAnonymous: !call.signedIn,
    today: today(call.now),
    showsProject: place.project === null,
  };
  const edit =
    place.canChange && html`<a class="button" href="${path}/edit">${icon('settings')} Edit board</a>`;
  const content = html`<h1 class="visually-hidden">Board ${board.name}</h1>
<div class="row between">${await switcher(visit, place, board)}<span class="row">${place.canChange && addListMenu(visit, place, path, queryText(query))}${edit}<a class="button" href="${addressOf(place.issuesPath, chipQuery(query.read.chips))}">${icon('issue')} List</a></span></div>
${filterBar({ ...bar, scope: scopeOfBoard(place), path, chips: query.read.chips, otherParams: foldedQuery(query.folded), typed: query.typed }, null, null)}${scopePart(board)}${moveForm(visit, shown)}
<div class="board" data-board data-changes="Issue ${place.project === null ? '' : `${place.project.id} `}" tabindex="0" role="region" aria-label="Columns of the board">${columns.map((column) => columnPart(visit, shown, column, { cards, shared }))}</div>
<p class="visually-hidden" role="status" data-board-status></p>`;
  const view = place.view(visit, { title: board.name, hasHeading: true, view: { isWide: true } }, content);
  return withRefusal(view, query.typed.problems.length > 0);
};
