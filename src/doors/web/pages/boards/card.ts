/** Cards of issues on a board. */
import type { LinkedLabel } from '../../../../planning/issuables/lists/linked_labels.ts';
import type { ColumnKey } from '../../../../planning/boards/columns/columns.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { label } from '../../parts/label.ts';
import { menu } from '../../parts/menu.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import { dayPart } from '../../parts/times/dates.ts';
import { addressOf } from '../issuables/list/filter_chips.ts';
import { type RowLinks, milestonePart, peoplePart } from '../issuables/list/row_parts.ts';
import { type ListedIssue, listedIssuePath } from '../issues/list/issue_row.ts';

/** Id of the form that sends the moves of all cards. */
export const moveFormId = 'move-card';

/**
 * Where the viewer may move a card. An author or assignee without a role orders it in its column, and moves it to one
 * other: `closed`, or back to `open`.
 */
export type CardMoves = 'all' | 'closed' | 'open' | null;

export type Card = { issue: ListedIssue; labels: readonly LinkedLabel[]; moves: CardMoves };

/** A column as the menus of cards name it. */
export type MoveTarget = { key: ColumnKey; name: string; firstId: number | null };

type Neighbours = { above?: number | undefined; below?: number | undefined };

/** The value of a move: ids of the issue and its new neighbours, and the two columns. */
const moveValue = (id: number, from: ColumnKey, to: ColumnKey, { above, below }: Neighbours): string =>
  [id, from, to, above ?? '', below ?? ''].join(':');

const moveButton = (value: string, text: Html | string, key?: string): Html =>
  html`<button form="${moveFormId}" name="move" value="${value}"${key !== undefined && html` data-move="${key}"`}>${text}</button>`;

export type CardContext = RowLinks & {
  from: ColumnKey;
  /** The issues of the column, in order. */
  ids: readonly number[];
  targets: readonly MoveTarget[];
  /** `YYYY-MM-DD` */
  today: string;
  /** The board has issues of several projects. */
  showsProject: boolean;
};

/** Buttons within the column. Closed issues have no manual order. */
const placeButtons = ({ issue: { id } }: Card, { from, ids }: CardContext): Html[] => {
  if (from === 'closed') return [];
  const at = ids.indexOf(id);
  const stay = (neighbours: Neighbours): string => moveValue(id, from, from, neighbours);
  return [
    ...(at > 0
      ? [
          moveButton(stay({ above: ids[at - 2], below: ids[at - 1] }), 'Up', 'up'),
          moveButton(stay({ below: ids[0] }), 'To the top'),
        ]
      : []),
    ...(at < ids.length - 1
      ? [moveButton(stay({ above: ids[at + 1], below: ids[at + 2] }), 'Down', 'down')]
      : []),
  ];
};

const actionsMenu = (card: Card, context: CardContext): Html => {
  const { issue, moves } = card;
  const { from, targets } = context;
  const others = targets
    .filter(({ key }) => key !== from && (moves === 'all' || key === moves))
    .map(({ key, name, firstId }) =>
      moveButton(
        moveValue(issue.id, from, key, key === 'closed' ? {} : { below: firstId ?? undefined }),
        name,
      ),
    );
  const places = placeButtons(card, context);
  return menu(
    { summary: icon('dots'), label: `Actions on #${issue.iid}`, classes: 'quiet' },
    html`<a href="${listedIssuePath(issue)}" data-edit-card>${icon('pencil')} Edit properties</a><hr><p class="menu-title">Move to</p>${others}${places.length > 0 && html`<hr>`}${places}`,
  );
};

const duePart = ({ due_date, state }: ListedIssue, today: string): Html | null => {
  if (due_date === null) return null;
  const isLate = state === 'opened' && due_date < today;
  return html`<span class="status ${isLate ? 'bad' : ''}" title="Due date">${icon('clock', 'Due')} <span>${dayPart(due_date, today)}${isLate && ', overdue'}</span></span>`;
};

const progressPart = ({ task_completion_status, user_notes_count }: ListedIssue): Html => {
  const { count, completed_count } = task_completion_status;
  return html`${
    count > 0 &&
    html`<span class="status" title="Completed tasks">${icon('todo')} ${completed_count} of ${count}<span class="visually-hidden"> tasks</span></span>`
  }${
    user_notes_count > 0 &&
    html`<span class="status" title="${spellCount(user_notes_count, 'comment')}">${icon('comment', 'Comments')} ${user_notes_count}</span>`
  }`;
};

/** Renders an issue as a card. */
export const cardPart = (card: Card, context: CardContext): Html => {
  const { issue, labels, moves } = card;
  const { listPath, today, showsProject } = context;
  return html`<li class="board-card" id="card-${issue.id}" data-card="${issue.id}"${moves !== null && html` data-movable="${moves}"`}><div class="row between"><span class="heading">${
    issue.confidential &&
    html`<span class="status wait" title="Confidential">${icon('lock', 'Confidential')}</span> `
  }<a class="title" href="${listedIssuePath(issue)}" data-row>${issue.title}</a></span>${moves !== null && actionsMenu(card, context)}</div>${
    labels.length > 0 &&
    html`<div class="labels">${labels.map((one) => html`${label(one, addressOf(listPath, { labels: one.name }))} `)}</div>`
  }<div class="row between"><span class="meta">${showsProject ? issue.references.full : `#${issue.iid}`} ${duePart(issue, today)}${milestonePart(issue.milestone, context)}${progressPart(issue)}</span>${peoplePart('assignee', issue.assignees, context)}</div></li>
`;
};
