import type { Part } from './options.ts';

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Shows a text that cannot be rendered. */
export const showPlain = (text: string, reason: string): Part[] => [
  `<p><em>${reason}</em></p>\n<pre>${text.replaceAll(/[&<>]/g, (mark) => escapes[mark] ?? mark)}</pre>`,
];
