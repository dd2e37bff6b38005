/** Appends a text to a field, and moves the cursor behind it. Other scripts learn of it as of typing. */
export const appendText = (area: HTMLTextAreaElement, text: string): void => {
  area.value = `${area.value}${area.value === '' ? '' : '\n\n'}${text}`;
  area.setSelectionRange(area.value.length, area.value.length);
  area.dispatchEvent(new Event('input', { bubbles: true }));
};
