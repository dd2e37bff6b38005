/** Scrolls rows of links, such as tabs on a narrow screen, to the link of the current page. */
export const startCurrentLinks = (): void => {
  for (const link of document.querySelectorAll<HTMLElement>('nav li > a[aria-current]')) {
    const row = link.closest('ul');
    if (row === null || row.scrollWidth <= row.clientWidth) continue;
    const [place, frame] = [link.getBoundingClientRect(), row.getBoundingClientRect()];
    row.scrollLeft += place.left - frame.left - (frame.width - place.width) / 2;
  }
};
