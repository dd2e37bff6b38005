/**
 * Boards: cards are dragged between columns and within them, and move with Alt and the arrow keys. The buttons of their
 * menus do the same without scripts. Each move is sent as the form of the page, whose answer has the new columns.
 */
import { startCardEditing } from './edit_card.ts';
import { refreshOnChanges } from './live/refresh_on_changes.ts';

const boardOf = (): HTMLElement | null => document.querySelector<HTMLElement>('[data-board]');
const formOf = (): HTMLFormElement | null => document.querySelector<HTMLFormElement>('#move-card');

const columnOf = (card: Element): HTMLElement | null => card.closest<HTMLElement>('[data-list]');
const keyOf = (card: Element): string => columnOf(card)?.dataset['list'] ?? '';
const cardsOf = (column: Element): HTMLElement[] => [...column.querySelectorAll<HTMLElement>('[data-card]')];
const idOf = (card: Element | null | undefined): string =>
  card instanceof HTMLElement ? (card.dataset['card'] ?? '') : '';

/**
 * Returns whether the viewer may move the card to the column: without a role, only within its own one, and to one
 * other.
 */
const canEnter = (card: HTMLElement, from: string, to: string | undefined): boolean =>
  card.dataset['movable'] === 'all' || to === from || to === card.dataset['movable'];

const makeDraggable = (): void => {
  for (const card of document.querySelectorAll<HTMLElement>('[data-movable]')) card.draggable = true;
};

const announce = (text: string): void => {
  const status = document.querySelector('[data-board-status]');
  if (status !== null) status.textContent = text;
};

/** The columns as the server sent them last: scripts change the columns on the page. */
let sentColumns = '';

const parse = async (answer: Response | null): Promise<Element | null> =>
  new DOMParser().parseFromString((await answer?.text()) ?? '', 'text/html').querySelector('[data-board]');

const show = (board: Element, fresh: Element): void => {
  sentColumns = fresh.innerHTML;
  board.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
  makeDraggable();
};

/** Moves are on their way: what other requests answer may be older. */
let moves = 0;

/** Sends a move, and shows the board as it then is. If it was refused, the page is loaded again. */
const send = async (value: string): Promise<void> => {
  const [board, form] = [boardOf(), formOf()];
  if (board === null || form === null) return;
  const body = new URLSearchParams();
  for (const [name, field] of new FormData(form)) if (typeof field === 'string') body.append(name, field);
  body.set('move', value);
  moves += 1;
  const answer = await fetch(form.action, { method: 'POST', body }).catch(() => null);
  const fresh = await parse(answer);
  moves -= 1;
  if (answer?.ok !== true || fresh === null) {
    location.reload();
    return;
  }
  // The answer to a later move has this one, too.
  if (moves > 0) return;
  show(board, fresh);
  const card = board.querySelector(`#card-${value.split(':')[0] ?? ''}`);
  card?.querySelector<HTMLElement>('[data-row]')?.focus();
  announce(card === null ? 'The issue was moved.' : `Moved to ${columnOf(card)?.ariaLabel ?? ''}.`);
};

/** Returns the move of a card from one column to the place at which it is now. */
const toValue = (card: Element, from: string): string => {
  const to = keyOf(card);
  const [above, below] =
    to === 'closed' ? ['', ''] : [idOf(card.previousElementSibling), idOf(card.nextElementSibling)];
  return [idOf(card), from, to, above, below].join(':');
};

const focusedCard = (): HTMLElement | null =>
  document.activeElement?.closest<HTMLElement>('[data-movable]') ?? null;

/** Moves the focused card within its column, as the buttons of its menu do. */
const moveInColumn = (direction: 'up' | 'down'): void => {
  focusedCard()?.querySelector<HTMLButtonElement>(`[data-move=${direction}]`)?.click();
};

/** Moves the focused card to the top of the next column. */
const moveAcross = (step: 1 | -1): void => {
  const card = focusedCard();
  const from = card && columnOf(card);
  if (card === null || !from) return;
  const columns = [...document.querySelectorAll<HTMLElement>('[data-list]')];
  const column = columns[columns.indexOf(from) + step];
  const to = column?.dataset['list'];
  if (column === undefined || to === undefined) return;
  if (!canEnter(card, keyOf(card), to)) {
    announce(`You can move this card only to ${card.dataset['movable'] === 'open' ? 'Open' : 'Closed'}.`);
    return;
  }
  const below = to === 'closed' ? '' : idOf(cardsOf(column)[0]);
  void send([idOf(card), from.dataset['list'], to, '', below].join(':'));
};

const keys = new Map<string, readonly [string, () => void]>([
  ['ArrowUp', ['Move the card up', () => moveInColumn('up')]],
  ['ArrowDown', ['Move the card down', () => moveInColumn('down')]],
  ['ArrowLeft', ['Move the card to the column before', () => moveAcross(-1)]],
  ['ArrowRight', ['Move the card to the next column', () => moveAcross(1)]],
]);

/** Returns the shortcuts of a board, for the list of all. */
export const boardShortcuts = (): [string, readonly [string, () => void]][] =>
  boardOf() === null ? [] : [...keys].map(([key, action]) => [`Alt+${key.replace('Arrow', '')}`, action]);

/** Puts a dragged card where the pointer is. Cards that were closed have no order. */
const place = (card: HTMLElement, from: string, { target, clientY }: DragEvent): void => {
  const column = target instanceof Element ? columnOf(target) : null;
  const list = column?.querySelector('.cards');
  if (!column || !list || !canEnter(card, from, column.dataset['list'])) return;
  const next = cardsOf(column)
    .filter((one) => one !== card)
    .find((one) => one.getBoundingClientRect().top + one.offsetHeight / 2 > clientY);
  const before = column.dataset['list'] === 'closed' ? list.firstElementChild : (next ?? null);
  if (before !== card && card.nextElementSibling !== before) list.insertBefore(card, before);
  else if (card.parentElement !== list) list.insertBefore(card, before);
};

const isInUse = (board: Element): boolean =>
  moves > 0 || board.querySelector('details[open], .dragged') !== null;

/** Shows what others changed. The focus stays on its card. Returns whether anything changed. */
const merge = (board: Element, page: Document): boolean => {
  const fresh = page.querySelector('[data-board]');
  if (fresh === null || fresh.innerHTML === sentColumns) return false;
  const focused = document.activeElement?.closest('[data-card]')?.id;
  show(board, fresh);
  if (focused !== undefined) board.querySelector<HTMLElement>(`#${focused} [data-row]`)?.focus();
  return true;
};

/**
 * Refreshes the board after changes. A board in use waits until its menu is closed, or its card is dropped. Returns a
 * function that refreshes it immediately.
 */
const startRefresh = (board: HTMLElement): (() => void) => {
  let isStale = false;
  const refresh = refreshOnChanges({
    target: board.dataset['changes'] ?? '',
    address: () => location.href,
    merge: (page) => {
      isStale = isInUse(board);
      return !isStale && merge(board, page);
    },
  });
  const catchUp = (): void => {
    if (isStale && !isInUse(board)) refresh();
  };
  board.addEventListener('toggle', catchUp, true);
  board.addEventListener('dragend', catchUp);
  return refresh;
};

const startDrag = (board: HTMLElement): void => {
  let dragged: { card: HTMLElement; from: string; home: Element | null; next: Element | null } | null = null;
  board.addEventListener('dragstart', ({ target, dataTransfer }) => {
    const card = target instanceof Element ? target.closest<HTMLElement>('[data-movable]') : null;
    if (card === null || dataTransfer === null) return;
    dragged = { card, from: keyOf(card), home: card.parentElement, next: card.nextElementSibling };
    dataTransfer.effectAllowed = 'move';
    dataTransfer.setData('text/plain', idOf(card));
    card.classList.add('dragged');
  });
  board.addEventListener('dragover', (event) => {
    if (dragged === null) return;
    event.preventDefault();
    place(dragged.card, dragged.from, event);
  });
  board.addEventListener('drop', (event) => {
    if (dragged === null) return;
    event.preventDefault();
    const { card, from } = dragged;
    dragged = null;
    card.classList.remove('dragged');
    void send(toValue(card, from));
  });
  board.addEventListener('dragend', () => {
    if (dragged === null) return;
    const { card, home, next } = dragged;
    dragged = null;
    card.classList.remove('dragged');
    home?.insertBefore(card, next);
  });
};

export const startBoards = (): void => {
  const board = boardOf();
  if (board === null) return;
  sentColumns = board.innerHTML;
  makeDraggable();
  startDrag(board);
  startCardEditing(board, startRefresh(board));
  formOf()?.addEventListener('submit', (event) => {
    const value = event.submitter instanceof HTMLButtonElement ? event.submitter.value : '';
    event.preventDefault();
    void send(value);
  });
  document.addEventListener('keydown', (event) => {
    const action = event.altKey && focusedCard() !== null ? keys.get(event.key) : undefined;
    if (action === undefined) return;
    event.preventDefault();
    action[1]();
  });
};
