import { formPages } from './form_handlers.ts';
import { listPages } from './list.ts';
import { onePages } from './schedule_page.ts';

export const pages = [...listPages, ...onePages, ...formPages];
