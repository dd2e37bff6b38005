/** Menus that open without scripts; the client script closes them on Escape and on a click elsewhere. */
import { type Html, html } from './html.ts';

type MenuOptions = {
  /** Content of the button. */
  summary: Html;
  /** Accessible name, where the content has no text. */
  label?: string;
  /** Opens to the right, for menus at the left of the page. */
  isLeft?: boolean;
  /** Open when the page loads, as after a search in it. */
  isOpen?: boolean;
  /** Further classes of the button, such as `button primary`. */
  classes?: string;
};

/** Renders a button that opens a list of links and forms. */
export const menu = (
  { summary, label, isLeft = false, isOpen = false, classes = '' }: MenuOptions,
  items: Html,
): Html =>
  html`<details class="menu${isLeft && ' left'}"${isOpen && html` open`}><summary class="${classes}"${
    label !== undefined && html` title="${label}"`
  }>${summary}${label !== undefined && html`<span class="visually-hidden">${label}</span>`}</summary><div class="items">${items}</div></details>`;
