import { type Html, html } from './html.ts';
import { type IconName, icon } from './icon.ts';

type EmptyStateOptions = {
  icon: IconName;
  title: string;
  text?: string;
  /** A link or form. */
  action?: Html | null | false;
};

/** Renders the message of an empty list. */
export const emptyState = ({ icon: image, title, text, action }: EmptyStateOptions): Html =>
  html`<div class="empty">${icon(image)}<h2>${title}</h2>${text !== undefined && html`<p>${text}</p>`}${action}</div>`;
