import { accessPages } from './access.ts';
import { actionPages } from './actions.ts';
import { formPages } from './form.ts';
import { listPages } from './list.ts';
import { onePages } from './one.ts';
import { removePages } from './remove.ts';

export const userPages = [
  ...listPages,
  ...formPages,
  ...onePages,
  ...actionPages,
  ...removePages,
  ...accessPages,
];
