import { accessPages } from './credentials.ts';
import { actionPages } from './button_handlers.ts';
import { formPages } from './create_and_edit.ts';
import { listPages } from './list.ts';
import { onePages } from './user_page.ts';
import { deletePages } from './delete_user.ts';

export const userPages = [
  ...listPages,
  ...formPages,
  ...onePages,
  ...actionPages,
  ...deletePages,
  ...accessPages,
];
