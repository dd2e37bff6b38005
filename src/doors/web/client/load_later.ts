/** Replaces each element `[data-later]` by the element of the same id on the page that it names. */
export const startLater = (onReplaced: () => void): void => {
  for (const old of document.querySelectorAll<HTMLElement>('[data-later]')) {
    const load = async (): Promise<void> => {
      const answer = await fetch(old.dataset['later'] ?? '', { headers: { accept: 'text/html' } });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const fresh = page.getElementById(old.id);
      if (fresh === null) return;
      old.replaceWith(fresh);
      onReplaced();
    };
    // Without an answer, the link to the whole page stays.
    void load().catch(() => undefined);
  }
};
