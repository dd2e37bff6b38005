/** Buttons to move between unresolved threads, for users without a keyboard. Scripts handle them. */
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';

export const threadSteps: Html = html`<span class="thread-steps needs-script" role="group" aria-label="Unresolved threads"><button type="button" class="icon-button" data-step-thread="-1" aria-label="Previous unresolved thread" title="Previous unresolved thread (p)">${icon('chevron-left')}</button>${icon('comment')}<button type="button" class="icon-button" data-step-thread="1" aria-label="Next unresolved thread" title="Next unresolved thread (n)">${icon('chevron-right')}</button></span>`;
