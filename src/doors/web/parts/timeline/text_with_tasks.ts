/** Renders the tasks of a text as buttons that check and uncheck them. */
import { escapeHtml } from '../../../../platform/escape_html.ts';
import type { Visit } from '../../page.ts';
import { hidden } from '../form.ts';
import { type Html, html, trusted } from '../html.ts';
import { type Texts, fingerprintTexts } from './edit_conflicts.ts';

/**
 * A checkbox as `rewrite_html.ts` writes it, and the text of its task. Users cannot write elements with `data-line`.
 */
const checkbox =
  /<input type="checkbox"[^>]* data-line="(\d+)" disabled( checked)?>(?=(.*?)(?:<br|<\/li|<\/p|<[uo]l|$))/gms;

/** Returns the text of a task without its elements, for an attribute. */
const labelOf = (markup: string): string =>
  markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('"', '&quot;')
    .trim();

const writeButtons = (content: Html, formId: string): Html =>
  trusted(
    content.text.replaceAll(
      checkbox,
      (_whole, line: string, checked: string | undefined, text: string) =>
        `<button class="task" form="${escapeHtml(formId)}" name="line" value="${line}" role="checkbox" aria-checked="${String(checked !== undefined)}" aria-label="${labelOf(text)}"></button>`,
    ),
  );

type TaskOptions = {
  /** Address of the form; null if the viewer may not edit the text. */
  action: string | null;
  texts: Texts;
  /** Path of the page, if it is not the record's page. */
  returnTo?: string;
};

/** Renders a text. Where the viewer may edit it, each task is a button of a form that toggles it. */
export const textWithTasks = (
  visit: Visit,
  content: Html,
  { action, texts, returnTo }: TaskOptions,
): Html => {
  if (action === null || !content.text.includes('data-line=')) return html`<div data-text>${content}</div>`;
  const id = `tasks_${action.replaceAll('/', '_')}`;
  const fields = [
    hidden('authenticity_token', visit.csrfToken()),
    hidden('base', fingerprintTexts(texts)),
    returnTo !== undefined && hidden('return_to', returnTo),
  ];
  return html`<div data-text>${writeButtons(content, id)}<form method="post" action="${action}" id="${id}" hidden data-tasks>${fields}</form></div>`;
};
