import type { Html } from '../html.ts';
import { sideView } from './tabs_and_side_nav.ts';
import type { View } from '../../page.ts';

/** Pages of the user's account: path and name. */
export const accountLinks = [
  ['/profile', 'Profile'],
  ['/profile/account', 'Account'],
  ['/profile/emails', 'E-mail addresses'],
  ['/profile/preferences', 'Preferences'],
  ['/profile/notifications', 'Notifications'],
  ['/profile/password', 'Password'],
  ['/profile/two_factor', 'Two-factor sign-in'],
  ['/profile/passkeys', 'Passkeys'],
  ['/profile/sessions', 'Sessions'],
  ['/profile/personal_access_tokens', 'Access tokens'],
  ['/profile/keys', 'SSH keys'],
  ['/profile/gpg_keys', 'GPG keys'],
  ['/profile/applications', 'Applications'],
  ['/profile/identities', 'Linked accounts'],
] as const;

export type AccountPath = (typeof accountLinks)[number][0];

/** Renders a page of the user's account with links to the other pages. */
export const accountView = (here: AccountPath, title: string, content: Html): View => {
  const links = accountLinks.map(([path, name]) => ({ path, name, isHere: path === here }));
  return sideView({ label: 'Your account', links, title }, content);
};
