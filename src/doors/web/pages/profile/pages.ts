import { accountPages } from './account.ts';
import { notificationPages } from './notifications.ts';
import { passwordPages } from './password.ts';
import { preferencePages } from './preferences.ts';
import { profilePages } from './profile.ts';
import { sessionPages } from './sessions.ts';

export const pages = [
  ...profilePages,
  ...accountPages,
  ...preferencePages,
  ...notificationPages,
  ...passwordPages,
  ...sessionPages,
];
