/** Moves the focus between the rows of a list, whose links have `data-row`. */
const links = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[data-row]')];

const move = (step: 1 | -1): void => {
  const all = links();
  const at = all.findIndex((link) => link.closest('li')?.contains(document.activeElement) === true);
  const next = at === -1 ? all.at(step === 1 ? 0 : -1) : all[at + step];
  next?.focus();
};

const open = (): void => {
  const { activeElement } = document;
  const link = links().find((one) => one.closest('li')?.contains(activeElement) === true);
  link?.click();
};

/** Returns the shortcuts of the page's list; none without a list. */
export const rowShortcuts = (): [string, readonly [string, () => void]][] =>
  links().length === 0
    ? []
    : [
        ['j', ['Next row', () => move(1)]],
        ['k', ['Previous row', () => move(-1)]],
        ['o', ['Open the row', open]],
      ];
