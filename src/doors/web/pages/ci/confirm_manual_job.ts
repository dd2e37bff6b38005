/** A confirmation page between a button and its action, with the message from the job's configuration. */
import { optional, text } from '../../../../platform/http/schema.ts';
import { form, hidden } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';

/** Sent by the confirmation. */
export const confirmedParam = { confirmed: optional(text()) };

type PageQuery = {
  /** Message of the configuration. */
  words: string;
  /** Action of the form, and the label of its button. */
  action: string;
  submit: string;
  /** Path of the previous page. */
  back: string;
  /** Fields of the previous form. */
  fields?: readonly Html[];
};

export const confirmPart = (visit: Visit, { words, action, submit, back, fields = [] }: PageQuery): Html =>
  html`<p class="lines">${words}</p>
${form(visit, { action, submit }, hidden('confirmed', '1'), ...fields)}
<p><a href="${back}">Back</a></p>`;
