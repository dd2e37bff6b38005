/** Renders the tasks of a text as checkboxes, whose changes the script submits. */
import type { Visit } from '../../page.ts';
import { hidden } from '../form.ts';
import { type Html, html } from '../html.ts';
import { type Texts, fingerprintTexts } from './edit_conflicts.ts';

/**
 * Renders a text, with the form for its tasks where the viewer may edit it and there are any.
 * @param action address of the form; null: the viewer may not edit the text
 */
export const textWithTasks = (
  visit: Visit,
  content: Html,
  { action, texts }: { action: string | null; texts: Texts },
): Html => {
  const hasTasks = action !== null && content.text.includes('data-line=');
  const form =
    hasTasks &&
    html`<form method="post" action="${action}" hidden data-tasks>${hidden(
      'authenticity_token',
      visit.csrfToken(),
    )}${hidden('base', fingerprintTexts(texts))}${hidden('line', '')}${hidden('done', '')}</form>`;
  return html`<div data-text>${content}${form}</div>`;
};
