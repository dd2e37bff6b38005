/** A page between a button and what it starts: the job's file has words of its own for who is about to do it. */
import { optional, text } from '../../../http/schema.ts';
import { form, hidden } from '../../form.ts';
import { type Html, html } from '../../html.ts';
import type { Visit } from '../../page.ts';

/** Sent once he has read them. */
export const confirmedParam = { confirmed: optional(text()) };

type Asked = {
  /** As the file has it. */
  words: string;
  /** Where the button led, and how the one that confirms it is labelled. */
  action: string;
  submit: string;
  /** Of the page before. */
  back: string;
  /** What the form had. */
  fields?: readonly Html[];
};

export const confirmPart = (visit: Visit, { words, action, submit, back, fields = [] }: Asked): Html =>
  html`<p class="lines">${words}</p>
${form(visit, { action, submit }, hidden('confirmed', '1'), ...fields)}
<p><a href="${back}">Back, without doing that</a></p>`;
