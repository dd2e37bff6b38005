/**
 * Shows a problem at the start of an element, and has it read out.
 * @param page an answer that says what was wrong
 * @param otherwise what is said without one
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
