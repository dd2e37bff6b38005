/** Steps through the unresolved threads of a page, `[data-unresolved]`, also by the buttons `[data-step-thread]`. */

/** The thread that was stepped to. */
let last: HTMLElement | null = null;

/** Opens the fold of a file, so that what is in it can be focused. */
const unfold = (element: HTMLElement): void => {
  const fold = element.closest('.diff-file')?.querySelector<HTMLInputElement>('.fold');
  if (fold?.checked === true) fold.checked = false;
};

const isBefore = (first: Element, second: Element): boolean =>
  (first.compareDocumentPosition(second) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;

/** Goes to the next or previous unresolved thread after the focused element. */
export const stepThread = (step: 1 | -1): void => {
  const threads = [...document.querySelectorAll<HTMLElement>('[data-unresolved]')];
  const { activeElement } = document;
  const isButton = activeElement?.matches('[data-step-thread]') === true;
  const stepped = last?.isConnected === true ? last : null;
  const from = isButton ? stepped : activeElement === document.body ? null : activeElement;
  const here = from?.closest<HTMLElement>('[data-unresolved]') ?? from;
  const others = threads.filter((thread) => thread !== here);
  const next =
    step === 1
      ? (others.find((thread) => here === null || isBefore(here, thread)) ?? threads[0])
      : (others.findLast((thread) => here === null || isBefore(thread, here)) ?? threads.at(-1));
  if (next === undefined) return;
  last = next;
  unfold(next);
  next.scrollIntoView({ block: 'center' });
  next.focus({ preventScroll: true });
};

export const startThreadSteps = (): void => {
  document.addEventListener('click', ({ target }) => {
    const button = (target as Element).closest<HTMLElement>('[data-step-thread]');
    if (button !== null) stepThread(button.dataset['stepThread'] === '1' ? 1 : -1);
  });
};
