/** Shows how many rows of a list are selected, and selects them all. */
const boxes = (): HTMLInputElement[] => [...document.querySelectorAll<HTMLInputElement>('[data-select]')];

export const startSelection = (): void => {
  const all = document.querySelector<HTMLInputElement>('[data-select-all]');
  const count = document.querySelector<HTMLElement>('[data-selected]');
  if (all === null || count === null) return;
  const update = (): void => {
    const selected = boxes().filter(({ checked }) => checked).length;
    count.textContent = String(selected);
    count.hidden = selected === 0;
    all.checked = selected > 0 && selected === boxes().length;
    all.indeterminate = selected > 0 && !all.checked;
  };
  all.hidden = false;
  all.addEventListener('change', () => {
    for (const box of boxes()) box.checked = all.checked;
    update();
  });
  document.addEventListener('change', ({ target }) => {
    if ((target as Element).matches('[data-select]')) update();
  });
  update();
};
