/**
 * Buttons `[data-copy]` copy that text, `[data-copy-from]` the text at that address. They are hidden until this script
 * runs.
 */
import { onPartShown } from './page_parts.ts';

const buttons = '[data-copy], [data-copy-from]';

const textFor = async ({ dataset }: HTMLElement): Promise<string> => {
  const from = dataset['copyFrom'];
  return from === undefined ? (dataset['copy'] ?? '') : await (await fetch(from)).text();
};

export const startCopyButtons = (): void => {
  onPartShown(() => {
    for (const button of document.querySelectorAll<HTMLElement>(buttons)) button.hidden = false;
  });
  document.addEventListener('click', (event) => {
    const button = (event.target as Element).closest<HTMLElement>(buttons);
    if (button === null) return;
    const label = button.getAttribute('aria-label') ?? 'Copy';
    void textFor(button).then(async (text) => {
      await navigator.clipboard.writeText(text);
      button.setAttribute('aria-label', 'Copied');
      button.title = 'Copied';
      setTimeout(() => button.setAttribute('aria-label', label), 2000);
    });
  });
};
