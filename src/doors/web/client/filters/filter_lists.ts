/** Fields `[data-filter]` name items by a selector, and hide those that do not contain what is typed. */
export const startFilters = (): void => {
  for (const field of document.querySelectorAll<HTMLInputElement>('input[data-filter]')) {
    field.addEventListener('input', () => {
      const words = field.value.trim().toLowerCase();
      for (const item of document.querySelectorAll<HTMLElement>(field.dataset['filter'] ?? '')) {
        item.hidden = words !== '' && !item.textContent.toLowerCase().includes(words);
      }
    });
  }
};
