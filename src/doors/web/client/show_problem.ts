/**
 * Shows a problem at the start of an element, and announces it.
 * @param page response that contains the problem
 * @param otherwise text if there is no response
 */
export const showProblem = (
  element: Element,
  page: Document | null,
  otherwise = 'This could not be saved. Try again.',
): void => {
  const text = page?.querySelector('.flash.alert')?.textContent ?? otherwise;
  element.querySelector(':scope > .flash.alert')?.remove();
  const alert = document.createElement('p');
  alert.className = 'flash alert';
  alert.setAttribute('role', 'alert');
  alert.textContent = text;
  element.prepend(alert);
};
