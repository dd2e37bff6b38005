/** Moves the focus between the rows of a list, whose links have `data-row`. */
const links = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[data-row]')];

const move = (step: 1 | -1): void => {
  const all = links();
  const at = all.findIndex((link) => link.closest('li')?.contains(document.activeElement) === true);
  const next = at === -1 ? all.at(step === 1 ? 0 : -1) : all[at + step];
  next?.focus();
};

/** Returns the row that has the focus. */
const currentRow = (): Element | null => document.activeElement?.closest('li:has([data-row])') ?? null;

const open = (): void => currentRow()?.querySelector<HTMLElement>('[data-row]')?.click();

const select = (): void => currentRow()?.querySelector<HTMLElement>('[data-select]')?.click();

/** Returns the shortcuts of the page's list; none without a list. */
export const rowShortcuts = (): [string, readonly [string, () => void]][] =>
  links().length === 0
    ? []
    : [
        ['j', ['Next row', () => move(1)]],
        ['k', ['Previous row', () => move(-1)]],
        ['o', ['Open the row', open]],
        ...(document.querySelector('[data-select]') === null
          ? []
          : [['x', ['Select the row', select]] satisfies [string, readonly [string, () => void]]]),
      ];
