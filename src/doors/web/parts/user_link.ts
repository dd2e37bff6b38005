import { avatar } from './avatar.ts';
import { type Html, html } from './html.ts';

type Person = { username: string; name: string; avatar_url?: string | null };

/** Renders a user: avatar and name, linked to the profile. */
export const userLink = (
  { username, name, avatar_url = null }: Person,
  { size = 'small' }: { size?: 'small' | 'medium' } = {},
): Html =>
  html`<a class="person" href="/${username}">${avatar({ name, avatar_url, size })} <span>${name}</span></a>`;
