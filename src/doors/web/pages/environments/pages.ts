import { formPages } from './form_handlers.ts';
import { listPages } from './list.ts';
import { onePages } from './environment_page.ts';

export const pages = [...listPages, ...onePages, ...formPages];
