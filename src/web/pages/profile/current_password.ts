import { type FormProblems, input } from '../../form.ts';
import type { Html } from '../../html.ts';

/** Asks who sits there to prove once more who he is. @param id where a page has several forms that ask */
export const currentPassword = (problems: FormProblems, id?: string): Html =>
  input({
    name: 'current_password',
    label: 'Current password',
    type: 'password',
    autocomplete: 'current-password',
    required: true,
    problems,
    ...(id !== undefined && { id }),
  });
