/** Avatars of users, projects and groups: the uploaded picture, or initials on a color. */
import { makeLruCache } from '../../../platform/lru_cache.ts';
import { type Html, html } from './html.ts';

type Size = 'small' | 'medium' | 'large';

type AvatarOptions = {
  name: string;
  /** URL of the picture; null or undefined: initials. */
  avatar_url?: string | null;
  size?: Size;
  /** Squares are for projects and groups. */
  isSquare?: boolean;
};

const colors = 8;

/** Picks the same color for the same name. */
const colorOf = (name: string): number => {
  let sum = 0;
  for (const char of name) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 9973;
  return sum % colors;
};

const initialsOf = (name: string): string => {
  const words = name.split(/[\s._-]+/).filter((word) => word !== '');
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return letters
    .map((word) => [...(word ?? '')][0] ?? '')
    .join('')
    .toUpperCase();
};

/** The content security policy allows only images of the instance, so images of an avatar service are not requested. */
const isUploaded = (url: string): boolean => /^(?:https?:\/\/[^/]+)?\/(?:[^?#]+\/)?uploads\//.test(url);

/** Drawings in memory. A page shows the same few many times. */
const drawings = makeLruCache<Html>(2_000, () => 1);

/** Draws initials as an SVG: the content security policy allows no style attributes, and text in it scales with the avatar. */
const draw = (name: string, classes: string): Html => {
  // A line feed is in no class, so that a user named `square Ann` does not get the square of Ann.
  const key = `${classes}\n${name}`;
  const known = drawings.get(key);
  if (known !== undefined) return known;
  const drawn = html`<svg class="${classes} color-${colorOf(name)}" viewBox="0 0 20 20" aria-hidden="true"><text x="10" y="13.5" text-anchor="middle">${initialsOf(name)}</text></svg>`;
  drawings.set(key, drawn);
  return drawn;
};

/** Renders an avatar. Screen readers skip it, because the name is next to it. */
export const avatar = ({ name, avatar_url, size = 'small', isSquare = false }: AvatarOptions): Html => {
  const classes = `avatar ${size}${isSquare ? ' square' : ''}`;
  if (avatar_url !== null && avatar_url !== undefined && isUploaded(avatar_url)) {
    return html`<img class="${classes}" src="${avatar_url}" alt="" loading="lazy">`;
  }
  return draw(name, classes);
};
