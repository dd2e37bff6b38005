import { input } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import type { Html } from '../../parts/html.ts';

/** Renders the field for the current password. @param id for pages with several such forms */
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
