/** Buttons `[data-copy]` copy that text. They are hidden until this script runs. */
export const startCopyButtons = (): void => {
  for (const button of document.querySelectorAll<HTMLElement>('[data-copy]')) button.hidden = false;
  document.addEventListener('click', (event) => {
    const button = (event.target as Element).closest<HTMLElement>('[data-copy]');
    if (button === null) return;
    const label = button.getAttribute('aria-label') ?? 'Copy';
    void navigator.clipboard.writeText(button.dataset['copy'] ?? '').then(() => {
      button.setAttribute('aria-label', 'Copied');
      button.title = 'Copied';
      setTimeout(() => button.setAttribute('aria-label', label), 2000);
    });
  });
};
