/** Icons of the sprite `assets/icons.svg`. */
import { assets } from '../assets.ts';
import { type Html, html } from './html.ts';

export type IconName =
  | 'gantry'
  | 'search'
  | 'plus'
  | 'issue'
  | 'merge-request'
  | 'bell'
  | 'todo'
  | 'lock'
  | 'globe'
  | 'shield'
  | 'star'
  | 'fork'
  | 'code'
  | 'pipeline'
  | 'package'
  | 'book'
  | 'settings'
  | 'pencil'
  | 'tag'
  | 'spinner'
  | 'cross'
  | 'check'
  | 'play'
  | 'clock'
  | 'branch'
  | 'commit'
  | 'chevron-down'
  | 'chevron-up'
  | 'chevron-right'
  | 'chevron-left'
  | 'folder'
  | 'file'
  | 'submodule'
  | 'link'
  | 'comment'
  | 'check-circle'
  | 'cross-circle'
  | 'eye'
  | 'user'
  | 'users'
  | 'copy'
  | 'download'
  | 'upload'
  | 'trash'
  | 'warning'
  | 'info'
  | 'milestone'
  | 'label'
  | 'rocket'
  | 'feed'
  | 'sign-out'
  | 'key'
  | 'menu'
  | 'dots'
  | 'home'
  | 'gauge'
  | 'skip'
  | 'circle'
  | 'image'
  | 'archive'
  | 'group'
  | 'history'
  | 'quote'
  | 'reply'
  | 'bold'
  | 'italic'
  | 'list'
  | 'strike'
  | 'heading'
  | 'numbered-list'
  | 'table';

const draw = (name: IconName, label: string | undefined): Html =>
  html`<svg class="icon"${
    label === undefined ? html` aria-hidden="true"` : html` role="img" aria-label="${label}"`
  }><use href="${assets().icons}#${name}"/></svg>`;

/** Pages have hundreds of the same. Few labels are not constant. */
const drawn = new Map<string, Html>();
const maxDrawn = 500;

/** Renders an icon. It is hidden from screen readers: the text next to it, or `label`, has the same content. */
export const icon = (name: IconName, label?: string): Html => {
  const key = label === undefined ? name : `${name} ${label}`;
  const cached = drawn.get(key);
  if (cached !== undefined) return cached;
  const made = draw(name, label);
  if (drawn.size < maxDrawn) drawn.set(key, made);
  return made;
};
