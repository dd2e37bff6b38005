/** Shows how many rows of a list are selected, and selects them all. */
const boxes = (): HTMLInputElement[] => [...document.querySelectorAll<HTMLInputElement>('[data-select]')];

export const startSelection = (): void => {
  const selectAll = document.querySelector<HTMLInputElement>('[data-select-all]');
  const count = document.querySelector<HTMLElement>('[data-selected]');
  if (selectAll === null || count === null) return;
  const update = (): void => {
    const selected = boxes().filter(({ checked }) => checked).length;
    count.textContent = String(selected);
    count.hidden = selected === 0;
    selectAll.checked = selected > 0 && selected === boxes().length;
    selectAll.indeterminate = selected > 0 && !selectAll.checked;
  };
  selectAll.hidden = false;
  selectAll.addEventListener('change', () => {
    for (const box of boxes()) box.checked = selectAll.checked;
    update();
  });
  document.addEventListener('change', ({ target }) => {
    if ((target as Element).matches('[data-select]')) update();
  });
  update();
};
