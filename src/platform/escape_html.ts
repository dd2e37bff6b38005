const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const special = /[&<>"']/;

/** Escapes a text for HTML and XML, in content and in quoted attributes. */
export const escapeHtml = (text: string): string =>
  special.test(text) ? text.replaceAll(/[&<>"']/g, (mark) => entities[mark] ?? mark) : text;
