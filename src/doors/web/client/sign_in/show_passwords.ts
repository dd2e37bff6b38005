/** Adds a button to each password field that shows what is typed, and hides it again. */
const toggle = (field: HTMLInputElement, button: HTMLElement): void => {
  const isShown = field.type === 'text';
  field.type = isShown ? 'password' : 'text';
  button.setAttribute('aria-pressed', String(!isShown));
};

const addButton = (field: HTMLInputElement): void => {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'small show-password';
  button.textContent = 'Show';
  button.setAttribute('aria-label', 'Show the typed text');
  button.setAttribute('aria-pressed', 'false');
  button.addEventListener('click', () => toggle(field, button));
  // Browsers and password managers recognize password fields only.
  field.form?.addEventListener('submit', () => (field.type = 'password'));
  const row = document.createElement('div');
  row.className = 'password';
  field.replaceWith(row);
  row.append(field, button);
};

export const startPasswords = (): void => {
  const { activeElement } = document;
  for (const field of document.querySelectorAll<HTMLInputElement>('.field > input[type=password]'))
    addButton(field);
  // Moving a field takes the focus from it.
  if (activeElement instanceof HTMLInputElement) activeElement.focus();
};
