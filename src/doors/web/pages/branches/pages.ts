import { formPages } from './form_handlers.ts';
import { listPage } from './list.ts';

export const pages = [listPage, ...formPages];
