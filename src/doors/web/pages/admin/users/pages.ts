import { actionPages } from './button_handlers.ts';
import { formPages } from './create_and_edit.ts';
import { listPages } from './list.ts';
import { onePages } from './user_page.ts';
import { deletePages } from './delete_user.ts';
import { emailPages } from './emails.ts';
import { identityPages } from './identities.ts';
import { membershipPages } from './memberships.ts';
import { keyPages } from './keys.ts';
import { sessionPages } from './sessions.ts';
import { tokenPages } from './tokens.ts';

export const userPages = [
  ...listPages,
  ...formPages,
  ...onePages,
  ...actionPages,
  ...deletePages,
  ...emailPages,
  ...identityPages,
  ...membershipPages,
  ...sessionPages,
  ...keyPages,
  ...tokenPages,
];
